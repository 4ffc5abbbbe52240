#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A static program has .eh_frame and no table to search it by: the chains out of its stack dumps,
# recorded by kontend and by perf, reach main and the function that the program starts with.
set -eu
kontend=$1
compiler=$2
source=$3
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"

if ! $compiler -O2 -static -fomit-frame-pointer -fno-optimize-sibling-calls -o "$dir/static" "$source" \
	2>"$dir/cc.err"; then
	echo "no static program can be built here"
	exit 77
fi
if readelf -lW "$dir/static" | grep -q GNU_EH_FRAME; then
	echo "the linker has written .eh_frame_hdr: it is taken away"
	objcopy --remove-section .eh_frame_hdr "$dir/static"
fi

check_chains() { # FILE: nearly all samples of the program have the whole chain
	"$kontend" export -q -i "$1" --format folded --weight samples >"$dir/folded.txt"
	awk '/^static;/ { n = $NF; all += n
			  if (/;_start;.*;main;outer;middle;inner[; ]/) whole += n }
	     END { printf "%d of %d samples have the whole chain\n", whole, all
		   exit !(all >= 20 && whole >= all * 0.95) }' "$dir/folded.txt" || {
		head -5 "$dir/folded.txt"
		exit 1
	}
}

"$kontend" record -q -F 499 -e cpu-clock --call-graph dwarf -o "$dir/ours.data" -- "$dir/static" \
	>/dev/null
if grep -q 'no unwinder' "$dir/ours.data"; then
	exit 77
fi
check_chains "$dir/ours.data"
# The recording has the tables: without the program the chains are the same.
mv "$dir/static" "$dir/gone"
check_chains "$dir/ours.data"
mv "$dir/gone" "$dir/static"
if command -v perf >/dev/null; then
	perf record -q -k mono -F 499 -e cpu-clock --call-graph dwarf,4096 -o "$dir/perf.data" -- \
		"$dir/static" >/dev/null 2>&1
	check_chains "$dir/perf.data"
fi
