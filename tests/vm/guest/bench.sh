#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend bench rotation` where there is a PMU that rotates: a line a case, with rotations where
# there are more events than counters.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# cell FILE CASE N: the N-th word behind the name.
cell() {
	sed -n "s/^$2 *//p" "$1" | tr -s ' ' | cut -d ' ' -f "$3"
}

# between LOW N HIGH
between() {
	echo "$@" | awk '{ exit !($2 >= $1 && $2 <= $3) }'
}

case_of "29 events take turns, for a CPU as for a process"
gives 0 bench kontend bench rotation --duration 1.5 --size 12M
shows bench '^rotation: 29 events of cycles for each of 2 CPUs, armv8_pmuv3 every 4 ms'
[ "$(cell bench 'no events' 1)" = 0 ] || complain "events without any"
[ "$(cell bench 'no events' 2)" = - ] || complain "rotations without events"
[ "$(cell bench 'no events' 8)" = 1.000x ] || complain "the first case is not what the others are compared with"
for name in system-wide 'per process'; do
	[ "$(cell bench "$name" 1)" = 58 ] || complain "$name: not 29 events for each of 2 CPUs"
	between 225 "$(cell bench "$name" 2)" 275 || complain "$name: not 250 rotations per second"
	between 1.005 "$(cell bench "$name" 8 | tr -d x)" 1.5 || complain "$name: no slowdown"
done
finish
