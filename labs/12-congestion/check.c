/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * check.c - lab 12: two senders and one bottleneck, first without reaction, then with the learner's; and the three
 * functions by themselves, against an oracle. `lab.bin SEED plot` writes queue.svg and rate.svg.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcqcn.h"
#include "net.h"

#define QUEUE_OK_KB 900
#define SAMPLES 400u

static bool korean;
#define T(english, ko) (korean ? (ko) : (english))

static uint32_t seed;
static char capture[4096];

/* ---- the network ---- */

static struct receiver receiver[2];
static struct sender sender[2];

static bool marked(void *ctx, unsigned flow, uint64_t now_ns)
{
	(void)ctx;
	return on_marked(&receiver[flow], now_ns);
}

static double rate(void *ctx, unsigned flow, bool timer, uint64_t now_ns, uint64_t *again_ns)
{
	(void)ctx;
	if (timer)
		on_timer(&sender[flow]);
	else
		on_cnp(&sender[flow]);
	*again_ns = now_ns + TIMER_NS;
	return sender[flow].rate;
}

static void run(bool reacting, double end_us, struct net_sample *sample, struct net_result *r)
{
	static const struct net_cc cc = {.marked = marked, .rate = rate};
	struct net_config c = {.seed = seed,
			       .senders = 2,
			       .gbps = LINE_RATE,
			       .latency_us = 1 + seed % 3,
			       .mtu = 4096,
			       .queue_kb = 1024 + seed % 512,
			       .ecn_kb = 100,
			       .ecn_full_kb = 400,
			       .ecn_percent = 20,
			       .timeout = 8,
			       .start_us = {0, 300 + seed % 100},
			       .from_us = sample != NULL ? 0 : 1500,
			       .end_us = end_us,
			       .sample = sample,
			       .samples = SAMPLES,
			       .sample_us = end_us / (SAMPLES - 1)};

	memset(receiver, 0, sizeof(receiver));
	for (unsigned i = 0; i < 2; i++)
		sender[i] = (struct sender){.rate = LINE_RATE, .target = LINE_RATE, .alpha = 1};
	if (reacting)
		c.cc = &cc;
	if (reacting && sample == NULL) {
		c.capture = capture;
		c.capture_packets = 200;
	}
	if (net_run(&c, r) != 0)
		exit(1);
}

static void tell(const char *when, const struct net_result *r)
{
	printf(T("  %s  queue up to %.0f KiB, %llu dropped, %.1f + %.1f Gb/s\n",
		 "  %s  큐 최대 %.0f KiB, 드롭 %llu개, %.1f + %.1f Gb/s\n"),
	       when, r->queue_kb, (unsigned long long)r->drops, r->flow[0].gbps, r->flow[1].gbps);
}

static bool network_holds(const struct net_result *r)
{
	double fair = r->gbps / 2;

	if (r->drops > 0)
		printf(T("  claim     the switch drops nothing\n  instead   it dropped %llu packets; %llu CNPs had "
			 "come\n",
			 "  기대      스위치는 아무것도 드롭하지 않는다\n  실제      %llu개를 드롭했고, 온 CNP는 "
			 "%llu개다\n"),
		       (unsigned long long)r->drops, (unsigned long long)(r->flow[0].cnps + r->flow[1].cnps));
	else if (r->queue_kb > QUEUE_OK_KB)
		printf(T("  claim     the queue stays below %u KiB\n  instead   it reached %.0f KiB\n",
			 "  기대      큐는 %u KiB보다 짧다\n  실제      %.0f KiB까지 찼다\n"),
		       QUEUE_OK_KB, r->queue_kb);
	else if (r->gbps < 0.85 * LINE_RATE)
		printf(T("  claim     the line is used: at least %.0f Gb/s in all\n  instead   %.1f Gb/s\n",
			 "  기대      회선을 쓴다: 합쳐서 %.0f Gb/s 이상\n  실제      %.1f Gb/s\n"),
		       0.85 * LINE_RATE, r->gbps);
	else if (fabs(r->flow[0].gbps - fair) > 0.2 * fair)
		printf(T("  claim     both flows are within 20 %% of the fair share, %.1f Gb/s\n"
			 "  instead   %.1f and %.1f Gb/s\n",
			 "  기대      두 흐름 모두 공정한 몫 %.1f Gb/s에서 20 %% 안에 있다\n"
			 "  실제      %.1f Gb/s와 %.1f Gb/s\n"),
		       fair, r->flow[0].gbps, r->flow[1].gbps);
	else
		return true;
	return false;
}

