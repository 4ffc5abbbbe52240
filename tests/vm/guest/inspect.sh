#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Perf events and breakpoint slots on another kernel: every one of a program's is listed, the counts
# are those of the kernel's arithmetic, the doctor's verdicts are what it does. And the two
# capabilities suffice for it.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# These open and close thousands of events. A kernel with PREEMPT_RT waits for all CPUs after each of
# them, where others hurry, which takes a quarter of an hour.
rcu_normal=$(cat /sys/kernel/rcu_normal)
echo 0 >/sys/kernel/rcu_normal
echo 1 >/sys/kernel/rcu_expedited

case_of "events and slots"
gives 0 inspect test-live-inspect /bin/bp-holder
shows inspect '^0 failures$'
lacks inspect '^skipped'
case_of "more events than there is room for"
gives 0 many test-live-inspect-many
case_of "counters of a CPU"
rc=0
test-live-inspect-pmu >pmu 2>&1 || rc=$?
cat pmu
[ "$rc" -eq 0 ] || [ "$rc" -eq 77 ] || complain "test-live-inspect-pmu: exit status $rc"
[ "$rc" -ne 77 ] || skip "$(cat pmu)"
case_of "why a breakpoint gets no slot"
gives 0 enospc test-live-enospc /bin/kontend /bin/bp-holder
shows enospc '^0 failures$'
lacks enospc '^without BPF'

case_of "the kernel's code"
gives 0 ktext test-live-ktext
shows ktext '^/proc/kcore: '

case_of "two capabilities are enough"
mkdir -p /opt
cp /bin/kontend /opt/kontend
filecaps /opt/kontend perfmon bpf
echo 2 >/proc/sys/kernel/perf_event_paranoid
gives 0 user su user -c '/opt/kontend doctor --enospc'
shows user '^Read from the kernel by BPF'

case_of "one is enough to count"
filecaps /opt/kontend perfmon
gives 0 half su user -c '/opt/kontend doctor --enospc'
shows half '^Counted by opening breakpoints'
shows half 'CAP_BPF and CAP_PERFMON'
echo 0 >/sys/kernel/rcu_expedited
echo "$rcu_normal" >/sys/kernel/rcu_normal
finish
