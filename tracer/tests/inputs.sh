#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# inputs.sh BUILD - makes the .vst files of tracer/tests/in anew, from scenarios that run in the simulator. They are kept
# in the repository, so that the golden files change with vs-trace alone. hostile.vst is written by hand.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkvst=$1/tests/mkvst
for name in loss-middle atomics rnr-wait wrong-rkey ud-send read-segmented cm-connect; do
	"$mkvst" "pcaps/scenarios/$name.drill" >"tracer/tests/in/$name.vst.part"
	mv "tracer/tests/in/$name.vst.part" "tracer/tests/in/$name.vst"
done
