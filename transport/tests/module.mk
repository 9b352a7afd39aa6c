# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/tests/: Check suites (test_*.c, one program each) and fuzz targets (fuzz_*.c).
UNIT_TESTS := $(patsubst transport/tests/%.c,$(B)/tests/%,$(sort $(wildcard transport/tests/test_*.c)))
TESTS += $(UNIT_TESTS)

check-unit: $(UNIT_TESTS)
	@set -e; for t in $^; do CK_RUN_CASE= CK_VERBOSITY=normal $$t; done

.PHONY: check-unit
