# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/event/: what happened: the record, its JSON form.
JUDGE_SRCS += $(sort $(wildcard transport/event/*.c))
