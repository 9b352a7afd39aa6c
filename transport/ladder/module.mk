# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/ladder/: exchanges as diagrams.
JUDGE_SRCS += $(sort $(wildcard transport/ladder/*.c))
