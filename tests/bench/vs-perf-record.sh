#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What recording costs: the same storm recorded by `kontend record` and by `perf record` of the same
# two events with kernel call chains and rings of the same size, system-wide, in turns. A storm ends
# after a number of events that the kernel has counted, so both recorders are given the same. It
# prints, by medians, the CPU time of the recorder while the storm lasts, in all and for each event
# that it has recorded, that from its start to its end, and what it has lost of the events that the
# kernel counted. The last lines are ratios. About two minutes and a half.
#
#     vs-perf-record.sh KONTEND STORM CPU_TIME [TURNS]
set -eu

kontend=$1
storm=$2
cpu_time=$3
turns=${4:-3}

BENCH_DIR=${RECORD_DIR:-/dev/shm}
# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need_perf

# NAME PAGES -z|- THREADS EVENTS PAUSE_US: a storm without a break, and one with breaks in which
# small rings can be emptied. In a long one the symbols, which perf does not record, are little.
cases='512 512 - 32 400000 0
16 16 - 32 400000 0
16-breaks 16 - 16 60000 1000
512-z 512 -z 32 400000 0
long-z 2048 -z 32 1200000 0'

# Until the recorder has come to rest: less than 1 ms of CPU time in 0.3 s.
settle() {
	before=$("$cpu_time" "$observer")
	while :; do
		sleep 0.3
		now=$("$cpu_time" "$observer")
		[ $((now - before)) -ge 1000 ] || return 0
		before=$now
	done
}

# run NAME CASE RECORDER...: "NAME CASE storm_us all_us made recorded bytes" appended to the figures
run() {
	name=$1 case=$2
	shift 2
	rm -f "$dir/cost"
	"$cpu_time" "$dir/cost" "$@" >"$dir/out" 2>"$dir/err" &
	until [ -s "$dir/cost" ]; do
		sleep 0.02
	done
	observer=$(cat "$dir/cost")
	until_opened
	settle
	before=$("$cpu_time" "$observer")
	# shellcheck disable=SC2086 # words
	made=$("$storm" $amount)
	during=$(($("$cpu_time" "$observer") - before))
	kill -INT "$observer"
	wait || true
	observer=
	all=$(tail -n 1 "$dir/cost")
	"$kontend" report -i "$dir/data" --format json --rows 1 >"$dir/report" 2>"$dir/err"
	echo "$name $case $during $all $made $(member events <"$dir/report") $(wc -c <"$dir/data")" \
		>>"$dir/figures"
	rm -f "$dir/data"
}

# both CASE PAGES -z|- THREADS EVENTS PAUSE_US
both() {
	case=$1 pages=$2 z=${3#-} amount="$4 $5 $6"
	[ -z "$z" ] || z=-z
	# shellcheck disable=SC2086 # none or one word
	run kontend "$case" "$kontend" record -a $z -m "$pages" -o "$dir/data"
	# shellcheck disable=SC2086 # none or one word
	run perf "$case" perf record -q -a $z -g --kernel-callchains -k CLOCK_MONOTONIC \
		-m "$pages" -e "$events" -o "$dir/data"
}

"$storm" 4 1000 >/dev/null || skip "no storm: see above"
for _ in $(seq "$turns"); do
	echo "$cases" >"$dir/cases"
	while read -r line; do
		# shellcheck disable=SC2086 # words
		both $line </dev/null
	done <"$dir/cases"
done

awk -v turns="$turns" "$median"'
	!seen[$2]++ { cases[++n_cases] = $2 }
	{
		key = $2 " " $1
		k = ++n[key]
		v[key, "storm", k] = $3
		v[key, "all", k] = $4
		v[key, "made", k] = $5
		v[key, "events", k] = $6
		v[key, "bytes", k] = $7
		v[key, "each", k] = $6 ? 1000 * $3 / $6 : 0
		v[key, "size", k] = $6 ? $7 / $6 : 0
		# Of both recorders some events are of before and after the storm.
		v[key, "lost", k] = $6 < $5 ? 100 * ($5 - $6) / $5 : 0
	}
	function middle(key, what,   k, a) {
		for (k = 1; k <= n[key]; k++)
			a[k] = v[key, what, k]
		return median(a, n[key])
	}
	function ratio(case, what,   b) {
		b = middle(case " perf", what)
		return b ? sprintf("%.2f", middle(case " kontend", what) / b) : "-"
	}
	END {
		printf "%-9s %-8s %10s %10s %12s %8s %9s %10s %10s  (medians of %d)\n", "case", "recorder",
			"made", "recorded", "storm cpu us", "ns/event", "all cpu us", "lost %", "bytes", turns
		split("kontend perf", names, " ")
		for (c = 1; c <= n_cases; c++)
			for (k = 1; k <= 2; k++) {
				key = cases[c] " " names[k]
				printf "%-9s %-8s %10d %10d %12d %8d %10d %9.1f %10d\n", cases[c], names[k],
					middle(key, "made"), middle(key, "events"), middle(key, "storm"),
					middle(key, "each"), middle(key, "all"), middle(key, "lost"),
					middle(key, "bytes")
			}
		for (c = 1; c <= n_cases; c++)
			printf "%s: CPU time kontend / perf: %s while the storm lasts, %s for each event, " \
				"%s from start to end; bytes for each event: %s; lost: %.1f %% / %.1f %%\n", cases[c],
				ratio(cases[c], "storm"), ratio(cases[c], "each"), ratio(cases[c], "all"),
				ratio(cases[c], "size"),
				middle(cases[c] " kontend", "lost"), middle(cases[c] " perf", "lost")
	}' "$dir/figures"
