/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* runner.c - main() of every Check program. Exit 0 when tests ran and all of them passed, 1 otherwise. */
#include <stdbool.h>
#include <stdlib.h>

#include "runner.h"

/* What hangs is stopped; what has to wait for a processor is not: the 4 seconds that Check gives a test may pass so. */
#define TIMEOUT_S "60"

int main(void)
{
	SRunner *sr;
	bool passed;

	(void)setenv("CK_DEFAULT_TIMEOUT", TIMEOUT_S, 0); /* read when test cases are made */
	sr = srunner_create(vs_suite());
	srunner_run_all(sr, CK_ENV);
	passed = srunner_ntests_run(sr) > 0 && srunner_ntests_failed(sr) == 0;
	srunner_free(sr);
	return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
