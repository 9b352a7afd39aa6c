# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/event/: what happened: the record, its JSON form.
JUDGE_SRCS += $(sort $(wildcard transport/event/*.c))

FUZZERS += transport/tests/fuzz_event
FUZZ_SEEDS_fuzz_event := transport/tests/golden
