#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Totals per lock type: kontend beside perf, on the same events of the same run. A bounded storm
# makes its threads and stops; perf record and kontend attach to it; it runs and ends. Three sums are
# then compared: kontend's, that of `perf lock contention -i`, and a naive pass over the same perf.data
# that counts nested waits apart (see compare.awk). kontend reads perf's events, too (--no-bpf): some
# kernels drop samples without a word, which perf then has not, and BPF has.
#
#     test-vs-perf.sh KONTEND STORM [THREADS [ROUNDS]]
set -eu

kontend=$1
storm=$2
threads=${3:-8}
rounds=${4:-3000}
here=$(dirname "$0")

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_perf_lock

# perf holds its events open as file descriptors; it is ready when there are enough of them and their
# number no longer grows. kontend prints a line when it is ready.
wait_for_perf() {
	last=0
	for _ in $(seq 600); do
		sleep 0.1
		now=$(find "/proc/$1/fd/" -lname '*perf_event*' 2>/dev/null | wc -l)
		[ "$now" -ge 2 ] && [ "$now" = "$last" ] && return 0
		last=$now
	done
	fail "perf does not open its events"
}

wait_for_kontend() {
	for _ in $(seq 600); do
		! grep -q measuring "$dir/kontend.err" || return 0
		sleep 0.1
	done
	fail "kontend does not begin to measure"
}

# Both observers attach to a storm; their figures are in $dir/all.
observe() {
	"$storm" "$threads" "$rounds" &
	work=$!
	until grep -q '^State:.*T' "/proc/$work/status"; do
		sleep 0.05
	done
	perf record -q -g --kernel-callchains -m 4096 -e lock:contention_begin,lock:contention_end -p "$work" \
		-o "$dir/perf.data" 2>"$dir/perf.err" &
	recorder=$!
	"$kontend" report -v --no-bpf -p "$work" --duration 120 -m 1024 --view locks --by type --format csv \
		>"$dir/kontend.csv" 2>"$dir/kontend.err" &
	observer=$!
	wait_for_perf "$recorder"
	wait_for_kontend
	kill -CONT "$work"
	wait "$work"
	wait "$recorder" || true
	# kontend may have ended with its target.
	kill -INT "$observer" 2>/dev/null || true
	status=0
	wait "$observer" || status=$?
	work=
	recorder=
	observer=
	if [ "$status" != 0 ] && [ "$status" != 130 ]; then
		echo "FAIL kontend report ended with $status"
		cat "$dir/kontend.err"
		exit 1
	fi

	# "type what waits total_ns [nested nested_ns]" of all three
	perf script -i "$dir/perf.data" -G -F pid,tid,time,event,trace --ns 2>/dev/null |
		awk -f "$here/naive.awk" | sed 's/^\([^ ]*\)/\1 naive/' >"$dir/all"
	perf lock contention -i "$dir/perf.data" 2>&1 | awk '
		BEGIN {
			unit["ns"] = 1
			unit["us"] = 1000
			unit["ms"] = 1000000
			unit["s"] = 1000000000
			unit["m"] = 60000000000
		}
		$1 ~ /^[0-9]+$/ { n[$8] += $1; total[$8] += $2 * unit[$3] }
		END { for (t in n) printf "%s perf %d %.0f\n", t, n[t], total[t] }' >>"$dir/all"
	awk -F, '
		NR == 1 { for (k = 1; k <= NF; k++) column[$k] = k; next }
		{ printf "%s kontend %s %s\n", $column["kind"], $column["contended"], $column["total_ns"] }' \
		"$dir/kontend.csv" >>"$dir/all"
}

# The two stamp each event one after the other. A delay between the stamps (an interrupt, a host that
# takes the CPU away, a wait as the storm exits) is in one of the sums and not in the other; it does not
# hit the same type in several storms. A real fault is in each of them.
for turn in 1 2 3 4 5; do
	observe
	if grep -iq lost "$dir/perf.err"; then
		echo "perf lost events in turn $turn"
		continue
	fi
	echo "turn $turn"
	! awk -f "$here/compare.awk" "$dir/all" || exit 0
done
exit 1
