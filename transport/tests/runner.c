/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later */
/* runner.c - main() of every Check program. Exit 0 when all tests passed, 1 otherwise. */
#include <stdlib.h>

#include "runner.h"

int main(void)
{
	SRunner *sr = srunner_create(vs_suite());
	int failed;

	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
