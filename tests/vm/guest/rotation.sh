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

truth() {
	gives 0 "$1" mux-truth perf_mux_hrtimer_handler 0.3
	truth=$(sed -n 's/.* p50_ns=\([0-9]*\).*/\1/p' "$1")
}

# right_cost FILE: of a rotation.
right_cost() {
	p50=$(value "$1" p50_ns)
	echo "p50 $p50 ns, by itself $truth ns"
	within 2 "$p50" "$truth" || complain "a rotation takes $p50 ns, not $truth"
}

case_of "a PMU that rotates is there, and has no need to"
gives 0 none kontend report --format json --duration 1 --view rotation
shows none '"pmus": 1'
shows none '"rotations": 0'
shows none 'the events fit into the counters'

case_of "7 events fit"
load loaded mux-load 7 cpu 1000
gives 0 few kontend report --format json --duration 1 --view rotation
shows few '"rotations": 0'
unload
shows loaded 'running_pct=100.000'

for n in 8 20 100 272; do
	case_of "$n events of each CPU take turns"
	load loaded mux-load "$n" cpu 1000
	truth "truth.$n"
	gives 0 "rotation.$n" kontend report --format json --duration 1.5 --view rotation
	right_cost "rotation.$n"
	per_s=$(value "rotation.$n" rotations_per_s)
	within 10 "$per_s" 250 || complain "$per_s rotations per second, not 250"
	shows "rotation.$n" "\"events\": $n,"
	shows "rotation.$n" '"owners": \["mux-load/.*"owner_kinds": \["cpu-wide"\]'
	unload
done

case_of "20 events for each CPU of a process take turns"
load loaded mux-load 20 one 1000
truth truth.task
gives 0 task kontend report --format json --duration 1.5 --no-switches --view rotation
right_cost task
shows task '"events": 20,'
shows task '"owners": \["mux-load/.*"owner_kinds": \["per task"\]'
unload

case_of "the load changes while it is measured"
kontend report --format json --duration 9 --no-switches --view rotation >changing &
pid=$!
# One for signals is there from the first moment; the one that takes from the rings when all is open.
eventually sh -c "[ \$(ls /proc/$pid/task | wc -l) -gt 2 ]"
for n in 8 20 100; do
	load loaded mux-load "$n" cpu 1000
	sleep 2.3
	unload
done
wait "$pid"
grep '"of"' changing
for n in 8 20 100; do
	p50=$(sed -n "s/.*\"rotation\", \"cpu\": 1, \"events\": $n,.*\"p50_ns\": \([0-9]*\).*/\1/p" changing)
	truth=$(sed -n 's/.* p50_ns=\([0-9]*\).*/\1/p' "truth.$n")
	within 2 "$p50" "$truth" || complain "a rotation of $n events takes $p50 ns, not $truth"
done
[ "$(grep -c '"of": "rotation"' changing)" -eq 6 ] || complain "there are other numbers of events"
lacks changing '"changed": 0,'

case_of "a recording of it"
load loaded mux-load 20 cpu 1000
gives 0 record kontend record -o "$OUT/rotation.data" --duration 3
unload
kontend report -i "$OUT/rotation.data" --format json --view rotation >"$OUT/rotation.json"
shows "$OUT/rotation.json" '"owners": \["mux-load/'
shows "$OUT/rotation.json" '"of": "rotation", "cpu": 1, "events": 20,'
finish
