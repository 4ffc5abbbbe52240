#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend bench page-fault` and `mmap`: the form of their output, alone, as a measured command, and
# with the table of waits below it. Their speed is not tested.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# figures: three lines in milliseconds, in this order, at the beginning of the output.
figures() {
	sed -n 2,4p "$work/out" | tr '\n' ' ' |
		grep -qE '^usr: [0-9]+\.[0-9]{3} ms sys: [0-9]+\.[0-9]{3} ms real: [0-9]+\.[0-9]{3} ms $' ||
		complain "no figures: $(head -n 5 "$work/out")"
}

expect 0 '' "$kontend" bench page-fault -t 2 --size 8M -n 3
prints '^page-fault: 2 threads, 8\.00M, rounds 3, [0-9.k]+ pages, .*/s$'
figures
[ "$(wc -l <"$work/out")" -eq 5 ] || complain "page-fault printed more than five lines"
prints '^mmap_lock: (anon takes it [0-9.]+ times for reading|how often it is taken is not known: )'
expect 0 '' "$kontend" bench mmap --threads=3 -n 10 --size 16K
prints '^mmap: 3 threads, 16\.0K, rounds 10, [0-9]+ pages, .*/s$'
figures
expect 0 '' "$kontend" bench page-fault --size 1M
prints '^page-fault: [0-9]+ threads, 1\.00M, rounds 1, [0-9]+ pages'

expect 0 '' "$kontend" bench mmap --threads=3 -n 10 --size 16K --format json
prints '"schema": "kontend.bench/1"'
prints '"case": "3 threads", "metric": "real", "unit": "ns", "better": "lower", "value": [0-9]+'
! grep -q 'usr:' "$work/out" || complain 'a text beside the JSON'
expect 129 'for JSON, .kontend report -j -- kontend bench mmap' "$kontend" bench mmap -j --measure

# Waits that it knows of: as many as threads and rounds, and as JSON.
run "$kontend" bench mutex -t 3 -n 2
if [ "$rc" -eq 0 ]; then
	prints '^mutex: 3 threads wait for the mutex of a pipe, held 2 times, [0-9.]+ ms$'
	prints '^mutex: 6 waits, [0-9.]+ to [0-9.]+ ms$'
	prints '^handed on: p50 [0-9.]+(ns|us|ms), p99 [0-9.]+(ns|us|ms)$'
	expect 0 '' "$kontend" bench rwsem -n 1
	prints '^rwsem:W: 2 waits, '
	prints '^rwsem:R: 2 waits, '
	expect 0 '' "$kontend" bench mutex -t 3 -n 2 -j
	prints '"case": "mutex", "metric": "waits", "unit": "1", "better": "fact", "value": 6\.000'
else
	grep -q 'Cannot hold the mutex of a pipe: userfaultfd needs' "$work/err" ||
		complain "mutex: $(cat "$work/err")"
fi
if [ "$(nproc)" -gt 1 ]; then
	expect 0 '' "$kontend" bench futex -n 1
	prints '^in memory: 4 waits, .* the kernel has no event for them$'
	prints '^futex: .* call for the bucket of a futex with 256 waiting threads, '
	expect 0 '' "$kontend" bench spinlock -n 200
	prints '^spinlock: .* 200 times, .* alone$'
	expect 129 'Cannot use 65 threads: give --threads of 2 to 64' "$kontend" bench spinlock -t 65
else
	expect 1 'Cannot make threads wait for .* on one CPU' "$kontend" bench spinlock
fi
expect 129 'Cannot start 65 threads that wait' "$kontend" bench futex -t 65
expect 129 'Too many rounds: give --rounds of' "$kontend" bench mutex -n 1000000

# A line for each number of threads, in each way to fault.
all=$(nproc)
for mode in anon kernel fresh growsdown; do
	expect 0 '' "$kontend" bench page-fault --mode $mode -t 1,3,all --size 4M
	prints '^page-fault: 4\.00M, rounds 1$'
	prints '^ threads +pages +pages/s +usr ms +sys ms +real ms$'
	for n in 1 3 "$all"; do
		prints "^ +$n +[0-9.k]+ +[0-9.kM]+( +[0-9]+\\.[0-9]{3}){3}\$"
	done
	lines=6
	if [ $mode = kernel ]; then
		prints '^down_read_trylock: (tries again [0-9.]+ times for each try|how often it tries again is not available: )'
		prints '^down_read_trylock: a trylock spins in cmpxchg and does not wait: the kernel reports no wait$'
		lines=8
	fi
	[ "$(wc -l <"$work/out")" -eq $lines ] || complain "page-fault --mode $mode: not $lines lines"
