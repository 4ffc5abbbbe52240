#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What events of tasks add to context switches and to the timer tick, on a machine with counters,
# beside measurements that were written for this test alone; and how much of their time they count,
# beside what their owner reads. One session of kontend sees several loads at once.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# cost FILE WHAT CPU EVENTS: the median of a point.
cost() {
	sed -n "s/.*\"of\": \"$2\", \"cpu\": $3, \"events\": $4,.*\"p50_ns\": \([0-9]*\).*/\1/p" "$1" |
		head -n 1
}

# direct N: a switch of a pair with so many events each, by the clock.
direct() {
	sed -n 's/.* switch_ns=//p' "pair.$1"
}

# By the clock a pair alone, as others would disturb it; by kontend all of them at once: a switch
# between two with N events each is one of 2 N. Half a round takes one of two times, 6 us apart, as
# waking up does; so the clock is asked about many events, and can be wrong by 6 %.
case_of "switches of tasks with 0, 7, 20 and 100 events each"
for n in 0 100; do
	gives 0 "pair.$n" switch-pair "$n" 0.4
done
for n in 0 7 20 100; do
	load "all.$n" switch-pair "$n" 1000
done
gives 0 switches kontend report --format json --duration 1.05 --switches 300ms --view rotation
unload
plain=$(cost switches switch 0 0) before=0
for n in 7 20 100; do
	ns=$(cost switches switch 0 $((2 * n)))
	added=$((ns - plain))
	echo "$n events add $added ns"
	[ "$added" -gt "$before" ] || complain "no more than fewer events do"
	before=$added
done
truth=$(($(direct 100) - $(direct 0)))
echo "by the clock $truth ns"
within 10 "$added" "$truth" || complain "100 events add $added ns to a switch, not $truth"
shows switches '"source": "PERF_RECORD_SWITCH_CPU_WIDE"'

case_of "switches without any event are seen by who asks for them"
load pair.none switch-pair 0 1000
gives 0 none kontend report --format json --duration 1.05 --switches 100ms --view rotation
gives 0 unasked kontend report --format json --duration 1.05 --view rotation
unload
within 5 "$(cost none switch 0 0)" "$plain" || complain "they are not the baseline of others"
lacks none '"loaded": [1-9]'
shows unasked '"bursts": 0,'

tick() {
	gives 0 "$1" mux-truth tick_sched_timer 0.2
	truth=$(sed -n 's/.* p50_ns=\([0-9]*\).*/\1/p' "$1")
}

# One busy task with 200 descriptors, one with 800, one with none: on the last CPU by turns.
case_of "the tick grows with events that sample at a frequency"
load tick.load mux-load 0 one 1000
tick tick.plain
plain=$truth
unload
load tick.200 mux-load 100 one 1000 50
tick tick.truth
echo $((truth - plain)) >grow.200
unload
load tick.800 mux-load 400 one 1000 50
tick tick.truth
echo $((truth - plain)) >grow.800
load tick.200 mux-load 100 one 1000 50
load tick.load mux-load 0 one 1000
gives 0 ticks kontend report --format json --duration 2.05 --tick --no-switches --view rotation
unload
for n in 200 800; do
	truth=$(cat "grow.$n")
	ns=$(sed -n "s/.*\"cpu\": 1, \"idle\": false, \"events\": $n,.*\"growth_ns\": \([0-9]*\).*/\1/p" ticks)
	echo "$n events add $ns ns to the tick, by itself $truth"
	within 5 "$ns" "$truth" || complain "$n events add $ns ns to the tick, not $truth"
done

case_of "the tick of a CPU that has had such events all the time has no baseline"
load tick.cpu mux-load 20 cpu 1000 50
gives 0 all kontend report --format json --duration 1.05 --tick --no-switches --view rotation
gives 0 text kontend report --duration 1.05 --tick --no-switches --view rotation
unload
shows all '"plain_p50_ns": null, "growth_ns": null'
lacks all '"growth_ns": [0-9]'
shows text 'their cost is not known, as no tick was without them'

# share FILE KEY: of the events of mux-load, on average.
share() {
	grep '"owner_pid": '"$2", "$1" | grep -o '"counted_pct": [0-9.]*' |
		awk '{ n++; s += $2 } END { if (n) printf "%.3f\n", s / n }'
}

case_of "an event counts for the share of its time that its owner reads"
load owner mux-load 20 cpu 1000
owner=$!
gives 0 shares kontend report --format json --duration 1.05 --view contexts
unload
truth=$(sed -n 's/.*running_pct=//p' owner)
pct=$(share shares "$owner")
echo "$pct %, its owner reads $truth %"
within 2 "$pct" "$truth" || complain "its events count for $pct %, not $truth %"
shows shares '"rotating": true'
finish
