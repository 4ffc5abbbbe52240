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

kontend=$1
deep=$2
file=${3:-}
turns=${4:-3}

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_perf

make_file -k mono -e cpu-clock -F 2000 --call-graph dwarf,4096 -- "$deep" 8 8
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
awk -v turns="$turns" "$median"'
	function line(what, v,   ms) {
		ms = median(v, turns)
		rate = ms ? stacks * 1000 / ms : 0
		printf "%-28s %8.0f ms CPU %9.0f stacks/s\n", what, ms, rate
		return rate
	}
	$1 == "kontend" { ours[++n] = $2 }
	$1 == "report" { theirs[++m] = $2 }
	$1 == "script" { scripts[++k] = $2 }
	$1 == "stacks" { stacks = $2 }
	$1 == "frames" { frames = $2 }
	END {
		printf "%d stacks of %.1f frames, medians of %d turns\n", stacks, frames, turns
		line("perf script --no-inline", scripts)
		line("perf report --no-inline", theirs)
		printf "%.0f stacks/s\n", line("kontend report --view hot", ours)
	}' "$dir/figures"
