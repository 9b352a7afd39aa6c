# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# conformance/rxe-guest/: the Linux soft-RoCE driver of two kernels, in a QEMU guest. Not part of `make check`.
RXE         := conformance/rxe-guest
RXE_KERNELS := 6.1 6.12
KERNEL      ?= 6.1

# What a guest has besides its kernel: our programs, and those of Debian that are tried on rxe.
RXE_OURS     = $(filter %/vs-agent,$(ALL)) $(RUN_BIN)
RXE_LIBS     = $(VERBS_LIB):/usr/lib/verbscope/libibverbs.so.1 $(CM_LIB):/usr/lib/verbscope/librdmacm.so.1 $(RECORD_LIB):/usr/lib/verbscope/libvs-record.so
RXE_PROGRAMS = ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong ibv_xsrq_pingpong ib_write_bw ib_read_bw ib_send_bw \
	       ib_atomic_bw ib_write_lat ib_send_lat ib_read_lat ib_atomic_lat rping ucmatose udaddy iperf3

# A kernel is fetched once: what is complete stays.
$(RXE_KERNELS:%=$(B)/rxe/%/complete):
	@scripts/deps.sh rxe
	@$(RXE)/fetch-kernel.sh $(notdir $(@D)) $(@D)

$(B)/rxe/%/guest.cpio: $(B)/rxe/%/complete $(RXE)/module.mk $(RXE)/init $(RXE)/mkinitramfs.sh $(RUN_BIN) $(VERBS_LIB) $(CM_LIB) $(B)/lib/verbscope/libvs-record.so $(filter %/vs-agent,$(ALL))
	@scripts/deps.sh rxe
	@$(RXE)/mkinitramfs.sh $(@D) $@ $(RXE_OURS) $(RXE_LIBS) $(RXE_PROGRAMS:%=/usr/bin/%)

rxe-guest: $(KERNEL:%=$(B)/rxe/%/guest.cpio)

check-rxe: $(CONFORM_BIN) $(B)/bin/vs-trace rxe-guest ## the Linux soft-RoCE driver in a guest: the suite, and programs between it and ref0 (KERNEL=6.12, KERNEL="6.1 6.12"; INTEROP=all: more programs)
	@INTEROP='$(INTEROP)' $(RXE)/check.sh $(B) $(KERNEL)

check-rxe-programs: $(RUN_BIN) $(B)/bin/vs-trace rxe-guest ## unmodified programs between ref0 on this host and that driver in a guest (KERNEL="6.1 6.12"; WORD=: those alone that have it in their name)
	@rc=0; for k in $(KERNEL); do $(RXE)/interop.sh $(B) $$k all '$(WORD)' || [ $$? = 127 ] || rc=1; done; exit $$rc

check-rxe-pair: $(CONFORM_BIN) $(B)/bin/vs-pcap rxe-guest ## that driver against itself: two guests back to back, and faults between them, with captures (KERNEL="6.1 6.12")
	@mkdir -p $(B)/check-rxe; rc=0; for k in $(KERNEL); do $(RXE)/pair.sh $(B) $$k $(B)/check-rxe/pair-$$k || rc=1; done; exit $$rc

bench-rxe: all rxe-guest ## ref0 and the Linux soft-RoCE driver side by side in one guest (ROUNDS=3)
	@set -e; for k in $(KERNEL); do $(RXE)/bench.sh $(B) $$k $(or $(ROUNDS),3); done

.PHONY: rxe-guest check-rxe check-rxe-programs check-rxe-pair bench-rxe
.PRECIOUS: $(RXE_KERNELS:%=$(B)/rxe/%/complete)
