# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/core/: the engine.
VERBSCOPE_SRCS += $(sort $(wildcard transport/core/*.c))
