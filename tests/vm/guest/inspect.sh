#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Perf events and breakpoint slots on another kernel: every one of a program's is listed, the counts
# are those of the kernel's arithmetic, the doctor's verdicts are what it does. And the two
# capabilities suffice for it.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "events and slots"
gives 0 inspect test-live-inspect /bin/bp-holder
shows inspect '^0 failures$'
lacks inspect '^skipped'
case_of "why a breakpoint gets no slot"
gives 0 enospc test-live-enospc /bin/kontend /bin/bp-holder
shows enospc '^0 failures$'
lacks enospc '^without BPF'

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
finish
