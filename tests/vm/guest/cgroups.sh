#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Switches to tasks of other cgroups, and the cgroups whose events they switch, on a machine that may
# have no counters at all: the events, the tasks and the places that are counted; not their time.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "switches between two cgroups that have events"
# The first controller that is given on brings perf's with it.
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/some/one /sys/fs/cgroup/some/other
load pair switch-pair 5 1000 /sys/fs/cgroup/some/one /sys/fs/cgroup/some/other
gives 0 switches kontend report --format json --duration 2 --phases --view rotation
gives 0 text kontend report --duration 1 --phases --view rotation
gives 0 contexts kontend report --format json --duration 1 --view contexts --by cgroup
unload
grep '^#' text
shows switches '"no_cgroup_switches": null'
for path in /some/one /some/other; do
	shows switches "\"path\": \"$path\", \"id\": [0-9]+, \"events\": 5, \"switches_to\": [1-9][0-9]*, \"to_total_ns\": [1-9]"
	shows text "^# cgroup $path: 5 events, [0-9.]+k? switches to it, "
	shows contexts "\"context\": \"cgroup $path\", .*\"events\": 5,"
done
# There are as many to one as from it, but for the first and the last.
to=$(sed -n 's/.*"path": "\/some\/one".*"switches_to": \([0-9]*\).*/\1/p' switches)
from=$(sed -n 's/.*"path": "\/some\/one".*"switches_from": \([0-9]*\).*/\1/p' switches)
echo "$to to it, $from from it"
case $((to - from)) in
-1 | 0 | 1) ;;
*) complain "not as many to it as from it" ;;
esac

case_of "without events of cgroups there is nothing to switch"
load pair switch-pair 0 1000 /sys/fs/cgroup/some/one /sys/fs/cgroup/some/other
gives 0 none kontend report --format json --duration 1 --phases --view rotation
unload
lacks none '"switches_to": [1-9]'
finish
