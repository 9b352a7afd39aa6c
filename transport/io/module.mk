# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/io/: packet back-ends.
VERBSCOPE_SRCS += $(sort $(wildcard transport/io/*.c))
