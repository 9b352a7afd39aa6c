/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * check.c - lab 15: the learner's formula and sweep against the network, and the learner's PFC threshold against an
 * incast of 2 to 10 senders. `lab.bin SEED plot` writes loss.svg and incast.svg; `plot fine` from longer runs.
 *
 * Losses are random, so what a run says of them is uncertain: the number n of rounds is known to 1 part in sqrt(n),
 * and better by the part of a round that is not chance, its window. A claim allows five times that.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loss.h"

#define MOST 10u /* senders of an incast */
#define MTU 1024
#define FRAME (MTU + 58.0)

static bool korean;
#define T(english, ko) (korean ? (ko) : (english))

static uint32_t seed;
static char capture[4096];

/* ---- the networks ---- */

/* One sender; the run takes as long as so many packets do. A repeat that gets lost waits for a short timeout. */
static struct net_config wire(double gbps, double latency_us, unsigned timeout, double packets)
{
	double from = 10 * latency_us;

	return (struct net_config){.seed = seed,
				   .senders = 1,
				   .gbps = gbps,
				   .latency_us = latency_us,
				   .mtu = MTU,
				   .timeout = timeout,
				   .from_us = from,
				   .end_us = from + packets * FRAME * 8 / gbps / 1000};
}

static struct net_config short_wire(double packets)
{
	return wire(100, 1, 1, packets);
}

static struct net_config long_wire(double packets)
{
	return wire(400, 4 + seed % 3, 4, packets);
}

static struct net_config incast(unsigned senders, double us)
{
	return (struct net_config){.seed = seed,
				   .senders = senders,
				   .gbps = 100,
				   .latency_us = 2,
				   .mtu = 4096,
				   .queue_kb = 1024 + seed % 512,
				   .timeout = 8,
				   .end_us = us};
}

static void with_dcqcn(struct net_config *c)
{
	c->cc = &net_dcqcn;
	c->ecn_kb = 100;
	c->ecn_full_kb = 400;
	c->ecn_percent = 20;
}

/*
 * Packets that a sender sends until it hears of a loss: there and back are four links. The switch passes a packet on
 * when it has all of it, and it is the packet behind the lost one that shows the gap: two more, and half of the one
 * that is on its way out.
 */
static double window(const struct net_config *c)
{
	return 4 * c->latency_us * 1000 / (FRAME * 8 / c->gbps) + 2.5;
}

static struct net_result run(const struct net_config *c)
{
	struct net_result r;

	if (net_run(c, &r) != 0)
		exit(1);
	return r;
}

static struct net_result lossy(struct net_config c, double loss)
{
	c.loss = loss;
	return run(&c);
}

/* ---- go-back-N ---- */

/* What is not sent again, of all that is sent: the part of the line that is left. */
static bool formula_holds_at(double loss, const struct net_config *c)
{
	const struct net_result r = lossy(*c, loss);
	double rounds = fmax(1, (double)r.flow[0].naks), again = (double)r.flow[0].again / (double)r.flow[0].packets;
	double is = 1 - again, sigma = again * is / sqrt(rounds), said = go_back_n(loss, window(c));

	if (fabs(said - is) <= 5 * sigma + 0.001) {
		printf(T("  ok  go_back_n(%g, %.0f) is %.3f; the network leaves %.3f +- %.3f\n",
			 "  ok  go_back_n(%g, %.0f)은 %.3f. 네트워크가 남긴 몫은 %.3f +- %.3f\n"),
		       loss, window(c), said, is, sigma);
		return true;
	}
	printf(T("  claim     go_back_n(%g, %.0f) is the part of the line that the network leaves: %.3f +- %.3f\n"
		 "            (it went back %.0f times: one standard error; five are allowed)\n"
		 "  instead   it says %.3f\n",
		 "  기대      go_back_n(%g, %.0f)은 네트워크가 회선에서 남긴 몫이다: %.3f +- %.3f\n"
		 "            (%.0f번 되돌아갔다. 표준 오차 하나이고, 다섯까지 허용한다)\n"
		 "  실제      %.3f이라고 한다\n"),
	       loss, window(c), is, sigma, rounds, said);
	return false;
}

static bool formula_holds(void)
{
	const struct net_config c = short_wire(30000), few = short_wire(1000);

	return formula_holds_at(0, &few) && formula_holds_at(0.01, &c) && formula_holds_at(0.02, &c);
}

