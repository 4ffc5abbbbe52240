#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What recording costs: the same bounded storm recorded by `kontend record` and by `perf record` of
# the same two events with kernel call chains and rings of the same size, system-wide, in turns. It
# prints the CPU time of the recorder while the storm lasts and from start to end, and the events
# that were lost, by medians, with rings of each size and packed (-z); the last lines are the ratios.
# How many events a storm makes depends on what else the machine does: so there is the CPU time for
# each event that was recorded, too, of all turns together, and losses are compared by their share.
#
#     vs-perf-record.sh KONTEND STORM [TURNS [THREADS [ROUNDS]]]
set -eu

kontend=$1
storm=$2
turns=${3:-5}
threads=${4:-16}
rounds=${5:-400000}

BENCH_DIR=${RECORD_DIR:-/dev/shm}
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_root recording
command -v perf >/dev/null || skip "perf is not installed"

# member NAME: a number of the JSON report on standard input
member() {
	sed -n "s/.*\"$1\": *\\([0-9]*\\).*/\\1/p" | head -n 1
}

# run NAME CASE RECORDER...: "NAME CASE storm_us all_us events lost bytes" appended to the figures
run() {
	name=$1
	case=$2
	shift 2
	begin "$name" "$@"
	before=$(cpu_us)
	"$storm" "$threads" "$rounds"
	during=$(($(cpu_us) - before))
	middle=$(children_us)
	end
	all=$(($(children_us) - middle))
	"$kontend" report -i "$dir/data" --format json --rows 1 >"$dir/report" 2>"$dir/err"
	echo "$name $case $during $all $(member events <"$dir/report")" \
		"$(member lost <"$dir/report") $(wc -c <"$dir/data")" >>"$dir/figures"
	rm -f "$dir/data"
}

for _ in $(seq "$turns"); do
	for case in 512 16 512-z; do
		pages=${case%-z}
		z=${case#"$pages"}
		# shellcheck disable=SC2086 # none or one word
		run kontend "$case" "$kontend" record -a $z -m "$pages" -o "$dir/data"
		# shellcheck disable=SC2086 # none or one word
		run perf "$case" perf record -q -a $z -g --kernel-callchains -k CLOCK_MONOTONIC \
			-m "$pages" -e "$events" -o "$dir/data"
	done
done

awk -v turns="$turns" "$median"'
	{
		key = $2 " " $1
		n[key]++
		for (f = 3; f <= 7; f++)
			v[key, f, n[key]] = $f
	}
	function middle(key, f,   k, a) {
		for (k = 1; k <= n[key]; k++)
			a[k] = v[key, f, k]
		return median(a, n[key])
	}
	function total(key, f,   k, t) {
		for (k = 1; k <= n[key]; k++)
			t += v[key, f, k]
		return t
	}
	function share(key,   all) {
		all = total(key, 5) + total(key, 6)
		return all ? 100 * total(key, 6) / all : 0
	}
	# CPU time in ns for an event that was recorded.
	function each(key) {
		return total(key, 5) ? 1000 * total(key, 3) / total(key, 5) : 0
	}
	END {
		printf "%-8s %6s %14s %10s %12s %10s %10s %12s  (medians of %d)\n", "recorder",
			"pages", "storm cpu us", "ns/event", "all cpu us", "events", "lost", "bytes", turns
		n_cases = split("512 16 512-z", cases, " ")
		split("kontend perf", names, " ")
		for (s = 1; s <= n_cases; s++)
			for (k = 1; k <= 2; k++) {
				key = cases[s] " " names[k]
				printf "%-8s %6s %14d %10d %12d %10d %10d %12d\n", names[k], cases[s],
					middle(key, 3), each(key), middle(key, 4), middle(key, 5),
					middle(key, 6), middle(key, 7)
			}
		for (s = 1; s <= n_cases; s++) {
			a = cases[s] " kontend"
			b = cases[s] " perf"
			printf "%s pages: CPU time kontend / perf: %.2f from start to end", cases[s],
				middle(a, 4) / middle(b, 4)
			printf ", %.2f while the storm lasts, %.2f for each event; lost: %.1f %% / %.1f %%\n",
				middle(a, 3) / middle(b, 3), each(b) ? each(a) / each(b) : 0,
				share(a), share(b)
		}
	}' "$dir/figures"
