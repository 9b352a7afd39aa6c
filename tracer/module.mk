# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# tracer/: vs-trace, which shows what an RDMA program did and why it failed.
TRACER_SRCS   := $(sort $(wildcard tracer/*.c)) tracer/recorder/rule.c
TRACER_BIN    := $(B)/bin/vs-trace
TRACER_OBJS   := $(call obj,$(filter-out tracer/main.c,$(TRACER_SRCS))) $(B)/obj/tracer/page.o
ALL           += $(TRACER_BIN)
INSTALL_BINS  += $(TRACER_BIN)
INSTALL_MANS  += docs/man/vs-trace.1

# page.html as C strings.
$(B)/obj/tracer/page.o: tracer/page.html conformance/page.awk
	@mkdir -p $(@D)
	@awk -v name=vt_page_line -f conformance/page.awk $< >$(@:.o=.c)
	$(CC) $(CSTD) $(WARN) $(BASE) $(CFLAGS) -c -o $@ $(@:.o=.c)

$(TRACER_BIN): $(B)/obj/tracer/main.o $(TRACER_OBJS) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

# ---- what a trace is shown as: tests ----
CHECK_TARGETS  += check-trace-view
CHECK_PROGRAMS += $(B)/tests/test_trace $(B)/tests/chromecheck $(B)/tests/mkvst
ASAN_TARGETS   += check-trace-view
CHECK_DEPS     += browser
FUZZERS        += tracer/tests/fuzz_trace tracer/tests/fuzz_spool
FUZZ_SEEDS_fuzz_trace := tracer/tests/in
FUZZ_SEEDS_fuzz_spool := tracer/tests/fuzz_spool

$(B)/tests/test_trace: $(B)/obj/tracer/tests/test_trace.o $(B)/obj/transport/tests/runner.o $(TRACER_OBJS) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) $(LIBS_VS)

$(B)/tests/chromecheck $(B)/tests/mkvst: $(B)/tests/%: $(B)/obj/tracer/tests/%.o $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS) -lm

$(B)/bin/fuzz_trace $(B)/bin/fuzz_spool: $(B)/bin/%: $(B)/obj/tracer/tests/%.o $(TRACER_OBJS) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS_VS)

check-trace-view: all $(B)/tests/test_trace $(B)/tests/chromecheck ## vs-trace: every form of a trace against its golden file, the model, strange input, a browser
	@CK_VERBOSITY=normal $(B)/tests/test_trace
	@tracer/tests/view.sh $(B)

update-trace-golden: all $(B)/tests/mkvst ## writes the golden files of check-trace-view
	@tracer/tests/view.sh --update $(B)

trace-inputs: all $(B)/tests/mkvst ## makes the inputs of check-trace-view anew, from pcaps/scenarios
	@tracer/tests/inputs.sh $(B)

.PHONY: check-trace-view update-trace-golden trace-inputs
