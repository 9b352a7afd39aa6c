#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
#
# lint-psn.sh - PSNs, MSNs and SSNs are 24-bit numbers on a circle: a raw <, >, <=, >=, + or - on one
# is a bug that shows after 16 million packets. Only psn.h does arithmetic on them; == and != are fine.
#
#   scripts/lint-psn.sh              0: none; 1: prints file:line of each
#   scripts/lint-psn.sh --self-test  feeds it lines that must and must not be found
#
# A line that is right for another reason says so: /* lint: psn-ok <why> */
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

bad_lines() {
	cat <<'EOF'
	if (psn < expected_psn)
	if (a->bth.psn >= b)
	x = p->bth.psn - first;
	x = 5 + q->epsn;
	while (i <= msn)
	psn++;
	++qp->sq_psn;
	psn += 2;
	return (uint32_t)psn > (uint32_t)last;
	d = psns[i].psn - psns[0].psn;
	psn_first = psn_last - n;
	if (n < qp->ssn)
	x = ack_psn[i] -
EOF
}

good_lines() {
	cat <<'EOF'
	if (psn == expected_psn && msn != 3)
	x = p->bth.psn;
	b[9] = (uint8_t)(psn >> 16);
	if (vs_psn_diff(psn, other) < 0)
	if (vs_psn_lt(a->psn, b->psn))
	if (p->bth.psn > VS_PSN_MASK)
	x = psn_off + 3;
	f(-1, psn);
	g(&p->psn, n - 1);
	proto_tree_add_uint(tree, hf_rdma_bth_psn, tvb, off + 9, 3, psn);
	puts("psn < 3");	/* psn < 3 */
	x = vs_psn_add(psn, 1) < 5;
	y = psn_count - 1;
	z = psn - base;	/* lint: psn-ok an oracle for vs_psn_diff */
	int n = x->psn ? 1 : -1;
EOF
}

self_test() {
	local line
	while read -r line; do
		if printf '%s\n' "$line" | awk -f "$here/lint-psn.awk" >/dev/null; then
			echo "lint-psn: self-test: not found: $line" >&2
			return 1
		fi
	done < <(bad_lines)
	while read -r line; do
		if ! printf '%s\n' "$line" | awk -f "$here/lint-psn.awk"; then
			echo "lint-psn: self-test: found, but it is fine: $line" >&2
			return 1
		fi
	done < <(good_lines)
}

case ${1:-} in
--self-test) self_test ;;
*)
	cd "$here/.."
	scripts/sources.sh c | grep -v -e '^transport/include/vs/psn\.h$' -e '^labs/[0-9][0-9]-' | xargs awk -f scripts/lint-psn.awk
	;;
esac
