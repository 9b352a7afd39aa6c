/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* doctor.c - what is missing on this machine, and what to do. Every finding is tried, not guessed. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vslab.h"

static const char tiny[] = "#include <infiniband/verbs.h>\n"
			   "int main(void)\n{\n\tint n = 0;\n\n\tibv_free_device_list(ibv_get_device_list(&n));\n"
			   "\treturn n == 2 ? 0 : 1;\n}\n";

static unsigned bad;

static void say(bool good, const char *what, const char *advice)
{
	printf("  %-4s %s\n", good ? "ok" : T("!!", "!!"), what);
	if (!good)
		printf("       %s\n", advice);
	bad += !good;
}

/* A program of ours compiles, and sees the two devices. */
static void try_program(const char *dir)
{
	struct vl_lab lab = {.kind = "program", .dir = "/"};
	char source[PATH_MAX], binary[PATH_MAX], vs_run[PATH_MAX];
	char *argv[] = {vs_run, "--sim", "--quiet", "--", binary, NULL};
	bool compiled, ran;

	(void)snprintf(source, sizeof(source), "%.*s/tiny.c", PATH_MAX - 16, dir);
	(void)snprintf(binary, sizeof(binary), "%.*s/tiny", PATH_MAX - 16, dir);
	compiled = vl_write(source, tiny, strlen(tiny)) && vl_compile(&lab, source, binary, NULL, true);
	say(compiled, T("a C compiler and the headers of libibverbs", "C 컴파일러와 libibverbs 헤더"),
	    T("apt-get install gcc libc6-dev libibverbs-dev", "apt-get install gcc libc6-dev libibverbs-dev"));
	say(vl_beside("vs-run", vs_run), "vs-run",
	    T("run make, or install again", "make를 실행하거나 다시 설치하세요"));
	ran = compiled && vl_run(argv, "/dev/null") == 0;
	say(ran,
	    T("a program on the simulated wire sees two devices", "시뮬레이션 와이어의 프로그램이 장치 두 개를 봅니다"),
	    T("vs-run --sim ibv_devinfo says more", "vs-run --sim ibv_devinfo로 자세히 보세요"));
	(void)remove(source);
	(void)remove(binary);
}

int vl_doctor(struct vl_session *s)
{
	char dir[VS_PROGRAM_PATH], path[PATH_MAX], *version[] = {path, "-v", NULL};
	bool room = vl_make_dirs(s->progress.home) && access(s->progress.home, W_OK) == 0;

	bad = 0;
	say(room, s->progress.home,
	    T("VS_LAB_DIR names another folder for your work", "VS_LAB_DIR로 다른 작업 폴더를 지정하세요"));
	if (vs_program_folder("vs-lab", dir)) {
		try_program(dir);
		(void)rmdir(dir);
	} else {
		say(false, dir,
		    T("no folder can be made there; TMPDIR names another place",
		      "폴더를 만들 수 없습니다. TMPDIR로 다른 곳을 지정하세요"));
	}
	say(vl_beside("vs-tshark", path) && vl_run(version, "/dev/null") == 0,
	    T("vs-tshark shows packets", "vs-tshark로 패킷을 볼 수 있습니다"),
	    T("apt-get install tshark (the labs work without it; captures are not shown then)",
	      "apt-get install tshark (없어도 실습은 되지만 패킷을 볼 수 없습니다)"));
	(void)setlocale(LC_ALL, "");
	say(strcmp(nl_langinfo(CODESET), "UTF-8") == 0 || !vl_korean,
	    T("the terminal takes UTF-8", "터미널이 UTF-8을 씁니다"),
	    T("export LANG=C.UTF-8", "export LANG=ko_KR.UTF-8 (또는 C.UTF-8)"));
	puts(bad == 0 ? T("Everything is there: vs-lab start 00", "모두 갖추어졌습니다: vs-lab start 00")
		      : T("Something is missing.", "없는 것이 있습니다."));
	return bad == 0 ? VL_OK : VL_OPEN;
}
