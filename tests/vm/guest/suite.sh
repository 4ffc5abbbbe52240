#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All benchmarks, twice, for host/suite.sh to compare.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# The first controller that is given on brings perf's with it, for events of cgroups.
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
case_of "the suite runs all that there is"
gives 0 first.json kontend bench suite -q -r 3 --json
for name in uprobe rotation breakpoint page-fault mmap mutex rwsem spinlock futex; do
	shows first.json "\"bench\": \"$name\", \"(case|reason)\""
done
if [ "$(uname -m)" = aarch64 ]; then
	for metric in rotation_p50 schedule_out_p50 schedule_in_p50 events_elsewhere workload; do
		shows first.json "\"bench\": \"rotation\", \"case\": \"per process\", \"metric\": \"$metric\""
	done
	shows first.json '"bench": "rotation", "case": "by cgroup", "metric": "cgroup_switch"'
fi
gives 0 second.json kontend bench suite -q -r 3 --json
cp first.json second.json "$OUT/"
finish
