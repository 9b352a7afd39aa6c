# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/drill/: scenario scripts (docs/drill-language.md).
VERBSCOPE_SRCS += $(sort $(wildcard transport/drill/*.c))

FUZZERS += transport/tests/fuzz_drill
FUZZ_SEEDS_fuzz_drill := transport/tests/drill
