# SPDX-License-Identifier: GPL-2.0-or-later
#
# The upper-layer hand-off of the plugin: generated conversations of NFS/RDMA, NVMe, iSER, ... and
# what looks like them. Included by dissector/tests/module.mk.
MKULP := $(B)/tests/mkulp
$(MKULP): $(call obj,$(sort $(wildcard dissector/tests/ulp/*.c))) $(LIBVS) $(LIBWIRE)
	@mkdir -p $(@D)
	$(CC) $(OPT) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS_VS)

CHECK_TARGETS += check-ulp
CHECK_PROGRAMS += $(MKULP)

check-ulp: all $(MKULP) ## payloads go to upper-layer dissectors on evidence alone
	@B='$(B)' dissector/tests/ulp/run.sh

.PHONY: check-ulp
