#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An ordinary user: the messages without rights, and that the capabilities named in them are
# enough. Kernels of Debian know a perf_event_paranoid of 3, at which they are not.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

mkdir -p /opt
cp /bin/kontend /opt/kontend
as_user() {
	su user -c "$*"
}

case_of "without rights"
gives 1 plain as_user /opt/kontend report --duration 0.1
shows plain "^kontend: Only root may read .*setcap cap_perfmon,cap_bpf,cap_dac_read_search,cap_syslog,cap_sys_ptrace,cap_ipc_lock.ep /opt/kontend'$"
gives 1 plain as_user /opt/kontend doctor
shows plain 'fix: sudo setcap cap_perfmon,cap_bpf,cap_dac_read_search,cap_syslog,cap_sys_ptrace,cap_ipc_lock.ep /opt/kontend$'
shows plain '^kontend cannot measure here'

case_of "a kernel for root only"
filecaps /opt/kontend perfmon bpf dac_read_search syslog sys_ptrace ipc_lock
echo 3 >/proc/sys/kernel/perf_event_paranoid
if as_user /opt/kontend report --duration 0.1 >paranoid 2>&1; then
	skip "this kernel's perf_event_paranoid has no level for root only"
else
	shows paranoid "^kontend: .*perf_event_paranoid is 3, .*only root.*perf_event_paranoid=2'"
	gives 1 paranoid as_user /opt/kontend doctor
	shows paranoid 'fix: sudo sysctl kernel.perf_event_paranoid=2$'
fi

case_of "all capabilities"
echo 2 >/proc/sys/kernel/perf_event_paranoid
gives 0 doctor as_user /opt/kontend doctor
shows doctor 'user user \(1000\)$'
# The library that shows instructions is not in the machine.
shows doctor '^kontend works here, with limits\.$'
lacks doctor '^  (overview|locks|waiters|callers|tasks|types|cpus|slots|contexts|rotation|mmap|uprobes|hot) +(limited|fails)'
shows doctor '^  annotate +limited +.*see instructions$'
gives 0 storm as_user /opt/kontend report "$STORM"
shows_storm storm

case_of "without cap_ipc_lock rings are smaller, without cap_syslog there are no names"
filecaps /opt/kontend perfmon bpf dac_read_search
echo 64 >/proc/sys/kernel/perf_event_mlock_kb
gives 0 small as_user "ulimit -l 0; /opt/kontend report --duration 0.3"
shows small '^kontend: Rings of [0-9]+ KiB a CPU instead of [0-9]+ KiB'
shows small '^# kernel symbols are withheld'
gives 0 small as_user "ulimit -l 0; /opt/kontend doctor"
shows small '^  rings +limited'
shows small '^  names +limited'
finish
