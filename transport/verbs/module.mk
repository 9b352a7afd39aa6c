# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# transport/verbs/: the verbs device ref0 (a libibverbs.so.1) and vs-run, which runs programs on it.
VERBS_SRCS  := $(sort $(wildcard transport/verbs/*.c))
VERBS_DIR   := $(B)/lib/verbscope
VERBS_LIB   := $(VERBS_DIR)/libibverbs.so.1
VERBS_OBJS  := $(call obj,$(VERBS_SRCS))
RUN_SRCS    := $(sort $(wildcard transport/verbs/run/*.c)) transport/verbs/identity.c
RUN_BIN     := $(B)/bin/vs-run
ALL         += $(VERBS_LIB) $(RUN_BIN)
INSTALL_BINS  += $(RUN_BIN)
INSTALL_MANS  += docs/man/vs-run.1
INSTALL_FILES += $(VERBS_LIB):lib/verbscope/libibverbs.so.1

# The installed library: whatever the linker finds.
IBVERBS     ?= $(shell $(CC) -print-file-name=libibverbs.so.1)

$(VERBS_DIR)/symbols.map $(VERBS_DIR)/stubs.c &: transport/verbs/gen-symbols.sh $(VERBS_OBJS)
	@mkdir -p $(VERBS_DIR)
	PRIVATE="ref_cm_link ref_clock_link ref_virtual_now ref_trace_seq ref_rig ref_dma_log" transport/verbs/gen-symbols.sh $(IBVERBS) $(VERBS_DIR)/symbols.map $(VERBS_DIR)/stubs.c $(VERBS_OBJS)

$(VERBS_LIB): $(VERBS_DIR)/symbols.map $(VERBS_DIR)/stubs.c $(VERBS_OBJS) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	$(CC) -std=gnu11 $(OPT) $(SANFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-soname,libibverbs.so.1 -Wl,-z,defs \
		-Wl,--version-script,$(VERBS_DIR)/symbols.map -o $@ $(VERBS_DIR)/stubs.c $(VERBS_OBJS) \
		$(LIBVS) $(LIBJUDGE) $(LIBWIRE) -ldeflate -lpthread

# The connection manager: a librdmacm.so.1 on the same engine.
CM_SRCS := $(sort $(wildcard transport/verbs/cm/*.c))
CM_OBJS := $(call obj,$(CM_SRCS))
CM_LIB  := $(VERBS_DIR)/librdmacm.so.1
RDMACM  ?= $(shell $(CC) -print-file-name=librdmacm.so.1)
ALL           += $(CM_LIB)
INSTALL_FILES += $(CM_LIB):lib/verbscope/librdmacm.so.1

$(VERBS_DIR)/cm-symbols.map $(VERBS_DIR)/cm-stubs.c &: transport/verbs/gen-symbols.sh $(CM_OBJS)
	@mkdir -p $(VERBS_DIR)
	STUB_ERRNO=ENOSYS STUB_RETURNS=-1 transport/verbs/gen-symbols.sh $(RDMACM) $(VERBS_DIR)/cm-symbols.map \
		$(VERBS_DIR)/cm-stubs.c $(CM_OBJS)

$(CM_LIB): $(VERBS_DIR)/cm-symbols.map $(VERBS_DIR)/cm-stubs.c $(CM_OBJS) $(VERBS_LIB) $(LIBWIRE)
	$(CC) -std=gnu11 $(OPT) $(SANFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-soname,librdmacm.so.1 -Wl,-z,defs \
		-Wl,--version-script,$(VERBS_DIR)/cm-symbols.map -o $@ $(VERBS_DIR)/cm-stubs.c $(CM_OBJS) \
		$(LIBWIRE) $(VERBS_LIB) -lpthread

# With a sanitizer its runtime is preloaded in front.
ifneq ($(SAN),)
$(B)/obj/transport/verbs/run/start.o: CPPFLAGS += -DVS_PRELOAD_FIRST='"$(shell $(CC) -print-file-name=libasan.so)"'
endif

$(RUN_BIN): $(call obj,$(RUN_SRCS)) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -ldeflate

# With --sim: the calls in which a program waits, in virtual time.
CLOCK_SRCS := $(sort $(wildcard transport/verbs/clock/*.c))
CLOCK_OBJS := $(call obj,$(CLOCK_SRCS))
CLOCK_LIB  := $(VERBS_DIR)/libvs-clock.so
ALL           += $(CLOCK_LIB)
INSTALL_FILES += $(CLOCK_LIB):lib/verbscope/libvs-clock.so

$(CLOCK_LIB): $(CLOCK_OBJS) $(VERBS_LIB)
	$(CC) -std=gnu11 $(OPT) $(SANFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-soname,libvs-clock.so -Wl,-z,defs \
		-o $@ $(CLOCK_OBJS) $(VERBS_LIB) -ldl -lpthread

CHECK_TARGETS += check-apps
CHECK_DEPS    += apps

check-apps: $(VERBS_LIB) $(CM_LIB) $(RUN_BIN) cm-capture ## unmodified verbs programs on the reference device (APPS=all: more of them)
	@scripts/deps.sh apps
	@SAN=$(SAN) JOBS=$(JOBS) transport/verbs/tests/apps.sh $(B) $(or $(APPS),short)

# A capture of connections is looked at with the plugin, where one is built.
cm-capture:
	@$(if $(filter no,$(PLUGIN))$(SAN),:,$(MAKE) --no-print-directory $(PLUGIN_SO) $(B)/bin/vs-tshark >/dev/null)

# Programs built against the installed libraries, and run on ours.
ABI_TEST := $(B)/tests/verbs_abi
CM_ABI_TEST := $(B)/tests/rdmacm_abi
CHECK_TARGETS  += check-verbs
CHECK_PROGRAMS += $(ABI_TEST) $(CM_ABI_TEST)
ASAN_TARGETS   += check-verbs # make asan-check-apps takes a minute more

$(ABI_TEST): $(call obj,transport/tests/verbs_abi.c transport/tests/runner.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) -libverbs -ldl

$(CM_ABI_TEST): $(call obj,transport/tests/rdmacm_abi.c transport/tests/runner.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) -lrdmacm -libverbs

check-verbs: $(VERBS_LIB) $(CM_LIB) $(RUN_BIN) $(ABI_TEST) $(CM_ABI_TEST) ## what programs built against the installed libraries get from ours
	@scripts/deps.sh unit
	@$(RUN_BIN) --quiet -- $(ABI_TEST)
	@$(RUN_BIN) --quiet -- $(CM_ABI_TEST)

# A program with both simulated devices, and runs that repeat.
SIM_TEST := $(B)/tests/sim_wire
SIM_EXAMPLE := $(B)/tests/two_devices
CHECK_TARGETS  += check-sim-wire
INSTALL_FILES  += transport/verbs/examples/two_devices.c:share/doc/verbscope/examples/two_devices.c
CHECK_PROGRAMS += $(SIM_TEST) $(SIM_EXAMPLE)
ASAN_TARGETS   += check-sim-wire

$(SIM_TEST): $(call obj,$(addprefix transport/tests/,sim_wire.c sim_wait.c sim_cm.c sim_ends.c runner.c))
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) -lrdmacm -libverbs -lpthread

$(SIM_EXAMPLE): $(call obj,transport/verbs/examples/two_devices.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -libverbs

check-sim-wire: $(VERBS_LIB) $(CM_LIB) $(CLOCK_LIB) $(RUN_BIN) $(SIM_TEST) $(SIM_EXAMPLE) $(ABI_TEST) $(CM_ABI_TEST) ## programs on two simulated devices (vs-run --sim)
	@scripts/deps.sh unit
	@transport/verbs/tests/sim.sh $(B)

# Random packets at two programs that talk. HOSTILE_SECONDS=60: the long form.
REF0_SOAK := $(B)/tests/ref0_soak
HOSTILE := $(B)/tests/verbs_hostile
HOSTILE_SECONDS ?= 4
CHECK_TARGETS  += check-hostile
CHECK_PROGRAMS += $(HOSTILE)
ASAN_TARGETS   += check-hostile

$(HOSTILE): $(call obj,transport/tests/verbs_hostile.c) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -ldeflate

check-hostile: $(VERBS_LIB) $(CM_LIB) $(RUN_BIN) $(HOSTILE) $(REF0_SOAK) ## ref0 under packets with random headers and right ICRCs
	@scripts/deps.sh apps
	@transport/verbs/tests/hostile.sh $(B) $(HOSTILE_SECONDS)

# Messages of every kind, lost packets, peers that are killed. MESSAGES=10000000: the long form.
CHECK_TARGETS  += check-soak-ref0
CHECK_PROGRAMS += $(REF0_SOAK)
ASAN_TARGETS   += check-soak-ref0

$(REF0_SOAK): $(call obj,transport/tests/ref0_soak.c transport/tests/ref0_soak_link.c transport/tests/ref0_victim.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -libverbs

check-soak-ref0: $(VERBS_LIB) $(CM_LIB) $(RUN_BIN) $(REF0_SOAK)
	@scripts/deps.sh apps
	@transport/verbs/tests/soak.sh $(B) $(if $(SAN),20000,60000)
	@SOAK_DEVIATION=fence_ignored transport/verbs/tests/soak.sh $(B) 60000

soak-ref0: $(VERBS_LIB) $(CM_LIB) $(RUN_BIN) $(REF0_SOAK) ## ref0 over 64 queue pairs, with loss and peers that are killed (MESSAGES=10000000)
	@scripts/deps.sh apps
	@transport/verbs/tests/soak.sh $(B) $(or $(MESSAGES),1000000)

# The application's threads and ours: a build of its own, the runtime in front of everything.
check-tsan: ## the verbs device under ThreadSanitizer
	@$(MAKE) B=$(B)/tsan OPT='-O1 -g' SANFLAGS=-fsanitize=thread $(B)/tsan/lib/verbscope/libibverbs.so.1 \
		$(CM_LIB:$(B)/%=$(B)/tsan/%) $(B)/tsan/tests/verbs_abi $(B)/tsan/tests/sim_wire
	@CK_FORK=no VS_QUIET=1 LD_PRELOAD=$(shell $(CC) -print-file-name=libtsan.so):$(abspath $(B))/tsan/lib/verbscope/libibverbs.so.1 \
		$(B)/tsan/tests/verbs_abi
	@# Without libvs-clock.so: the sanitizer is blind while it passes a call on to it.
	@CK_FORK=no CK_RUN_CASE='threads in verbs' VS_SIM=1 VS_QUIET=1 LD_PRELOAD=$(shell $(CC) -print-file-name=libtsan.so):$(abspath $(B))/tsan/lib/verbscope/libibverbs.so.1:$(abspath $(B))/tsan/lib/verbscope/librdmacm.so.1 \
		$(B)/tsan/tests/sim_wire

bench-ref0: $(VERBS_LIB) $(RUN_BIN) ## speed of ref0 against iperf3 TCP over loopback, in one run
	@scripts/deps.sh apps bench
	@transport/verbs/tests/bench.sh $(B) $(or $(ROUNDS),3)

.PHONY: cm-capture check-apps check-verbs check-sim-wire check-hostile check-soak-ref0 soak-ref0 check-tsan bench-ref0
