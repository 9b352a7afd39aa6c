/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/*
 * test_deviations.c - every defect in deviations.def shows when it is asked for, and only then.
 *
 * One probe per deviation: it provokes the situation on a rig and says whether the defect was seen. A deviation
 * without a probe fails the test.
 */
#include "deviation.h"

static const struct probe *probe_of(unsigned d)
{
	const struct probe *const tables[] = {probes_responder, probes_requester, probes_objects};

	for (unsigned i = 0; i < 3; i++)
		for (const struct probe *p = tables[i]; p->seen != NULL; p++)
			if (p->of == d)
				return p;
	return NULL;
}

static bool run(unsigned d, bool on)
{
	const struct probe *p = probe_of(d);
	struct rig_opt o;
	struct rig *r;
	bool seen;

	ck_assert_msg(p != NULL, "no probe for %s", vs_deviation_name((enum vs_deviation)d));
	o = p->opt;
	if (on)
		o.deviations = 1ull << d;
	r = rig_new(&o);
	seen = p->seen(r);
	rig_free(r);
	return seen;
}

START_TEST(a_deviation_shows_when_it_is_asked_for)
{
	ck_assert_msg(run((unsigned)_i, true), "%s does not show", vs_deviation_name((enum vs_deviation)_i));
}
END_TEST

START_TEST(a_deviation_is_not_there_otherwise)
{
	ck_assert_msg(!run((unsigned)_i, false), "%s shows unasked", vs_deviation_name((enum vs_deviation)_i));
}
END_TEST

START_TEST(every_deviation_has_a_name_that_finds_it)
{
	unsigned d;

	for (d = 0; d < VS_DEVIATION_COUNT; d++)
		ck_assert_uint_eq(vs_deviation_by_name(vs_deviation_name((enum vs_deviation)d)), d);
	ck_assert_uint_eq(vs_deviation_by_name("no_such_defect"), VS_DEVIATION_COUNT);
	ck_assert_str_eq(vs_deviation_name(VS_DEVIATION_COUNT), "?");
}
END_TEST

Suite *vs_suite(void)
{
	Suite *s = suite_create("deviations");
	TCase *tc = tcase_create("probes");

	tcase_add_loop_test(tc, a_deviation_shows_when_it_is_asked_for, 0, VS_DEVIATION_COUNT);
	tcase_add_loop_test(tc, a_deviation_is_not_there_otherwise, 0, VS_DEVIATION_COUNT);
	tcase_add_test(tc, every_deviation_has_a_name_that_finds_it);
	suite_add_tcase(s, tc);
	return s;
}