static bool sweep_holds(void)
{
	const struct net_config c = short_wire(2000);
	const double loss[] = {0.02, 0.01};
	double got[] = {-1, -1};

	sweep(&c, loss, got, 2);
	for (unsigned i = 0; i < 2; i++) {
		double want = lossy(c, loss[i]).gbps;

		if (fabs(got[i] - want) < 0.001)
			continue;
		printf(T("  claim     sweep measures %.1f Gb/s with a loss of %g\n  instead   it says %.1f\n",
			 "  기대      sweep은 %.1f Gb/s를 잰다 (손실 %g)\n  실제      %.1f이라고 한다\n"),
		       want, loss[i], got[i]);
		return false;
	}
	printf(T("  ok  the sweep measures\n", "  ok  sweep이 제대로 잰다\n"));
	return true;
}

/* ---- PFC ---- */

static bool pause_holds(void)
{
	for (unsigned n = 2; n <= MOST; n++) {
		struct net_config c = incast(n, 200);
		double wires = n * c.gbps * 125 * c.latency_us / 1024, latest;
		struct net_result r;

		c.pause_kb = pause_kb(&c);
		latest = c.queue_kb - 2 * wires - n * 2.0 * (c.mtu + 64) / 1024;
		r = run(&c);
		if (r.drops > 0) {
			printf(T("  claim     %u senders, %u KiB, pause at %u KiB: nothing is dropped\n"
				 "  instead   %llu packets were dropped\n",
				 "  기대      송신자 %u, %u KiB, %u KiB에서 pause: 아무것도 드롭되지 않는다\n"
				 "  실제      %llu개가 드롭되었다 (dropped)\n"),
			       n, c.queue_kb, c.pause_kb, (unsigned long long)r.drops);
			return false;
		}
		if (c.pause_kb + wires < latest) {
			printf(T("  claim     %u senders, %u KiB: pause no earlier than needed, about %.0f KiB\n"
				 "  instead   at %u KiB\n",
				 "  기대      송신자 %u, %u KiB: 필요한 것보다 일찍 pause하지 않는다, 약 %.0f KiB\n"
				 "  실제      %u KiB에서\n"),
			       n, c.queue_kb, latest, c.pause_kb);
			return false;
		}
	}
	printf(T("  ok  PFC: 2 to %u senders, and nothing is dropped\n",
		 "  ok  PFC: 송신자 2에서 %u까지, 드롭이 없다\n"),
	       MOST);
	return true;
}

/* ---- what the questions are about ---- */

static void numbers(void)
{
	struct net_config c = short_wire(5000), i = incast(8, 1000);

	printf("hundredth: %.1f\n", 100 * go_back_n(0.01, window(&c))); /* the network has agreed */
	c.capture = capture;
	c.capture_packets = 80;
	printf("alone: %.3f\n", lossy(c, 0.01).gbps);
	c.capture = NULL;
	with_dcqcn(&c);
	printf("dcqcn: %.3f\n", lossy(c, 0.01).gbps);
	printf("incast: %s\n", run(&i).gbps > 50 ? "a" : "b");
	i.pause_kb = pause_kb(&i);
	printf("pauses: %s\n", run(&i).pauses > 8 ? "b" : "a");
}

/* ---- plots ---- */

#define POINTS 6u
#define FINE 100u

static const double losses[POINTS] = {0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2};
static double percent[POINTS], fine[FINE];

/* One line of measurements, as a part of the network's line: percent, without headers. */
static struct plot_line measured(const char *name, const struct net_config *c, double got[POINTS])
{
	sweep(c, losses, got, POINTS);
	for (unsigned i = 0; i < POINTS; i++)
		got[i] *= 100 / c->gbps * (c->mtu + 58.0) / c->mtu;
	return (struct plot_line){name, percent, got, POINTS, false};
}

static struct plot_line formula(const char *name, const struct net_config *c, double y[FINE])
{
	for (unsigned i = 0; i < FINE; i++)
		y[i] = 100 * go_back_n(fine[i] / 100, window(c));
	return (struct plot_line){name, fine, y, FINE, true};
}

