# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/sim/: virtual clock, links, switch.
VERBSCOPE_SRCS += $(sort $(wildcard transport/sim/*.c))
