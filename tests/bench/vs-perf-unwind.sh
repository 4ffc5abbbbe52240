#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stacks a second of CPU time from a file with dumps of stacks to a report: `kontend report --view
# hot`, `perf report` and `perf script` of the same file, in turns. All that it takes is in it, from
# starting to the names of functions; perf looks for no inlined functions, which kontend does not
# either. Without a FILE, which perf or kontend may have made, one is made of a program that spends
# its time some ten frames deep. The last line is what there should be 50,000 of, on one core.
#
#     vs-perf-unwind.sh KONTEND DEEP [FILE [TURNS]]
set -eu

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
of_file 3 "$@"
need_perf

make_file -k mono -e cpu-clock -F 2000 --call-graph dwarf,4096 -- "$work_load" 8 8
"$kontend" report -q -i "$file" --view hot --by stack --format csv >"$dir/stacks.csv"
if grep -q '\[no unwinder\]' "$dir/stacks.csv"; then
	skip "kontend was built without an unwinder"
fi
for _ in $(seq "$turns"); do
	timed kontend 1 "$kontend" report -q -i "$file" --view hot
	timed report 1 perf report --no-inline --stdio -i "$file"
	timed script 1 perf script --no-inline -i "$file"
done

# Samples in all, and frames of one.
awk -F, '$1 == "pct" { for (i = 1; i <= NF; i++) at[$i] = i }
	$1 ~ /^[0-9]/ { n += $2; frames += $2 * split($at["stack"], parts, ";") }
	END { printf "stacks %d\nframes %.1f\n", n, n ? frames / n : 0 }' "$dir/stacks.csv" >>"$dir/figures"
awk -v turns="$turns" "$medians"'
	function stacks(what, name,   rate) {
		rate = middle(name) ? middle("stacks") * 1000 / middle(name) : 0
		printf "%-28s %8.0f ms CPU %9.0f stacks/s\n", what, middle(name), rate
		return rate
	}
	END {
		printf "%d stacks of %.1f frames, medians of %d turns\n", middle("stacks"), middle("frames"),
			turns
		stacks("perf script --no-inline", "script")
		stacks("perf report --no-inline", "report")
		printf "%.0f stacks/s\n", stacks("kontend report --view hot", "kontend")
	}' "$dir/figures"
