/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* main.c - vs-lab: guided labs on the lifecycle of RDMA. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "vslab.h"

bool vl_korean;

static const char help_en[] =
	"usage: vs-lab [--lang en|ko] COMMAND [NN]\n"
	"\n"
	"Guided labs on the lifecycle of RDMA, on any Linux machine: no RDMA hardware, no kernel module, no root.\n"
	"\n"
	"  list          the labs, and how far you are\n"
	"  start NN      begin a lab: its folder, README.md, lab.c, predict.txt\n"
	"  check NN      run your program and say what holds\n"
	"  hint NN       one more hint each time (5 in all)\n"
	"  show NN       the ladder and the packets of your newest run, your predictions beside what happened\n"
	"  reset NN      begin again; your work is kept beside\n"
	"  doctor        what is missing on this machine, and what to do\n"
	"\n"
	"  --lang en|ko  the language (default: that of the locale)\n"
	"  --seed N      your seed, from which keys, numbers and answers derive (default: drawn once)\n"
	"  --to N        show: the ladder up to the N-th event\n"
	"  --wire W      show: sim (default), or udp: the program on real sockets of this machine\n"
	"  --help, --version\n"
	"\n"
	"Your work is in ~/verbscope-labs, or where VS_LAB_DIR says.\n"
	"Exit codes: 0 it holds, 1 it does not yet, 2 usage or environment.\n";

static const char help_ko[] =
	"사용법: vs-lab [--lang en|ko] 명령 [NN]\n"
	"\n"
	"RDMA의 생애주기를 따라가는 실습입니다. 리눅스 머신이면 됩니다. RDMA 장비도, 커널 모듈도, root 권한도 필요 "
	"없습니다.\n"
	"\n"
	"  list          실습 목록과 진행 상황\n"
	"  start NN      실습을 시작합니다: 작업 폴더, README.md, lab.c, predict.txt\n"
	"  check NN      작성한 프로그램을 실행하고 무엇이 맞는지 알려 줍니다\n"
	"  hint NN       부를 때마다 힌트를 하나씩 더 보여 줍니다 (모두 5개)\n"
	"  show NN       최근 실행의 래더와 패킷, 그리고 예측과 실제 결과를 나란히 보여 줍니다\n"
	"  reset NN      처음부터 다시 합니다. 하던 작업은 옆에 보관합니다\n"
	"  doctor        이 머신에 무엇이 없는지, 어떻게 하면 되는지 알려 줍니다\n"
	"\n"
	"  --lang en|ko  언어 (기본값: 로캘의 언어)\n"
	"  --seed N      시드. 키와 번호와 정답이 여기서 나옵니다 (기본값: 처음에 한 번 뽑습니다)\n"
	"  --to N        show: N번째 이벤트까지만 래더를 그립니다\n"
	"  --wire W      show: sim(기본값) 또는 udp. udp이면 이 머신의 진짜 소켓에서 프로그램을 실행합니다\n"
	"  --help, --version\n"
	"\n"
	"작업은 ~/verbscope-labs 에 저장됩니다. VS_LAB_DIR로 바꿀 수 있습니다.\n"
	"종료 코드: 0 통과, 1 아직 아님, 2 사용법이나 환경 문제.\n";

static bool locale_is_korean(void)
{
	static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};

	for (unsigned i = 0; i < 3; i++) {
		const char *v = getenv(names[i]);

		if (v != NULL && v[0] != '\0')
			return strncmp(v, "ko", 2) == 0;
	}
	return false;
}

/* On a terminal: a Korean syllable is three bytes and takes two columns. */
static int columns(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) == 0x80 ? 0 : (unsigned char)*text < 0x80 ? 1 : 2;
	return n;
}

static const char *track(const char *tracks)
{
	return strcmp(tracks, "both") == 0 ? T("both", "공통") : strcmp(tracks, "app") == 0 ? T("app", "앱") : tracks;
}

int vl_list(struct vl_session *s)
{
	const char *next = NULL;
	unsigned done = 0;

	for (unsigned i = 0; i < s->n; i++) {
		const struct vl_lab *l = &s->lab[i];
		const struct vl_entry *e = vl_entry(&s->progress, l->id);
		const char *state = e->passed ? T("done", "완료") : e->started ? T("begun", "진행") : T("-", "-");
		const char *whom = track(l->tracks);

		done += e->passed;
		if (next == NULL && !e->passed)
			next = l->id;
		printf("  %s  %s%*s %3u %s  %s%*s  %s\n", l->id, state, 6 - columns(state), "", l->minutes,
		       T("min", "분"), whom, 4 - columns(whom), "", l->title[vl_korean]);
	}
	printf(T("%u of %u done.", "완료 %u / 전체 %u."), done, s->n);
	if (next != NULL)
		printf(T(" Next: vs-lab start %s", " 다음: vs-lab start %s"), next);
	putchar('\n');
	return VL_OK;
}

