#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# That each event arrives, compared with counters and with perf's own events: here no sample is missing.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
echo 2 >/proc/sys/kernel/perf_event_paranoid
# A machine whose clock stops while its host is busy has more events in a tick than the kernel allows.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 10000000 >/proc/sys/kernel/perf_event_max_sample_rate
case_of "waits as BPF tells of them, and as perf does"
KONTEND_SLOWNESS=5 gives 0 waits test-live-waitfeed
cat waits
case_of "limits of the source"
gives 0 limits test-live-source-limits
case_of "every event is seen"
# A machine that is interpreted has its CPU time cost several times as much: fewer rounds, too.
KONTEND_SLOWNESS=10 gives 0 source test-live-source
# On PREEMPT_RT threads wait for spinlocks, too, as they exit, when the counters have been read.
more=$(is_rt && echo 8 || echo 0)
awk -v more="$more" '
function wrong_by(n, of) {
	return n < of || n > of + more
}
/^begin .* of / {
	gsub(/,/, "")
	if (++n <= 2 && ($2 == 0 || wrong_by($2, $4) || wrong_by($6, $8))) {
		print "not exact: " $0
		wrong = 1
	}
} END { exit wrong || n < 2 }' source || complain "samples and counters differ"
finish