done
if [ ! -e /sys/bus/event_source/devices/cpu ]; then
	expect 0 '' "$kontend" bench page-fault --mode kernel --size 1M
	prints 'tries again is not available: This machine has no hardware counter that names'
fi
expect 0 '' "$kontend" bench mmap -t 1,2 -n 10
prints '^ +2 +320 '
expect 0 '' "$kontend" bench page-fault -j -t 1,2 --mode kernel --size 1M
python3 - "$work/out" <<'EOP' || complain "page-fault: JSON of another form"
import json, sys
with open(sys.argv[1]) as f:
    d = json.load(f)
found = {(f["case"], f["metric"]) for f in d["figures"]}
for case in "kernel, 1 threads", "kernel, 2 threads":
    assert {(case, m) for m in ("pages", "usr", "sys", "real")} <= found, found
assert {("kernel", m) for m in ("mmap_lock_read", "mmap_lock_write", "trylock_again")} <= found, found
EOP
expect 129 "--mode 'some'" "$kontend" bench page-fault --mode some
expect 129 "'kontend bench mmap' does not take --mode" "$kontend" bench mmap --mode kernel
expect 129 "'kontend bench page-fault' does not take --cost" "$kontend" bench page-fault --cost
expect 129 "--pairs is of --cost" "$kontend" bench mmap --pairs 4
expect 129 '--cost is of one number of threads' "$kontend" bench mmap --cost -t 1,2
for bad in '1,0' x '1,,2' '1,' ',1' 65537 -1 1,alll; do
	expect 129 "--threads '$bad': give a number from 1 to 65536, 'all'" "$kontend" bench mmap -t "$bad"
done

expect 129 "Give a benchmark: 'kontend bench uprobe', .*'mmap', 'mutex', 'rwsem', 'spinlock', 'futex', 'selftest' or 'suite'" "$kontend" bench
expect 129 'Give a benchmark: ' "$kontend" bench pagefault
expect 129 "'kontend bench mmap' does not take --duration" "$kontend" bench mmap --duration 1
expect 129 '^kontend: --kind: give nop, nop5, push, ret' "$kontend" bench uprobe --kind nop,pop
expect 129 '^kontend: --kind: give nop, nop5, push, ret' "$kontend" bench uprobe --kind nop,
expect 129 '^kontend: --cpus: give numbers of CPUs' "$kontend" bench uprobe --cpus 1,two
expect 129 '^kontend: --cpus: give numbers of CPUs' "$kontend" bench uprobe --cpus 0
expect 129 '^kontend: --cpus 100000: only [0-9]+ CPUs are online here' "$kontend" bench uprobe --cpus 1,100000
expect 129 "'kontend bench mmap' does not take --cpus" "$kontend" bench mmap --cpus 1
expect 129 "'kontend bench rotation' does not take --kind" "$kontend" bench rotation --kind nop
expect 129 "'kontend bench uprobe' does not take --rounds" "$kontend" bench uprobe -n 3
expect 129 "'kontend bench uprobe' does not take --measure" "$kontend" bench uprobe --measure
expect 129 "'kontend bench rotation' does not take --rounds" "$kontend" bench rotation -n 3
expect 129 "'kontend bench mmap' does not take --events" "$kontend" bench mmap --events 3
expect 129 "--events '0': give a number from 1" "$kontend" bench rotation --events 0
# Without counters there is a message; with them a line a case is tried in tests/vm.
if [ ! -e /sys/bus/event_source/devices/cpu ]; then
	expect 1 'Nothing rotates here: this machine has no hardware counters' "$kontend" bench rotation
fi
expect 129 'give each thread a page .* greater --size' "$kontend" bench page-fault -t 3 --size 8192
expect 129 "--threads '0': give a number from 1" "$kontend" bench mmap -t 0
expect 129 "--size '100': give a size of at least" "$kontend" bench mmap --size 100

if [ "$(id -u)" -ne 0 ] || ! "$kontend" report --duration 50ms >/dev/null 2>&1; then
	finish
fi
# Where nothing can be measured the selftest prints one message, and no table.
if command -v setpriv >/dev/null; then
	expect 1 '(run as root|permitted|Permission denied)' setpriv --reuid=65534 --regid=65534 \
		--clear-groups "$kontend" bench selftest