/* Four lines that are measured; the formula for the two of them with one sender. */
static void plot_loss(double longer)
{
	static double got[4][POINTS], y[2][FINE];
	const struct net_config near = short_wire(10000 * longer), far = long_wire(30000 * longer);
	struct net_config crowd = incast(4, 1000 + 1000 * longer), told;
	char name[64];
	struct plot p = {.title = T("What go-back-N leaves of the line", "go-back-N이 회선에서 남기는 것"),
			 .x_name = T("packets lost (%)", "잃어버린 패킷 (%)"),
			 .y_name = T("goodput (% of the line)", "goodput (회선의 %)"),
			 .log_x = true,
			 .x_min = 0.001,
			 .x_max = 1,
			 .y_max = 100,
			 .lines = 6};

	for (unsigned i = 0; i < POINTS; i++)
		percent[i] = losses[i] * 100;
	for (unsigned i = 0; i < FINE; i++)
		fine[i] = pow(10, log10(p.x_min) + i * (log10(p.x_max) - log10(p.x_min)) / (FINE - 1));
	crowd.latency_us = 1;
	crowd.from_us = 1000;
	told = crowd;
	with_dcqcn(&told);
	(void)snprintf(name, sizeof(name), T("400 Gb/s, %g us a link", "400 Gb/s, 링크마다 %g us"), far.latency_us);
	p.line[0] = measured(T("100 Gb/s, 1 us a link", "100 Gb/s, 링크마다 1 us"), &near, got[0]);
	p.line[1] = formula(T("your formula", "여러분의 공식"), &near, y[0]);
	p.line[2] = measured(name, &far, got[1]);
	p.line[3] = formula(T("your formula", "여러분의 공식"), &far, y[1]);
	p.line[4] = measured(T("four to one port, no ECN", "넷이 한 포트로, ECN 없음"), &crowd, got[2]);
	p.line[5] = measured(T("four to one port, ECN and DCQCN", "넷이 한 포트로, ECN과 DCQCN"), &told, got[3]);
	if (plot_write(&p, "loss.svg") != 0)
		exit(1);
	printf(T("  lost      100 Gb/s  400 Gb/s  no ECN    DCQCN     (%% of the line)\n",
		 "  손실      100 Gb/s  400 Gb/s  ECN 없음  DCQCN     (회선의 %%)\n"));
	for (unsigned i = 0; i < POINTS; i++)
		printf("  %7.4f %%  %8.1f  %8.1f  %8.1f  %8.1f\n", percent[i], got[0][i], got[1][i], got[2][i],
		       got[3][i]);
}

static void plot_incast(double us)
{
	static double x[MOST], pauses[MOST], fewer[MOST], drops[MOST];
	struct plot p = {.title = T("Incast: 2 to 10 senders, one receiver", "incast: 송신자 2에서 10, 수신자 하나"),
			 .x_name = T("senders", "송신자"),
			 .y_name = T("in a millisecond", "1밀리초에"),
			 .x_max = MOST,
			 .lines = 3};
	unsigned n = 0;

	printf(T("  senders   dropped   pauses    pauses with DCQCN, in a millisecond\n",
		 "  송신자    드롭      pause     DCQCN이 있을 때 pause, 1밀리초에\n"));
	for (unsigned senders = 2; senders <= MOST; senders++, n++) {
		struct net_config c = incast(senders, us);
		double per_ms = 1000 / us;

		x[n] = senders;
		drops[n] = (double)run(&c).drops * per_ms;
		c.pause_kb = pause_kb(&c);
		pauses[n] = (double)run(&c).pauses * per_ms;
		with_dcqcn(&c);
		fewer[n] = (double)run(&c).pauses * per_ms;
		printf("  %7u  %8.0f  %7.0f  %7.0f\n", senders, drops[n], pauses[n], fewer[n]);
		drops[n] /= 100;
		p.y_max = fmax(p.y_max, 1.1 * fmax(drops[n], fmax(pauses[n], fewer[n])));
	}
	p.line[0] = (struct plot_line){T("PFC: pauses", "PFC: pause"), x, pauses, n, false};
	p.line[1] = (struct plot_line){T("PFC and DCQCN: pauses", "PFC와 DCQCN: pause"), x, fewer, n, false};
	p.line[2] = (struct plot_line){
		T("neither: packets dropped, in hundreds", "둘 다 없음: 드롭된 패킷, 백 개 단위"), x, drops, n, false};
	if (plot_write(&p, "incast.svg") != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *lang = getenv("VS_LAB_LANG"), *slash = strrchr(argv[0], '/');

	korean = lang != NULL && strcmp(lang, "ko") == 0;
	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	(void)snprintf(capture, sizeof(capture), "%.*slab-15.pcap", slash != NULL ? (int)(slash - argv[0]) + 1 : 0,
		       argv[0]);
	if (argc > 2) {
		double longer = argc > 3 && strcmp(argv[3], "fine") == 0 ? 10 : 1;

		plot_loss(longer);
		plot_incast(300 * longer);
		printf("loss.svg, incast.svg\n");
		return 0;
	}
	if (!formula_holds() || !sweep_holds() || !pause_holds())
		return 1;
	numbers();
	return 0;
}
