#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Call chains from dumps of the stack of a program without frame pointers: those of a recording of
# perf are those that perf makes of it, perf makes the same of one of ours, and a chain that is too
# long for us ends in a frame that marks the cut.
set -eu
kontend=$1
deep=$2
chains=$3
compare=$(dirname "$0")/chains.awk
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"

# A loaded machine may give few samples: then again.
enough() { # FILE
	"$chains" "$1" >"$dir/ours.txt"
	test "$(grep -c ':$' "$dir/ours.txt")" -ge 30
}

ours() { # [OPTION...]
	"$kontend" record -q -F 997 -e cpu-clock -o "$dir/ours.data" "$@"
	enough "$dir/ours.data"
}

theirs() { # [OPTION...]
	perf record -q "$@" -e cpu-clock -F 997 --call-graph dwarf -o "$dir/perf.data" -- "$deep" \
		>"$dir/perf.out" 2>&1 && enough "$dir/perf.data"
}

again() { # COMMAND...: up to five times
	for _ in 1 2 3 4 5; do
		if "$@"; then
			return 0
		fi
	done
	echo "no 30 samples in five runs of: $*"
	exit 1
}

same() { # FILE: 99 of 100 frames are those of perf script
	perf script --no-inline --ns -i "$1" >"$dir/script.txt" 2>"$dir/script.err"
	awk -f "$compare" "$dir/ours.txt" "$dir/script.txt" >"$dir/verdict.txt"
	cat "$dir/verdict.txt"
	awk '!/^#/ { exit !($1 >= 30 && $3 >= 100 && $5 >= $3 * 0.99) }' "$dir/verdict.txt"
}

again ours --call-graph dwarf,65528 -m 2048 -- "$deep" 0.3 10000
if grep -q '^\[no unwinder\]$' "$dir/ours.txt"; then
	echo "kontend was built without an unwinder"
	exit 77
fi
if ! grep -q '^\[too many frames\]$' "$dir/ours.txt"; then
	echo "no chain of a recursion of 10,000 calls ends in [too many frames]"
	exit 1
fi

again ours --call-graph dwarf -- "$deep"
"$kontend" report -q -i "$dir/ours.data" --view hot --by stack --format csv >"$dir/report.csv"
for chain in 'deep_work;deep_recur;.*main' 'deep_work;deep_compare;.*deep_sort;main'; do
	if ! grep -q "$chain" "$dir/report.csv"; then
		echo "$chain is in no call chain of the report"
		exit 1
	fi
done
if ! command -v perf >/dev/null; then
	echo "perf is not installed, nothing to compare with"
	exit 0
fi
same "$dir/ours.data"
again theirs -k mono
same "$dir/perf.data"

# Without -k mono, kontend takes a file as recorded in this boot by the time at which it was finished.
again theirs
last=$(perf script -F time --ns -i "$dir/perf.data" 2>/dev/null | awk 'END { print $1 + 0 }')
now=$(awk '/^now at/ { printf "%.3f", $3 / 1e9; exit }' /proc/timer_list)
wall=$(date +%s.%N)
touch -d "@$(awk -v w="$wall" -v n="$now" -v l="$last" 'BEGIN { printf "%.3f", w - n + l }')" \
	"$dir/perf.data"
enough "$dir/perf.data"
same "$dir/perf.data"