fi
# A line a probe and number of CPUs, for all kinds, as its manual page has it; and nothing else.
run "$kontend" bench uprobe --duration 1s -q
[ "$rc" -eq 0 ] || complain "uprobe: exit $rc: $(cat "$work/err")"
function='[0-9 ]{2,3}% [^ ,]+'
line="^u(ret)?probe-(nop|nop5|push|ret) +\\( *[0-9]+ cpus\\): +[0-9.]+ ± [0-9.]+M/s"
line="$line  \\( *[0-9.]+M/s/cpu\\) +[0-9.]+(ns|us|ms)  (optimized|emulated|out of line) *"
line="$line  ?($function(, $function){0,2}|-)\$"
request='^request-[SG]ET (no probe|u(ret)?probe-(nop|nop5|push|ret)) *: +[0-9.]+ ± +[0-9.]+k/s'
request="$request +[0-9.]+(ns|us|ms)( +[-+][0-9.]+%)?\$"
skid='^functions: sampled by a timer: time with interrupts off is attributed to the function that enables them'
! grep -vE "$line|$request|$skid" "$work/out" || complain "uprobe: lines of another form"
for op in SET GET; do
	[ "$(grep -c "^request-$op " "$work/out")" -eq 9 ] || complain "$op: not a line a probe"
	prints "^request-$op no probe "
done
for name in uprobe-nop uretprobe-nop uprobe-nop5 uretprobe-nop5 uprobe-push uretprobe-push \
	uprobe-ret uretprobe-ret; do
	for cpus in 1 "$(getconf _NPROCESSORS_ONLN)"; do
		prints "^$name +\\( *$cpus cpus\\): "
	done
done

# Kinds and numbers of CPUs of one's own; and requests alone, with the probes that are named.
run "$kontend" bench uprobe --duration 100ms -q --kind uretprobe-ret,nop --cpus 1
[ "$rc" -eq 0 ] || complain "--kind: exit $rc: $(cat "$work/err")"
[ "$(grep -v '^functions' "$work/out" | cut -d ' ' -f 1 | tr '\n' ' ')" = \
	'uprobe-nop uretprobe-nop uretprobe-ret ' ] || complain "--kind: other lines: $(cat "$work/out")"
# Where others keep the CPUs from it, a short time may have no answers.
for time in 300ms 2s 10s 40s; do
	run "$kontend" bench uprobe --duration "$time" --kind request --format json
	[ "$rc" -eq 0 ] || complain "--kind request: exit $rc: $(cat "$work/err")"
	grep -q '"value": null' "$work/out" || break
done
python3 - "$work/out" <<-'END' || complain "requests: $(cat "$work/out")"
	import json, sys
	figures = json.load(open(sys.argv[1]))["figures"]
	by = {(f["case"], f["metric"]): f["value"] for f in figures}
	for op in "SET", "GET":
	    assert by[op + ", no probe", "requests"] > 0, by
	    # A probe is never for nothing: in CPU time of the server, whatever else runs here.
	    assert by[op + ", uprobe-ret", "cpu_of_request"] > by[op + ", no probe", "cpu_of_request"], by
	    assert (op + ", uprobe-nop5", "requests") not in by, by
	assert len(by) == 2 * (7 * 3 - 1), len(by)
END

run "$kontend" report --view locks -- "$kontend" bench mmap -t 4 -n 100
[ "$rc" -eq 0 ] || complain "as a command: exit $rc: $(cat "$work/err")"
figures
prints '^# kontend report: .* bench mmap'
run "$kontend" bench mmap --measure -t 4 -n 500
[ "$rc" -eq 0 ] || complain "--measure: exit $rc: $(cat "$work/err")"
prints '^mmap: 4 threads, 64\.0K, rounds 500, '
figures
prints '^# locks by lock, sorted by total_ns'
# A line for each way to measure, with its cost.
run "$kontend" bench mmap --cost --pairs 6 -t 2 -n 100 -q
[ "$rc" -eq 0 ] || complain "--cost: exit $rc: $(cat "$work/err")"
prints '^mmap: 2 threads, 64\.0K, rounds 100: [0-9.]+ s of CPU time without kontend; 6 pairs for each way$'
for way in contended counted sampled all all,paths; do
	prints "^$way +([-+][0-9.]+ +[-+][0-9.]+ to [-+][0-9.]+ +[0-9.]+ |not available: )"
done
nothing_left "bench --cost"
run "$kontend" bench page-fault --measure --size 1M --mode kernel
[ "$rc" -eq 0 ] || complain "--measure: exit $rc: $(cat "$work/err")"
prints '^page-fault: '
nothing_left "bench --measure"
finish
