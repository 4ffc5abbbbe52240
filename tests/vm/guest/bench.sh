#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend bench rotation` where there is a PMU that rotates: a line a case, with rotations where
# there are more events than counters; and `kontend bench uprobe` on another architecture.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# cell FILE CASE N: the N-th word after the name.
cell() {
	sed -n "s/^$2 *//p" "$1" | head -n 1 | tr -s ' ' | cut -d ' ' -f "$3"
}

# between LOW N HIGH
between() {
	echo "$@" | awk '{ exit !($2 >= $1 && $2 <= $3) }'
}

case_of "29 events take turns, for a CPU as for a process"
# The first controller that is given on brings perf's with it.
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
gives 0 bench kontend bench rotation --duration 4 --size 12M
cat bench
shows bench '^rotation: 29 events of cycles for each of 2 CPUs, armv8_pmuv3 every 4 ms'
[ "$(cell bench 'no events' 1)" = 0 ] || complain "events without any"
[ "$(cell bench 'no events' 2)" = - ] || complain "rotations without events"
[ "$(cell bench 'no events' 8)" = 1.000x ] || complain "the first case is not what the others are compared with"
for name in system-wide 'per process'; do
	[ "$(cell bench "$name" 1)" = 58 ] || complain "$name: not 29 events for each of 2 CPUs"
	between 225 "$(cell bench "$name" 2)" 275 || complain "$name: not 250 rotations per second"
	between 1.005 "$(cell bench "$name" 8 | tr -d x)" 1.5 || complain "$name: no slowdown"
done

case_of "phases, events for other CPUs, and switches of cgroups"
sed '1,/^phases/d' bench >phases
shows bench '^phases, with a probe in the kernel where they meet$'
[ "$(cell phases system-wide 1)" = 0 ] || complain "system-wide: events for other CPUs"
[ "$(cell phases 'per process' 1)" = 29 ] || complain "per process: not the 29 of the other CPU"
for name in system-wide 'per process' 'by cgroup'; do
	shows phases "^$name +[0-9]+( +[0-9.]+[um]s){4} "
done
[ "$(cell bench 'by cgroup' 1)" = 116 ] || complain "not 29 events for each of 2 CPUs and 2 cgroups"
[ "$(cell phases 'per process' 6)" = - ] || complain "switches of cgroups without any"
shows phases '^by cgroup .* [0-9.]+k? +[0-9.]+[um]s$'
[ -z "$(find /sys/fs/cgroup -name 'kontend-bench*')" ] || complain "a cgroup was left"

case_of "hits of uprobes, and a server that has some"
gives 0 uprobe kontend bench uprobe --duration 1 --kind uprobe-nop,uretprobe-ret,request --cpus 1,2
cat uprobe
for name in uprobe-nop uretprobe-ret; do
	for cpus in 1 2; do
		shows uprobe "^$name +\\( *$cpus cpus\\): +[0-9.]+ ± [0-9.]+M/s "
	done
	shows uprobe "^request-GET $name +: +[0-9.]+ ± +[0-9.]+k/s +[0-9.]+us +[-+][0-9.]+%"
done
shows uprobe '^request-SET no probe +: +[0-9.]+ ± +[0-9.]+k/s +[0-9.]+us$'
shows uprobe '^functions: sampled by a timer: '
finish
