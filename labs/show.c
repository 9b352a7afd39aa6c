/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* show.c - the newest run, seen: the ladder, the packets, predictions beside observations. */
#include <stdlib.h>
#include <string.h>

#include "vs/ladder.h"
#include "vslab.h"

/* What is drawn: what a program does and what it sees, not the bookkeeping of the record. */
static size_t pick(const struct vs_event *ev, size_t n, struct vs_event *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		switch (ev[i].type) {
		case VS_EV_DEV_COUNTER:
		case VS_EV_MEM_BYTES:
		case VS_EV_QP_ATTR:
			break;
		default:
			out[kept++] = ev[i];
		}
	return kept;
}

static bool same_answer(const struct vl_truth *t, const char *answer)
{
	char a[VL_TEXT], b[VL_TEXT];

	vl_normalize(answer, a);
	vl_normalize(t->value, b);
	if (strcmp(a, b) == 0)
		return true;
	vl_rounded(t->value, 0, b);
	for (int step = -1; t->rounded && step <= 1; step++) {
		vl_rounded(answer, step, a);
		if (strcmp(a, b) == 0)
			return true;
	}
	return false;
}

/* Only once a run is there; answers that have to be right are not told. */
void vl_observations(struct vl_session *s, const struct vl_lab *lab)
{
	struct vl_question q[VL_QUESTIONS];
	struct vl_truth t[VL_QUESTIONS];
	struct vl_traces traces = {.trace = ""};
	struct vs_record *record = NULL;
	char path[PATH_MAX], why[256], *output;

	vl_traces(s, lab, NULL, &traces);
	vl_work(s, lab, "predict.txt", path);
	if (vl_predictions(path, q) < 0)
		return;
	if (vl_has_record(lab))
		record = vs_record_read(traces.trace, traces.capture, why, sizeof(why));
	output = vl_read(traces.output, NULL);
	if ((record != NULL || (!vl_has_record(lab) && output != NULL)) &&
	    vl_truths(lab, s->progress.seed, record, output, t) > 0) {
		printf(T("  question   you said                happened\n",
			 "  질문       예측                    실제\n"));
		for (unsigned i = 1; i < VL_QUESTIONS; i++) {
			bool hidden = t[i].must && !vl_entry(&s->progress, lab->id)->passed;

			if (t[i].question == 0 || q[i].number == 0)
				continue;
			printf("  %5u      %-22.22s  %s%s\n", i, q[i].answer,
			       hidden ? T("(yours to find)", "(직접 찾아보세요)") : t[i].value,
			       !hidden && !same_answer(&t[i], q[i].answer) ? T("   <- surprised?", "   <- 뜻밖인가요?")
									   : "");
		}
	}
	free(output);
	vs_record_free(record);
}

static void packets(const char *capture)
{
	char vs_tshark[PATH_MAX], *argv[] = {vs_tshark, "-r", (char *)(uintptr_t)capture, NULL};

	printf(T("\nThe packets (%s; vs-wireshark opens it, too):\n",
		 "\n패킷 (%s; vs-wireshark로도 열 수 있습니다):\n"),
	       capture);
	if (!vl_beside("vs-tshark", vs_tshark) || vl_run(argv, NULL) != 0)
		puts(T("  vs-tshark can't show them: vs-lab doctor says why",
		       "  vs-tshark로 볼 수 없습니다: vs-lab doctor가 이유를 알려 줍니다"));
}

/* `to`: the packets of that capture. 0: which there are. */
static int show_captures(struct vl_session *s, const struct vl_lab *lab, size_t to)
{
	char name[32], path[PATH_MAX];

	for (size_t i = to > 0 ? to : 1;; i++) {
		(void)snprintf(name, sizeof(name), "capture-%zu.pcap", i);
		vl_work(s, lab, name, path);
		if (!vl_exists(path))
			break;
		if (to > 0) {
			packets(path);
			return VL_OK;
		}
		printf("  %s    vs-lab show %s --to %zu\n", name, lab->id, i);
	}
	if (to > 0) {
		vl_complain(T("%s is not there", "%s 파일이 없습니다"), path);
		return VL_USAGE;
	}
	putchar('\n');
	vl_observations(s, lab);
	return VL_OK;
}

/* The newest program once more, on the sockets of this machine: no simulated wire, and time that passes by itself. */
int vl_show_udp(struct vl_session *s, const struct vl_lab *lab)
{
	char vs_run[PATH_MAX], binary[PATH_MAX], capture[PATH_MAX], seed[16], args[VL_TEXT], *filled;
	char *argv[40] = {vs_run, "--seed", seed, "--capture", capture, "--"};
	struct vl_traces t = {.trace = ""};
	int rc;

	vl_work(s, lab, lab->observed ? "observe.bin" : "lab.bin", binary);
	if ((strcmp(lab->kind, "unit") == 0 && !lab->observed) || !vl_exists(binary) || !vl_beside("vs-run", vs_run)) {
		vl_complain(T("lab %s has no program to show yet: vs-lab check %s makes one",
			      "실습 %s은(는) 보여 줄 프로그램이 없습니다: vs-lab check %s"),
			    lab->id, lab->id);
		return VL_USAGE;
	}
	vl_work(s, lab, "", capture);
	(void)snprintf(t.capture, sizeof(t.capture), "%.*s/lab-%s-udp.pcap", PATH_MAX - 32, capture, lab->id);
	(void)snprintf(capture, sizeof(capture), "%s", t.capture);
	filled = vl_fill(lab, s->progress.seed, lab->run);
	(void)snprintf(args, sizeof(args), "%s", filled != NULL ? filled : "");
	free(filled);
	vl_arguments(args, binary, s->progress.seed, seed, argv + 6);
	puts(T("The same program on real UDP sockets. One device is both sides: it sees each packet twice.\n",
	       "같은 프로그램을 진짜 UDP 소켓에서 실행합니다. 장치 하나가 양쪽이므로 패킷마다 두 번 보입니다.\n"));
	rc = vl_run(argv, NULL);
	if (rc == 125) /* it has said why */
		return VL_USAGE;
	packets(t.capture);
	return VL_OK;
}

int vl_show(struct vl_session *s, const struct vl_lab *lab, size_t to)
{
	struct vl_traces t = {.trace = ""};
	struct vs_record *record;
	const struct vs_event *ev;
	struct vs_event *drawn;
	char why[256];
	size_t n;

	vl_traces(s, lab, NULL, &t);
	if (vl_is(lab, "forensics"))
		return show_captures(s, lab, to);
	if (!vl_has_record(lab)) {
		if (vl_exists(t.capture)) { /* that of a check with a network of its own */
			packets(t.capture);
			putchar('\n');
		}
		vl_observations(s, lab);
		return VL_OK;
	}
	record = vs_record_read(t.trace, t.capture, why, sizeof(why));
	if (record == NULL) {
		vl_complain(T("lab %s has no run to show yet: vs-lab check %s makes one",
			      "실습 %s은(는) 보여 줄 실행이 없습니다: vs-lab check %s"),
			    lab->id, lab->id);
		return VL_USAGE;
	}
	ev = vs_record_events(record, &n);
	drawn = calloc(n + 1, sizeof(drawn[0]));
	if (drawn != NULL)
		vs_ladder_text(drawn, pick(ev, to > 0 && to < n ? to : n, drawn),
			       &(struct vs_ladder_options){.other = "ref1"}, stdout);
	free(drawn);
	vs_record_free(record);
	if (to == 0) {
		packets(t.capture);
		putchar('\n');
		vl_observations(s, lab);
	}
	return VL_OK;
}
