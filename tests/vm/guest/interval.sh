#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Another interval of rotation for the length of a session: it is in force meanwhile, and the old one
# is back afterwards, however the session ends.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

interval=/sys/bus/event_source/devices/armv8_pmuv3/perf_event_mux_interval_ms

is_set_to() {
	[ "$(cat $interval)" = "$1" ]
}

is_back() {
	is_set_to 4 || complain "the interval is $(cat $interval)"
	! ls /run/kontend/mux-interval.* 2>listed || complain "there is a note left"
}

# begin MS: a session in the background, $pid.
begin() {
	kontend report --set-mux-interval "armv8_pmuv3=$1" --view rotation >said 2>&1 &
	pid=$!
	eventually is_set_to "$1"
}

# per_s FILE: of the first row.
per_s() {
	sed -n '/"rows"/,$p' "$1" | sed -n 's/.*"rotations_per_s": \([0-9]*\).*/\1/p' | head -n 1
}

mkdir -p /run
mux-load 20 cpu 1000 >loaded &
load=$!
eventually grep -q ready loaded

case_of "twice the interval is half the rotations"
is_set_to 4 || complain "the interval is $(cat $interval) to begin with"
gives 0 report kontend report -j --duration 1.5 --view rotation --set-mux-interval armv8_pmuv3=8
shows report '"interval_ms": 8,'
n=$(per_s report)
case $n in
11[3-9] | 12? | 13[0-7]) ;;
*) complain "$n rotations per second, not 125" ;;
esac
is_back

case_of "a signal ends it, and the interval is back"
begin 16
kill -TERM "$pid"
wait "$pid"
is_back

case_of "two at once keep the first interval"
begin 8
first=$pid
begin 16
kill -INT "$first"
wait "$first"
is_set_to 16 || complain "the end of the first has set $(cat $interval)"
kill -INT "$pid"
wait "$pid"
is_back

case_of "a failure on the way leaves nothing"
gives 1 failed kontend record -o /nowhere/data --duration 1 --set-mux-interval armv8_pmuv3=8
gives 1 failed kontend report --duration 1 --set-mux-interval software=8
shows failed 'software never rotates'
gives 1 failed kontend report --duration 1 --set-mux-interval nothing=8
shows failed 'no PMU nothing; those that rotate here: armv8_pmuv3'
gives 129 failed kontend report --duration 1 --set-mux-interval armv8_pmuv3=0
is_back

case_of "who is killed leaves a note, and the doctor repairs"
begin 8
kill -KILL "$pid"
wait "$pid"
is_set_to 8 || complain "the interval is $(cat $interval)"
gives 0 sick kontend doctor
shows sick "armv8_pmuv3 rotates every 8 ms, and not 4, since kontend $pid was killed"
shows sick 'kontend doctor --repair'
gives 0 next kontend report --duration 0.1 --view rotation
shows next "and not 4, since kontend $pid was killed"
gives 0 repaired kontend doctor --repair
shows repaired 'armv8_pmuv3 rotates every 4 ms again, and not 8'
is_back
gives 0 well kontend doctor -v
shows well 'intervals +works'

kill "$load"
wait "$load"
finish
