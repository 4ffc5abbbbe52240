#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend report` from end to end: what ends it, the exit status, where the output goes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_root

# How much the demo contends depends on what else the machine does.
for seconds in 1 2 5 10 20; do
	expect 0 '' "$kontend" report --duration $seconds --demo
	! grep -q '^ *rwsem:W' "$work/out" || break
done
prints '^# kontend report: all CPUs'
prints '^ *rwsem:W'
expect 0 '' "$kontend" report --duration 300ms --demo --view locks --format csv -x ';'
prints '(^|;)total_ns(;|$)'
expect 0 '' "$kontend" report --duration 300ms --demo -j
prints '"schema": "kontend.report/2"'
python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert r["source"]["kind"] == "live", r["source"]
assert r["source"]["duration_ns"] >= 300000000, r["source"]
assert isinstance(r["views"]["locks"]["rows"], list)
assert isinstance(r["views"]["waiters"]["rows"], list)' "$work/out" ||
	complain "the JSON report is not as promised"

# The other names of lock types mean the same.
expect 0 '' "$kontend" report --duration 100ms --view locks --filter 'rtmutex percpu-rwsem'

# The measured command's own status; its words are left alone.
expect 0 '' "$kontend" report --quiet -- true
expect 7 '' "$kontend" report -- sh -c 'exit 7'
# shellcheck disable=SC2016 # expanded by the command
expect 137 '' "$kontend" report -- sh -c 'kill -9 $$'
expect 0 '' "$kontend" report --view locks -- sh -c 'echo hello'
prints '^hello$'
prints '^# kontend report: sh -c echo hello'
expect 0 '' "$kontend" report -a --view locks -- sleep 0.1
prints '^# kontend report: all CPUs'
expect 0 '' "$kontend" report --duration 300ms -- sleep 100
expect 0 '' "$kontend" report --duration 100ms -p $$ -C 0
prints "^# kontend report: pid $$ on cpu 0"
expect 0 '' "$kontend" report --duration 100ms -t $$

# Waiting comes before measuring, and a signal ends it.
expect 0 '' "$kontend" report --start-after 200ms --duration 100ms --view locks
prints '^# measured 1'
expect 124 'nothing was measured' timeout -s INT 0.5 "$kontend" report --start-after 1h --duration 1
expect 129 'start-after does not apply to a command' "$kontend" report --start-after 1 -- true
expect 0 '' "$kontend" report --start-at /2s --duration 100ms --view locks
prints '^# measured 1'
expect 124 'nothing was measured' timeout -s INT 0.5 "$kontend" report --start-at /24h --duration 1
expect 129 'start-at does not apply to a command' "$kontend" report --start-at /2s -- true
expect 129 'exclude each other' "$kontend" report --start-at /2s --start-after 1 --duration 1
expect 129 'is no time to start at, like 14:30' "$kontend" report --start-at noon --duration 1
expect 1 'is past: it is 20' "$kontend" report --start-at '2001-01-01 12:00' --duration 1

# Views of the present state take one snapshot; all others measure until the user ends them.
expect 0 '' timeout 60 "$kontend" report --view slots
prints '^# slots: '
expect 0 '' timeout 60 "$kontend" report --view contexts,events,holders -j
prints '"contexts"'
expect 0 '' timeout 60 "$kontend" report --view slots --duration 300ms -j
python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["source"]["duration_ns"] >= 300000000' "$work/out" ||
	complain "slots with --duration were not measured that long"
expect 124 '' timeout 3 "$kontend" report --view slots,locks

# -m is about the rings of waits too where BPF writes these, from 64 KiB to 2 MiB.
expect 0 '' "$kontend" report --duration 100ms -m 64
run "$kontend" report --duration 100ms -m 2
if "$kontend" doctor -v | grep -qE '^  bpf +works'; then
	grep -q 'BPF writes waits into rings of 64 KiB a CPU, not of 8 KiB' "$work/err" ||
		complain "rings of 64 KiB are not mentioned: $(cat "$work/err")"
fi
expect 0 '' "$kontend" report --duration 100ms -m 64 --no-bpf

# Signals end the measurement; the report is printed.
expect 0 '' signalled INT "$kontend" report
prints '^# kontend report'
expect 130 '' signalled INT "$kontend" report --duration 60
prints '^# kontend report'
expect 143 '' signalled TERM "$kontend" report --demo
prints '^# kontend report'
expect 143 '' signalled TERM "$kontend" report -- sleep 100
prints '^# kontend report'
# The shell that runs this test may ignore hang-ups.
expect 129 '' signalled HUP env --default-signal=HUP "$kontend" report
prints '^# kontend report'
# Below nohup(1) logging out ends nothing.
expect 143 '' signalled 'HUP TERM' env --ignore-signal=HUP "$kontend" report --duration 60
prints '^# kontend report'

# Killed outright, it takes the demo along.
run signalled KILL "$kontend" report --demo
[ "$rc" -eq 137 ] || complain "SIGKILL: exit $rc"
nothing_left 'SIGKILL'

# To a file, which keeps its mode.
echo old >"$work/file"
chmod 640 "$work/file"
expect 0 '' "$kontend" report --duration 100ms -o "$work/file"
grep -q '^# kontend report' "$work/file" || complain "-o: the report is not in the file"
[ "$(stat -c %a "$work/file")" = 640 ] || complain "-o: the mode is $(stat -c %a "$work/file")"
expect 0 '' "$kontend" report --duration 100ms -o /dev/null
[ -c /dev/null ] || complain "-o /dev/null replaced it"

expect 0 '' "$kontend" report --duration 100ms --no-stack --view locks
for level in pid pid,paths; do
	expect 129 "--mmap '$level' is gone: give all.*which measures only the processes that --pid" \
		"$kontend" report --mmap "$level"
done
for level in all,path contended,paths ,paths; do
	expect 1 "--mmap '$level': give contended, sampled, sampled=N" "$kontend" report --duration 50ms --mmap "$level"
done
expect 1 "--mmap 'all,paths' needs call chains: leave out --no-stack" \
	"$kontend" report --duration 50ms --mmap all,paths --no-stack
expect 0 '' "$kontend" report --duration 100ms --mmap sampled,paths --view mmap --by stack
prints '^# (level sampled, 1/10 of the time, with call paths|level contended, not sampled)'
expect 0 '' "$kontend" report --duration 100ms --view mmap --by stack
prints '^# mmap_locks by stack: call paths that hold mmap_locks are measured with --mmap all,paths'
# shellcheck disable=SC2016 # expanded inside
expect 0 'measuring all CPUs for 100ms with [0-9]+ rings of 8 pages' \
	sh -c '"$@" >/dev/null' sh "$kontend" report -v --duration 100ms --no-bpf -m 8

# Part of a measurement, which ends with it, and so does the command.
run "$kontend" report -j --view overview --time 100ms,+250ms -- sleep 60
[ "$rc" -eq 0 ] || complain "--time while measuring: exit $rc: $(cat "$work/err")"
prints '"duration_ns": 250000000,'
expect 129 'is outside of the recording; it goes from 0:00 to' \
	"$kontend" report --duration 50ms --time 9:00,
expect 129 'is known at its end only' "$kontend" script --duration 50ms --time 50%,
finish
