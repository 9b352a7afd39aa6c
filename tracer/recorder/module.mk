# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# tracer/recorder/: the library that vs-trace preloads into programs.
RECORD_SRCS := $(sort $(wildcard tracer/recorder/*.c))
RECORD_LIB  := $(VERBS_DIR)/libvs-record.so
ALL           += $(RECORD_LIB)
INSTALL_FILES += $(RECORD_LIB):lib/verbscope/libvs-record.so

# It stands in front of libibverbs and librdmacm, whichever a program has: it is linked with neither, and must need neither
# to be loaded (-z defs), since programs without them get it, too, and a package binds all symbols at once.
$(RECORD_LIB): $(call obj,$(RECORD_SRCS) transport/cli/number.c)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(OPT) $(SANFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-soname,libvs-record.so $(if $(SAN),,-z defs) -o $@ $^ -ldl -lpthread

# A plain program to be traced and harmed.
VICTIM := $(B)/tests/victim
CHECK_PROGRAMS += $(VICTIM)

$(VICTIM): $(call obj,tracer/tests/victim.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -libverbs

# Each fault of a table is done to a program, and must be found.
CHECK_TARGETS += check-trace-why
CHECK_DEPS    += apps

check-trace-why: $(TRACER_BIN) $(RECORD_LIB) $(VERBS_LIB) $(CM_LIB) $(CLOCK_LIB) $(RUN_BIN) $(VICTIM) ## vs-trace why names the cause of every fault in a table, and of recorded captures
	@scripts/deps.sh apps
	@JOBS=$(JOBS) tracer/tests/faults.sh $(B)
	@tracer/tests/captures.sh $(B) $(wildcard $(VS_SHARED)/captures/rxe*)

.PHONY: check-trace-why

# What the recorder records, and what is left when a program does not end well.
OPENED := $(B)/tests/opened
CHECK_TARGETS  += check-trace-record
CHECK_PROGRAMS += $(OPENED)

$(OPENED): $(call obj,tracer/tests/opened.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -ldl

check-trace-record: $(TRACER_BIN) $(RECORD_LIB) $(VERBS_LIB) $(CM_LIB) $(CLOCK_LIB) $(RUN_BIN) $(VICTIM) $(OPENED) $(B)/tests/test_record $(B)/tests/test_spool ## what vs-trace run records of programs of every kind
	@scripts/deps.sh apps
	@CK_VERBOSITY=normal $(B)/tests/test_record
	@CK_VERBOSITY=normal $(B)/tests/test_spool
	@tracer/tests/recorder.sh $(B)

.PHONY: check-trace-record

# With a sanitizer its runtime is preloaded in front.
ifneq ($(SAN),)
# What stands before dlsym(3) runs before the runtime is there.
$(call obj,tracer/recorder/dl.c tracer/recorder/real.c): CFLAGS += -fno-sanitize=all
$(B)/obj/tracer/run.o: CPPFLAGS += -DVS_PRELOAD_FIRST='"$(shell $(CC) -print-file-name=libasan.so)"'
endif
ASAN_TARGETS += check-trace-why check-trace-record

BENCH_RECORD := $(B)/tests/bench_record

$(BENCH_RECORD): $(call obj,tracer/tests/bench_record.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(LDFLAGS) -o $@ $^ -libverbs

BENCH_CPU := $(B)/tests/bench_cpu.so

$(BENCH_CPU): $(call obj,tracer/tests/bench_cpu.c)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(LDFLAGS) -shared -o $@ $^ -ldl

bench-trace: $(TRACER_BIN) $(RECORD_LIB) $(VERBS_LIB) $(RUN_BIN) $(BENCH_RECORD) $(BENCH_CPU) ## what recording costs a call, and programs of perftest
	@scripts/deps.sh apps
	@tracer/tests/bench.sh $(B) $(or $(ROUNDS),9)

.PHONY: bench-trace

CHECK_PROGRAMS += $(B)/tests/test_record $(B)/tests/test_spool

$(B)/tests/test_record: $(B)/obj/tracer/tests/test_record.o $(B)/obj/tracer/recorder/ring.o $(B)/obj/tracer/recorder/clock.o $(B)/obj/tracer/recorder/squeeze.o $(B)/obj/transport/tests/runner.o $(TRACER_OBJS) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) $(LIBS_VS)

$(B)/tests/test_spool: $(B)/obj/tracer/tests/test_spool.o $(B)/obj/tracer/recorder/squeeze.o $(B)/obj/transport/tests/runner.o $(TRACER_OBJS) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) $(LIBS_VS)
