# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/monitor/: what every packet means; rules.
JUDGE_SRCS += $(sort $(wildcard transport/monitor/*.c))

FUZZERS += transport/tests/fuzz_monitor
FUZZ_SEEDS_fuzz_monitor := pcaps/recorded
