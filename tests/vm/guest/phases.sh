#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The two phases of a rotation, and what a switch to another cgroup costs, on a machine with
# counters, beside measurements that were written for this test alone.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# number FILE KEY: of the first row of phases, the CPU that has had most of it.
number() {
	sed -n '/"phases"/,$p' "$1" | grep -o "\"$2\": [0-9.]*" | head -n 1 | sed 's/.*: //'
}

# truth FILE KEY
truth() {
	sed -n "s/.*$2=\([0-9]*\).*/\1/p" "$1"
}

case_of "a machine with nothing to rotate has no phases"
gives 0 none kontend report --format json --duration 1 --phases --view rotation
turn=$(sed -n 's/.*"parted_at": "\([a-z_.0-9]*\)".*/\1/p' none)
grep -qE "^[0-9a-f]+ t ${turn:-nothing}\$" /proc/kallsyms || complain "$turn is no function of the kernel"
shows none '"none": null'
lacks none '"rotations": [1-9]'
gives 0 unasked kontend report --format json --duration 1 --view rotation
shows unasked '"none": "not asked for: --phases"'

for n in 20 100; do
	case_of "$n events of each CPU: out, and in again"
	load loaded mux-load "$n" cpu 1000
	gives 0 truth mux-truth perf_mux_hrtimer_handler 0.5 "$turn"
	gives 0 "phases.$n" kontend report --format json --duration 1.5 --phases --view rotation
	[ "$n" -eq 20 ] || gives 0 text kontend report --duration 1 --phases --view rotation
	unload
	cat truth
	for phase in out in; do
		p50=$(number "phases.$n" ${phase}_p50_ns)
		echo "$phase: $p50 ns, by itself $(truth truth ${phase}_p50_ns) ns"
		within 15 "$p50" "$(truth truth ${phase}_p50_ns)" ||
			complain "$phase takes $p50 ns, not $(truth truth ${phase}_p50_ns)"
	done
	[ "$(number "phases.$n" rotations)" -gt 100 ] || complain "no rotations"
	[ "$n" -eq 20 ] || shows text '^# phases of rotation, separated at [a-z_.0-9]+:$'
	[ "$n" -eq 20 ] || shows text '^#   cpu [01]: scheduling out [0-9.]+us \(p99 [0-9.]+[um]s\), in [0-9.]+us \(p99 [0-9.]+[um]s\), of [0-9.]+k? rotations$'
done

case_of "events of a task for other CPUs are not eligible here"
load loaded mux-load 20 one 1000
gives 0 task kontend report --format json --duration 1 --phases --no-switches --view rotation
gives 0 contexts kontend report --format json --duration 1 --view contexts
unload
shows task '"events": 20, "elsewhere": 20,'
shows contexts '"events": 40, .*"elsewhere": 20,'

# Each cgroup has its events on CPU 0, where the pair runs.
case_of "a switch to another cgroup"
# The first controller that is given on brings perf's with it.
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/some/one /sys/fs/cgroup/some/other
for n in 0 20; do
	gives 0 "pair.$n" switch-pair "$n" 0.5 /sys/fs/cgroup/some/one /sys/fs/cgroup/some/other
	cat "pair.$n"
done
load pair switch-pair 20 1000 /sys/fs/cgroup/some/one /sys/fs/cgroup/some/other
gives 0 switches kontend report --format json --duration 1.5 --phases --no-switches --view rotation
gives 0 text kontend report --duration 1 --phases --no-switches --view rotation
gives 0 events kontend report --format json --duration 1 --view events
gives 0 contexts kontend report --format json --duration 1 --view contexts --by cgroup
unload
grep '^#' text
avg=$(number switches cgroup_switch_avg_ns)
truth=$(($(truth pair.20 switch_ns) - $(truth pair.0 switch_ns)))
echo "$avg ns, by the clock $truth ns more than without events"
within 30 "$avg" "$truth" || complain "a switch takes $avg ns, not $truth"
for path in /some/one /some/other; do
	shows switches "\"path\": \"$path\", \"id\": [0-9]+, \"events\": 20, \"switches_to\": [1-9][0-9]*,"
	shows text "^# cgroup $path: 20 events, [0-9.]+k? switches to it, [0-9.]+us each, [0-9.]+k? from it, [0-9.]+us each$"
	shows events "\"target\": \"cgroup $path\","
	shows contexts "\"context\": \"cgroup $path\", .*\"events\": 20, .*\"contexts\": 1,"
done

case_of "a recording of it"
load loaded mux-load 20 cpu 1000
load pair switch-pair 5 1000 /sys/fs/cgroup/some/one /sys/fs/cgroup/some/other
gives 0 record kontend record --phases -o "$OUT/phases.data" --duration 3
unload
finish
