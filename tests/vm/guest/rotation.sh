#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What it costs that events take turns on counters, on a machine that has some: beside a measurement
# that was written for this test alone, and for as many events as it takes, or not.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# value FILE KEY: the number of the first row.
value() {
	sed -n '/"rows"/,$p' "$1" | grep -o "\"$2\": [0-9.]*" | head -n 1 | sed 's/.*: //'
}

# within PERCENT ONE OTHER
within() {
	echo "$1 $2 $3" | awk '{ d = $2 > $3 ? $2 - $3 : $3 - $2; exit !($3 > 0 && d * 100 <= $3 * $1) }'
}

load() {
	mux-load "$1" cpu 1000 >loaded &
	pid=$!
	eventually grep -q ready loaded
}

unload() {
	kill "$pid"
	wait "$pid"
	cat loaded
}

case_of "a PMU that rotates is there, and has no need to"
cat /sys/bus/event_source/devices/*/perf_event_mux_interval_ms
gives 0 none kontend report --format json --duration 1 --view rotation
shows none '"pmus": 1'
shows none '"rotations": 0'
shows none 'the events fit into the counters'

case_of "4 events fit"
load 4
gives 0 few kontend report --format json --duration 1 --view rotation
shows few '"rotations": 0'
unload
shows loaded 'running_pct=100.000'

for n in 8 20 100 272; do
	case_of "$n events take turns"
	load "$n"
	gives 0 truth mux-truth perf_mux_hrtimer_handler 0.5
	gives 0 "rotation-$n" kontend report --format json --duration 1.5 --view rotation
	truth=$(sed -n 's/.* p50_ns=\([0-9]*\).*/\1/p' truth)
	p50=$(value "rotation-$n" p50_ns)
	per_s=$(value "rotation-$n" rotations_per_s)
	echo "p50 $p50 ns, by itself $truth ns; $per_s per second"
	within 2 "$p50" "$truth" || complain "a rotation takes $p50 ns, not $truth"
	within 10 "$per_s" 250 || complain "$per_s rotations per second, not 250"
	shows "rotation-$n" "\"events\": $n,"
	shows "rotation-$n" '"owners": \["mux-load/'
	unload
done

case_of "a recording of it"
load 20
gives 0 record kontend record -o "$OUT/rotation.data" --duration 1.5
unload
kontend report -i "$OUT/rotation.data" --format json --view rotation >"$OUT/rotation.json"
shows "$OUT/rotation.json" '"owners": \["mux-load/'
finish
