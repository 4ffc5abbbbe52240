#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What kontend shows of this kernel as root: all checks of the doctor, the demo's locks, locks by
# their symbols where the kernel has them, addresses where it withholds them.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# Of a release like 6.12.1+deb13 the signs of regular expressions are its own.
release=$(uname -r | sed 's/[].[+*?]/\\&/g')

case_of "all checks of the doctor"
gives 0 doctor kontend doctor
shows doctor "on Linux $release $(uname -m), [0-9]+ CPUs, user root"
# The library that shows instructions is not in the machine.
shows doctor '^kontend works here, with limits\.$'
lacks doctor '^  (overview|locks|waiters|callers|tasks|types|cpus|slots|contexts|rotation|mmap|uprobes|hot) +(limited|fails)'
shows doctor '^  annotate +limited +.*see instructions$'

case_of demo
gives 0 demo kontend report --duration 2 --demo
shows demo "^# kontend report: all CPUs, kernel $release $(uname -m)"
case_of "locks of a storm"
# shellcheck disable=SC2086 # words
gives 0 storm kontend report $STORM
shows_storm storm

case_of "locks with names"
gives 0 static kontend report --view locks -n 60 -a -- churn 40
if grep -q ' rtnl_mutex$' /proc/kallsyms; then
	shows static "^  $MUTEX +rtnl_mutex "
	shows static '^  [a-z-]+(:[RW])? +(tasklist_lock|cgroup_mutex|proc_subdir_lock) '
else
	echo "this kernel's table has no data symbols (CONFIG_KALLSYMS_ALL is off)"
	shows static "^  $MUTEX +(rtnl_lock[a-z_]*|[a-z_]*register_[a-z_]+) [^ ]{1,3}[0-9a-f]{6} "
fi

case_of "addresses are withheld"
echo 2 >/proc/sys/kernel/kptr_restrict
gives 0 withheld kontend report --view locks -a -- churn 20
shows withheld '^# kernel symbols are withheld: .*kernel.kptr_restrict=0$'
shows withheld "^  $MUTEX +0x[0-9a-f]{16} \(0x[0-9a-f]{16}\) .* ~?0x[0-9a-f]{16}( +(-|~?busybox\+0x[0-9a-f]+))?\$"
lacks withheld 'rtnl_mutex|do_exit'
gives 0 limited kontend doctor
shows limited '^  locks +limited +the table of locks; see names$'
shows limited 'why: addresses are withheld \(kernel.kptr_restrict is 2'
shows limited '^kontend works here, with limits\.$'
echo 0 >/proc/sys/kernel/kptr_restrict

case_of "a cgroup"
# A cgroup has no counters of events before any controller was switched on below the root, which
# another script has done when this one comes later, in the second boot after a machine has died.
mkdir /sys/fs/cgroup/new
if [ ! -e /run/had-controllers ]; then
	gives 1 cgroup kontend report -G /new --duration 0.2
	shows cgroup 'cgroup /new .*No such file or directory.*subtree_control'
fi
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
gives 0 cgroup kontend report -G /new --duration 0.2
finish
