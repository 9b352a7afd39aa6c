# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/: everything that is a library.
include transport/wire/module.mk
include transport/event/module.mk
include transport/monitor/module.mk
include transport/ladder/module.mk
include transport/cli/module.mk
include transport/fault/module.mk
include transport/core/module.mk
include transport/sim/module.mk
include transport/io/module.mk
include transport/drill/module.mk
include transport/verbs/module.mk
include transport/tests/module.mk
