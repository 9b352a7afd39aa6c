# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# tracer/: vs-trace, which shows what an RDMA program did and why it failed.
TRACER_SRCS   := $(sort $(wildcard tracer/*.c)) tracer/recorder/rule.c
TRACER_BIN    := $(B)/bin/vs-trace
TRACER_OBJS   := $(call obj,$(filter-out tracer/main.c,$(TRACER_SRCS))) $(B)/obj/tracer/page.o
ALL           += $(TRACER_BIN)
INSTALL_BINS  += $(TRACER_BIN)

# page.html as C strings.
$(B)/obj/tracer/page.o: tracer/page.html conformance/page.awk
	@mkdir -p $(@D)
	@awk -v name=vt_page_line -f conformance/page.awk $< >$(@:.o=.c)
	$(CC) $(CSTD) $(WARN) $(BASE) $(CFLAGS) -c -o $@ $(@:.o=.c)

$(TRACER_BIN): $(B)/obj/tracer/main.o $(TRACER_OBJS) $(LIBVS) $(LIBJUDGE) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)
