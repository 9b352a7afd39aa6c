# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# bench/: make bench, which runs the benchmarks of all rooms and reports them (README.md).
BENCH_REPORT   := $(B)/bin/bench-report
CHECK_TARGETS  += check-bench
CHECK_PROGRAMS += $(BENCH_REPORT)
ASAN_TARGETS   += check-bench

$(BENCH_REPORT): $(call obj,$(sort $(wildcard bench/*.c))) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS) -lm

# What benchmarks need is built before the first one, so that none of them builds beside its own time.
bench: all $(BENCH_REPORT) ## run every benchmark and write build/bench.html and bench.json (ROUNDS=n, BENCH="ref0 trace")
	@scripts/deps.sh demo apps bench
	@$(MAKE) $(B)/tests/bench_core $(B)/tests/bench_drill $(BENCH_RECORD) $(MKBENCH) $(PEAK) $(PCAP_CMP) >/dev/null
	@CC='$(CC)' MAKE='$(MAKE)' ROUNDS='$(ROUNDS)' bench/run.sh $(B) $(BENCH)

check-bench: $(BENCH_REPORT) ## the report of benchmarks: golden files, records that are broken, programs that fail
	@bench/tests/report.sh $(B)

update-bench-golden: $(BENCH_REPORT) ## writes the golden files of check-bench
	@bench/tests/report.sh --update $(B)

.PHONY: bench check-bench update-bench-golden
