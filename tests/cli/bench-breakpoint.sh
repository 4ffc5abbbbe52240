#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend bench breakpoint`: what it prints, as text and as JSON, with breakpoints and without, what
# it refuses, and that other processes and breakpoints of it are gone afterwards. How fast it is is
# not asked.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

number='[0-9]+\.[0-9]+'
line=" +$number +$number +$number ± $number +"

# Without breakpoints it needs no right, and has nothing beside the ideal.
expect 0 '' "$kontend" bench breakpoint -b 0 -p 2 -t 3 -r 4
prints '^breakpoint: 10 runs, in each 4 times 3 threads are created and joined, by 2 side by side$'
prints "^no breakpoints$line-\$"
[ "$(wc -l <"$work/out")" -eq 3 ] || complain "the ideal alone has more lines: $(cat "$work/out")"
expect 0 '' "$kontend" bench breakpoint -b 0 -p 2 -t 3 -r 4 -j
prints '"bench": "breakpoint"'
prints '"case": "no breakpoints", "metric": "op", "unit": "ns", "better": "lower", "value": [1-9]'
prints '"case": "what was done", "metric": "threads", "unit": "1", "better": "fact", "value": 3\.'
! grep -q above_ideal "$work/out" || complain "the ideal is above itself"

expect 129 "--breakpoints 'many': give a number from 0" "$kontend" bench breakpoint -b many
expect 129 "--parallelism '0': give a number from 1" "$kontend" bench breakpoint -p 0
expect 129 "--repeat '0': give a number from 1" "$kontend" bench breakpoint -r 0
expect 129 "'kontend bench breakpoint' does not take --rounds" "$kontend" bench breakpoint -n 3
expect 129 "'kontend bench mmap' does not take --breakpoints" "$kontend" bench mmap -b 1
expect 129 "'kontend bench mmap' does not take --parallelism" "$kontend" bench mmap -p 1
expect 129 "'kontend bench uprobe' does not take --repeat" "$kontend" bench uprobe -r 1
expect 1 'of 99: there is no free slot \(No space left on device\)' "$kontend" bench breakpoint -b 99 -p 1 -t 1 -r 1

if ! "$kontend" bench breakpoint -b 1 -p 1 -t 1 -r 1 >"$work/probe" 2>&1; then
	grep -qE 'no hardware breakpoints|does not let|free slot' "$work/probe" ||
		complain "one breakpoint: $(cat "$work/probe")"
	finish
fi
expect 0 '' "$kontend" bench breakpoint -b 1 -p 2 -t 4 -r 6
prints "^1 breakpoint$line-?[0-9]+\.[0-9]%\$"
prints "^no breakpoints$line-\$"
prints '^opened and closed +threads +times +open p50 +p99 close p50 +p99$'
prints '^of tasks +[0-9]+ +[0-9.]+k?( +[0-9.]+(ns|us|ms)){4}$'
for phase in 'of CPUs' 'of tasks, beside CPUs'; do
	prints "^$phase  *([0-9]+ +[0-9.]+k?( +[0-9.]+(ns|us|ms)){4}|not available: .+)\$"
done
prints '^what kontend saw'

if [ "$(id -u)" -ne 0 ] || ! "$kontend" report --duration 50ms >/dev/null 2>&1; then
	finish
fi
prints '^what kontend saw in [0-9.]+m?s of it:$'
prints '^hot: [0-9.]+% [^ ]+'
expect 0 '' "$kontend" bench breakpoint -b 1 -p 2 -t 4 -r 6 --format json
for case in breakpoints 'no breakpoints'; do
	for metric in op op_cpu op_median; do
		prints "\"case\": \"$case\", \"metric\": \"$metric\", \"unit\": \"ns\", \"better\": \"lower\""
	done
done
prints '"case": "breakpoints", "metric": "above_ideal", "unit": "%"'
prints '"case": "breakpoints of tasks", "metric": "close_p99", "unit": "ns", "better": "lower"'
for name in bp_cpuinfo_sem perf_event_mutex nr_bp_mutex; do
	prints "\"case\": \"seen: $name\", \"metric\": \"waits\", \"unit\": \"1\""
done
prints '"case": "seen: task_bp_pinned", "metric": "share"'
nothing_left "bench breakpoint"
finish
