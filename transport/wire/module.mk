# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/wire/: bytes <-> struct vs_pkt.
WIRE_SRCS += $(sort $(wildcard transport/wire/*.c))
