# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/cli/: what the command lines of the programs share.
VERBSCOPE_SRCS += $(sort $(wildcard transport/cli/*.c))