static bool gaps_hold(const struct net_result *r)
{
	for (unsigned i = 0; i < 2; i++) {
		/* On the wire the second of two can have waited less than the first. */
		if (r->flow[i].cnp_gap_ns == 0 || r->flow[i].cnp_gap_ns + 1000 >= CNP_GAP_NS)
			continue;
		printf(T("  claim     CNPs to one flow are at least %u ns apart\n"
			 "  instead   two came to sender %u within %llu ns\n",
			 "  기대      한 흐름으로 가는 CNP 사이는 적어도 %u ns다\n"
			 "  실제      송신자 %u에게 두 개가 %llu ns 간격으로 왔다\n"),
		       CNP_GAP_NS, i, (unsigned long long)r->flow[i].cnp_gap_ns);
		return false;
	}
	return true;
}

/* ---- the functions by themselves ---- */

static uint64_t state;

static uint32_t draw(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(state >> 33) % n;
}

static bool receiver_holds(void)
{
	for (unsigned s = 0; s < 100; s++) {
		struct receiver r = {.has_sent = false};
		uint64_t now = draw(100000), last = 0;
		bool any = false;

		for (unsigned i = 0; i < 50; i++) {
			bool want = !any || now - last >= CNP_GAP_NS, got = on_marked(&r, now);

			if (got != want) {
				printf(T("  first step that is wrong   on_marked at %llu ns: %s, and the last CNP %s "
					 "%llu ns ago\n",
					 "  처음 어긋난 단계   %llu ns의 on_marked: %s. 마지막 CNP: %s %llu ns 전\n"),
				       (unsigned long long)now,
				       got ? T("a CNP", "CNP를 보냄") : T("no CNP", "보내지 않음"),
				       any ? T("was", "있음,")
					   : T("was never sent; the first mark came", "없음. 첫 마크는"),
				       any ? (unsigned long long)(now - last) : 0);
				return false;
			}
			if (want)
				last = now;
			any = true;
			now += draw(3) == 0 ? CNP_GAP_NS - 2 + draw(4) : draw(30000);
		}
	}
	return true;
}

static void oracle(struct sender *s, bool cnp)
{
	if (cnp) {
		s->target = s->rate;
		s->rate = fmax(LEAST_RATE, s->rate * (1 - s->alpha / 2));
		s->alpha = s->alpha * (1 - G) + G;
		s->rounds = 0;
		return;
	}
	s->alpha *= 1 - G;
	if (++s->rounds > FAST_ROUNDS)
		s->target = fmin(LINE_RATE, s->target + STEP);
	s->rate = (s->rate + s->target) / 2;
}

