# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/fault/: named, counted matches and actions.
VERBSCOPE_SRCS += $(sort $(wildcard transport/fault/*.c))

FUZZERS += transport/tests/fuzz_fault