static const struct vl_lab *find(const struct vl_session *s, const char *id)
{
	unsigned long n;
	char *end;

	n = strtoul(id, &end, 10);
	for (unsigned i = 0; i < s->n; i++)
		if ((*end == '\0' && end != id && strtoul(s->lab[i].id, NULL, 10) == n) ||
		    strcmp(s->lab[i].name, id) == 0)
			return &s->lab[i];
	vl_complain(
		T("there is no lab %s: vs-lab list names them", "실습 %s은(는) 없습니다: vs-lab list로 목록을 보세요"),
		id);
	return NULL;
}

struct options {
	uint32_t seed;
	size_t to;
	bool udp; /* the wire: real sockets */
};

static int run_command(struct vl_session *s, const char *command, const char *id, const struct options *o)
{
	static const struct {
		const char *name;
		int (*run)(struct vl_session *s, const struct vl_lab *lab);
	} rows[] = {{"start", vl_start}, {"check", vl_check}, {"hint", vl_hint}, {"reset", vl_reset}};
	const struct vl_lab *lab;

	if (strcmp(command, "list") == 0 && id == NULL)
		return vl_list(s);
	if (strcmp(command, "doctor") == 0 && id == NULL)
		return vl_doctor(s);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]) + 1; i++) {
		bool show = i == sizeof(rows) / sizeof(rows[0]);

		if (strcmp(command, show ? "show" : rows[i].name) != 0)
			continue;
		if (id == NULL) {
			vl_complain(
				T("%s: which lab? For instance: vs-lab %s 00", "%s: 어느 실습입니까? 예: vs-lab %s 00"),
				command, command);
			return VL_USAGE;
		}
		lab = find(s, id);
		if (lab == NULL)
			return VL_USAGE;
		return !show ? rows[i].run(s, lab) : o->udp ? vl_show_udp(s, lab) : vl_show(s, lab, o->to);
	}
	vl_complain(T("there is no command %s: see vs-lab --help", "%s 명령은 없습니다: vs-lab --help를 보세요"),
		    command);
	return VL_USAGE;
}

static bool number(const char *name, const char *text, uint64_t most, uint64_t *v)
{
	if (vs_cli_number(text, 1, most, v))
		return true;
	vl_complain(T("--%s %s: a number from 1 to %llu", "--%s %s: 1부터 %llu까지의 수를 쓰세요"), name, text,
		    (unsigned long long)most);
	return false;
}

/* -1: go on */
static int options(struct options *o, int argc, char **argv)
{
	static const struct option list[] = {{"lang", required_argument, NULL, 'l'},
					     {"seed", required_argument, NULL, 's'},
					     {"to", required_argument, NULL, 't'},
					     {"wire", required_argument, NULL, 'w'},
					     {"help", no_argument, NULL, 'h'},
					     {"version", no_argument, NULL, 'v'},
					     {NULL, 0, NULL, 0}};
	uint64_t v;
	int c;

	while ((c = getopt_long(argc, argv, "h", list, NULL)) != -1) {
		switch (c) {
		case 'l':
			if (strcmp(optarg, "ko") != 0 && strcmp(optarg, "en") != 0) {
				vl_complain("--lang %s: en, ko", optarg);
				return VL_USAGE;
			}
			vl_korean = strcmp(optarg, "ko") == 0;
			break;
		case 's':
			if (!number("seed", optarg, UINT32_MAX, &v))
				return VL_USAGE;
			o->seed = (uint32_t)v;
			break;
		case 't':
			if (!number("to", optarg, UINT32_MAX, &v))
				return VL_USAGE;
			o->to = (size_t)v;
			break;
		case 'w':
			if (strcmp(optarg, "sim") != 0 && strcmp(optarg, "udp") != 0) {
				vl_complain("--wire %s: sim, udp", optarg);
				return VL_USAGE;
			}
			o->udp = strcmp(optarg, "udp") == 0;
			break;
		case 'h':
			fputs(T(help_en, help_ko), stdout);
			return VL_OK;
		case 'v':
			puts("vs-lab (Verbscope) " VS_VERSION);
			return VL_OK;
		default:
			fputs(T("see vs-lab --help\n", "vs-lab --help를 보세요\n"), stderr);
			return VL_USAGE;
		}
	}
	return -1;
}

int main(int argc, char **argv)
{
	static struct vl_session s;
	struct options o = {.seed = 0};
	const char *dir;
	int rc, n;

	vl_korean = locale_is_korean();
	rc = options(&o, argc, argv);
	if (rc >= 0)
		return rc;
	if (optind == argc || argc - optind > 2) {
		fputs(T(help_en, help_ko), stderr);
		return VL_USAGE;
	}
	dir = vl_labs_dir();
	if (dir == NULL) {
		vl_complain(T("the labs are not beside this program: install again",
			      "이 프로그램 옆에 실습이 없습니다: 다시 설치하세요"));
		return VL_USAGE;
	}
	n = vl_catalog(dir, s.lab);
	if (n < 0 || !vl_progress_read(&s.progress, o.seed))
		return VL_USAGE;
	s.n = (unsigned)n;
	rc = run_command(&s, argv[optind], optind + 1 < argc ? argv[optind + 1] : NULL, &o);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		vl_complain(T("standard output can't be written", "표준 출력에 쓸 수 없습니다"));
		rc = VL_USAGE;
	}
	return rc;
}