static bool same(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

static bool sender_holds(void)
{
	for (unsigned n = 0; n < 100; n++) {
		struct sender is = {.rate = LINE_RATE, .target = LINE_RATE, .alpha = 1}, want = is, before;

		for (unsigned i = 0; i < 60; i++) {
			bool cnp = i == 0 || draw(n % 2 == 0 ? 12 : 2) == 0;

			before = want;
			oracle(&want, cnp);
			if (cnp)
				on_cnp(&is);
			else
				on_timer(&is);
			if (same(is.rate, want.rate) && same(is.target, want.target) && same(is.alpha, want.alpha) &&
			    is.rounds == want.rounds)
				continue;
			printf(T("  first step that is wrong   %s\n", "  처음 어긋난 단계   %s\n"),
			       cnp ? "on_cnp" : "on_timer");
			printf("    %-10s rate %8.4f  target %8.4f  alpha %.4f  rounds %u\n", T("before", "이전"),
			       before.rate, before.target, before.alpha, before.rounds);
			printf("    %-10s rate %8.4f  target %8.4f  alpha %.4f  rounds %u\n", T("claim", "기대"),
			       want.rate, want.target, want.alpha, want.rounds);
			printf("    %-10s rate %8.4f  target %8.4f  alpha %.4f  rounds %u\n", T("instead", "실제"),
			       is.rate, is.target, is.alpha, is.rounds);
			return false;
		}
	}
	return true;
}

/* ---- what the questions are about ---- */

static void numbers(const struct net_result *deaf, const struct net_result *r)
{
	struct sender s = {.rate = LINE_RATE, .target = LINE_RATE, .alpha = 1};

	printf("told: %s\n", r->flow[0].marked_ns < r->flow[0].cnp_ns ? "b" : "a");
	printf("opcode: 0x%x\n", r->flow[0].cnp_opcode);
	printf("ports: %d\n", r->flow[0].sport == r->flow[1].sport ? 1 : 2);
	printf("share: %s\n", fmin(deaf->flow[0].gbps, deaf->flow[1].gbps) > deaf->gbps / 4 ? "a" : "b");
	printf("gap: %.1f\n",
	       (double)(r->flow[0].cnp_gap_ns < r->flow[1].cnp_gap_ns ? r->flow[0].cnp_gap_ns : r->flow[1].cnp_gap_ns) /
		       1000);
	on_cnp(&s);
	printf("after: %g\n", s.rate);
	for (unsigned i = 0; i < 2 + seed % 3; i++)
		on_timer(&s);
	printf("recovered: %g\n", s.rate);
}

static void plots(void)
{
	static struct net_sample deaf[SAMPLES], with[SAMPLES];
	static double x[SAMPLES], y[4][SAMPLES];
	struct net_result a, b;
	struct plot p = {.title = T("The queue of the switch", "스위치의 큐"),
			 .x_name = T("time (us)", "시간 (us)"),
			 .y_name = "KiB",
			 .x_max = 3000,
			 .y_max = 1600,
			 .lines = 2};

	run(false, 3000, deaf, &a);
	run(true, 3000, with, &b);
	for (unsigned i = 0; i < SAMPLES; i++) {
		x[i] = with[i].us;
		y[0][i] = deaf[i].queue_kb;
		y[1][i] = with[i].queue_kb;
		y[2][i] = with[i].gbps[0];
		y[3][i] = with[i].gbps[1];
	}
	p.line[0] = (struct plot_line){T("nobody reacts", "아무도 반응하지 않을 때"), x, y[0], SAMPLES, false};
	p.line[1] = (struct plot_line){T("with your reaction", "여러분의 반응"), x, y[1], SAMPLES, false};
	if (plot_write(&p, "queue.svg") != 0)
		exit(1);
	p.title = T("How fast each sender may send", "송신자마다 허용된 속도");
	p.y_name = "Gb/s";
	p.y_max = 120;
	p.line[0] = (struct plot_line){T("sender 0", "송신자 0"), x, y[2], SAMPLES, false};
	p.line[1] = (struct plot_line){T("sender 1", "송신자 1"), x, y[3], SAMPLES, false};
	if (plot_write(&p, "rate.svg") != 0)
		exit(1);
	printf("queue.svg, rate.svg\n");
}

int main(int argc, char **argv)
{
	const char *lang = getenv("VS_LAB_LANG"), *slash = strrchr(argv[0], '/');
	struct net_result deaf, r;
	bool holds;

	korean = lang != NULL && strcmp(lang, "ko") == 0;
	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	state = seed;
	(void)snprintf(capture, sizeof(capture), "%.*slab-12.pcap", slash != NULL ? (int)(slash - argv[0]) + 1 : 0,
		       argv[0]);
	if (argc > 2) {
		plots();
		return 0;
	}
	run(false, 2000, NULL, &deaf);
	tell(T("without reaction", "반응이 없을 때"), &deaf);
	run(true, 14000, NULL, &r); /* over so many rounds that chance leaves 20 % of the share alone */
	tell(T("with yours      ", "여러분의 반응 "), &r);
	holds = gaps_hold(&r) && network_holds(&r);
	holds = receiver_holds() && sender_holds() && holds;
	if (!holds)
		return 1;
	printf(T("  ok  queue bounded, nothing lost, both flows fair, CNPs at least %u us apart\n",
		 "  ok  큐는 짧고, 손실이 없고, 두 흐름이 공정하고, CNP 사이는 %u us 이상\n"),
	       CNP_GAP_NS / 1000);
	numbers(&deaf, &r);
	return 0;
}
