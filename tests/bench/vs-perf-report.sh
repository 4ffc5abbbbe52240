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

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
of_file 5 "$@"
need_perf_lock

make_file -a -g -e "$events" -- "$work_load" 16 6000 go
# Ten of them, since one is close to the step of the clock.
for _ in $(seq "$turns"); do
	timed kontend 10 "$kontend" report -i "$file"
	timed perf 10 perf lock contention -i "$file"
done

say_file
awk "$medians"'
	END {
		line("ten of perf lock contention -i", "perf")
		line("ten of kontend report -i", "kontend")
		printf "perf / kontend: %.1f\n", ratio("perf", "kontend")
	}' "$dir/figures"
