#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPU time (user and system) of `kontend report -i` and of `perf lock contention -i` on the same
# perf-made file with call chains, in turns, names resolved by both; the last line is the ratio of
# the medians. Without a FILE one is made of a storm; a million events take minutes of that, so the
# ratio that is asked for wants a file made before (by perf record on this boot, for the symbols),
# or a shorter one made longer by lengthen.
#
#     vs-perf-report.sh KONTEND STORM [FILE [TURNS]]
set -eu

kontend=$1
storm=$2
file=${3:-}
turns=${4:-5}

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_perf_lock

make_file -a -g -e "$events" -- "$storm" 16 6000 go
# Ten of them, since one is close to the step of the clock.
for _ in $(seq "$turns"); do
	timed kontend 10 "$kontend" report -i "$file"
	timed perf 10 perf lock contention -i "$file"
done

n_events=$(events "$file")
size=$(wc -c <"$file")
awk -v events="$n_events" -v size="$size" -v turns="$turns" "$median"'
	$1 == "kontend" { ours[++n] = $2 / 10 }
	$1 == "perf" { theirs[++m] = $2 / 10 }
	END {
		k = median(ours, n)
		p = median(theirs, m)
		printf "%d events, %.1f MB, medians of %d turns of ten runs\n", events, size / 1e6, turns
		printf "perf lock contention -i  %8.1f ms CPU\n", p
		printf "kontend report -i        %8.1f ms CPU\n", k
		printf "perf / kontend: %.1f\n", k ? p / k : 0
	}' "$dir/figures"
