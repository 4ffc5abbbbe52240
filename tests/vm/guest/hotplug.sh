#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPUs that go away and come back while kontend measures. The storm provides the true figures: it
# runs on CPU 2 alone for a known number of rounds.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

cpu() {
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online" || complain "CPU $1 does not take $2"
}

# The CPU's row of a report as JSON has this for KEY.
of_cpu() {
	sed -n "s/.*{\"cpu\": $2, .*\"$3\": \"*\([a-z0-9]*\).*/\1/p" "$1"
}

# How often kontend has gone to sleep: each time it has looked around before.
rounds() {
	cat /proc/"$report"/task/*/status 2>/dev/null |
		awk '/^voluntary_ctxt/ { n += $2 } END { print n + 0 }'
}

# The rings that kontend has mapped: one that was opened again is at another address. None: it ended.
rings() {
	grep perf_event "/proc/$report/maps" 2>/dev/null | cut -d' ' -f1
}

# shellcheck disable=SC2317 # called by eventually
went_round() {
	[ -z "$(rings)" ] || [ "$(rounds)" -ge "$enough" ]
}

# looked: kontend has read the present state, or is at its end.
looked() {
	enough=$(($(rounds) + 20))
	eventually went_round
}

# shellcheck disable=SC2317 # called by eventually
mapped_anew() {
	[ "$(rings)" != "$before" ]
}

# blink: CPU 2 goes away and comes back, and kontend has opened its ring again.
blink() {
	before=$(rings)
	cpu 2 0
	"$@"
	cpu 2 1
	eventually mapped_anew
}

# measure OUTPUT ARGUMENT...: a report in the background, until `reported`; returns when it measures.
measure() {
	output=$1
	shift
	: >started
	kontend report -v -j --view overview "$@" >"$output" 2>started &
	report=$!
	eventually grep -q measuring started
	looked
}

# reported OUTPUT: the report in the background ends, with its target or by the signal that a
# background job does not ignore, and has seen all that it could.
reported() {
	looked
	kill -TERM "$report" 2>/dev/null || true
	rc=0
	wait "$report" || rc=$?
	[ "$rc" -eq 143 ] || [ "$rc" -eq 0 ] || complain "$1: exit status $rc: $(cat started)"
	grep -E '"(duration_ns|events|lost|dropped|unmatched|doubtful|bad|late)"|"cpu":' "$1"
	shows "$1" '"lost": 0,'
	shows "$1" '"bad": 0,'
	shows "$1" '"late": 0,'
}

busy() {
	taskset -c "$1" storm 6 "$2" go
}

# storms: one after the other on CPUs 1 and 2, until `calm`. It may take longer to begin to measure than a
# storm lasts.
storms() {
	rm -f enough
	while [ ! -e enough ]; do
		taskset -c 1,2 storm 6 20 go
	done &
	storm=$!
}

calm() {
	: >enough
	wait "$storm"
}

case_of "it goes away and stays away"
measure gone
cpu 2 0
busy 1 20
reported gone
[ "$(of_cpu gone 2 state)" = offline ] || complain "CPU 2 is not shown as offline"
[ "$(of_cpu gone 1 state)" = online ] || complain "CPU 1 is not shown as online"
[ "$(of_cpu gone 1 contended)" -gt 10 ] || complain "CPU 1 was not measured any more"
gives 0 without kontend report --duration 0.3 --view overview
gives 1 asked kontend report --duration 0.3 -C 2
shows asked 'CPU 2 is not online: choose from 0-1'
cpu 2 1

case_of "it comes back and is busy then"
measure back
blink looked
busy 2 20
reported back
[ "$(of_cpu back 2 state)" = online ] || complain "CPU 2 is not shown as back"
[ "$(of_cpu back 2 contended)" -gt 10 ] || complain "CPU 2 is not measured after it came back"

case_of "it is away and back between two looks"
measure blink
kill -STOP "$report"
before=$(rings)
cpu 2 0
cpu 2 1
kill -CONT "$report"
eventually mapped_anew
busy 2 20
reported blink
[ "$(of_cpu blink 2 state)" = online ] || complain "CPU 2 is not shown as back"
[ "$(of_cpu blink 2 contended)" -gt 10 ] || complain "CPU 2 is not measured after a blink"

case_of "a recording: its events are opened anew into a ring that is written to the file"
kontend record -v -a -o recording 2>started &
report=$!
eventually grep -q 'recording .* rings' started
blink
looked # the ring of a CPU that is away is gone as well: that alone does not say that it is back
busy 2 20
kill -TERM "$report"
rc=0
wait "$report" || rc=$?
[ "$rc" -eq 143 ] || complain "the recording: exit status $rc: $(cat started)"
kontend report -j --view overview -i recording >recorded 2>started ||
	complain "the recording does not replay: $(cat started)"
[ "$(of_cpu recorded 2 state)" = online ] || complain "CPU 2 is not recorded as back"
[ "$(of_cpu recorded 2 contended)" -gt 10 ] || complain "CPU 2 is not recorded after it came back"
shows recorded '"bad": 0,'

case_of "it goes and comes below a storm"
storms
measure storm
for _ in 1 2 3 4; do
	blink
done
reported storm
calm
shows storm '"doubtful": 0,'
[ "$(of_cpu storm 1 contended)" -gt 10 ] || complain "the storm was not measured"

case_of "the same by perf's events, of which some are missing"
storms
measure events --no-bpf
for _ in 1 2; do
	blink
done
reported events
calm
[ "$(of_cpu events 1 contended)" -gt 10 ] || complain "the storm was not measured"
[ "$(of_cpu events 2 contended)" -gt 10 ] || complain "CPU 2 is not measured after it came back"

case_of "a process is measured on a CPU that came back"
storm 6 20 &
storm=$!
eventually grep -q '^State:.T' "/proc/$storm/status"
measure process -p "$storm"
cpu 2 0
looked
cpu 2 1
looked
taskset -a -p 4 "$storm" >/dev/null
kill -CONT "$storm"
wait "$storm"
reported process
[ "$(of_cpu process 2 contended)" -gt 10 ] || complain "a process is not measured on CPU 2"

case_of "with a command that ends, and by cgroup"
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/one
measure cgroup -G /one
blink looked
sh -c 'echo $$ >/sys/fs/cgroup/one/cgroup.procs; exec taskset -c 2 storm 6 20 go'
reported cgroup
[ "$(of_cpu cgroup 2 contended)" -gt 10 ] || complain "the cgroup is not measured on CPU 2"
cpu 2 0
gives 0 command kontend report --view overview -- storm 4 30 go
cpu 2 1
finish
