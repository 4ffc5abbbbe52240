#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What needs no privilege: help, and every kind of command line that makes no sense.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 '' "$kontend" --help
prints '^Usage: kontend'
for verb in live report why script diff export demo bench doctor help version; do
	grep -q "^  $verb" "$work/out" || complain "--help does not name $verb"
done
awk 'length($0) > 80 { exit 1 }' "$work/out" || complain "--help is wider than 80"
prints 'kontend-stories\(7\)'
grep -q dump "$work/out" && complain "--help names the hidden verb"
for verb in live top report why script diff export demo bench doctor; do
	expect 0 '' "$kontend" $verb --help
	prints '^Usage: kontend'
	prints '^  -h, --help'
	awk 'length($0) > 80 { exit 1 }' "$work/out" || complain "$verb --help is wider than 80"
done
# Each heading once, in all verbs; help itself lists verbs.
for verb in $("$kontend" dump options | cut -f 1 | grep -vx help | sort -u); do
	run "$kontend" "$verb" --help
	twice=$(grep -E '^[A-Z].*:$' "$work/out" | sort | uniq -d)
	[ -z "$twice" ] || complain "$verb --help has headings twice: $twice"
	[ "$(grep -cE '^  ( {4}|-., )--' "$work/out")" -eq "$("$kontend" dump options | grep -c "^$verb	")" ] ||
		complain "$verb --help does not have each option once"
done
# The manual of each view, with its columns; where a verb has its name, that one's help.
for view in $("$kontend" dump views | cut -f 1); do
	expect 0 '' "$kontend" help "$view"
	case $view in
	incidents | why)
		prints "^Usage: kontend $view "
		continue
		;;
	esac
	prints "^The view $view, "
	[ "$(wc -l <"$work/out")" -ge 5 ] || complain "help $view: $(cat "$work/out")"
	! grep -nE '\\|^\.[A-Z]' "$work/out" || complain "help $view has marks of its source"
done
expect 0 '' "$kontend" help waiters
prints '^Who waits now\?'
prints 'HOLDER'
expect 0 '' "$kontend" help uprobes
prints '^Probes and out-of-line slots$'
prints '^Out-of-line slots$'
expect 0 '' "$kontend" help report
prints '--duration TIME'
expect 0 '' "$kontend" --version
prints '^kontend [0-9]+\.[0-9]+\.[0-9]+$'
expect 0 '' "$kontend" version
expect 0 '' "$kontend" version --features
prints '^  bpf +.( on |off).  +libbpf'
prints '^  perf +\[ on \]  libperf [0-9]'
expect 129 'is an option of .kontend version' "$kontend" report --features
expect 0 '' "$kontend" report --sort nonsense --help

bad() {
	expect 129 "$@"
}

bad "^kontend: There is no verb 'reprot': did you mean 'report'\? See" "$kontend" reprot
bad "^kontend: There is no verb 'sleep': see 'kontend --help'" "$kontend" sleep 1
bad "no verb 'dctor', and no view: did you mean 'doctor'" "$kontend" help dctor
bad "no verb 'zzzzzz', and no view: see 'kontend --help'" "$kontend" help zzzzzz
bad "no option '--dratuion': did you mean '--duration'" "$kontend" report --dratuion 3
bad "no option '--dur': did you mean '--duration'" "$kontend" report --dur 3
bad "no option '--zzzzzz': see 'kontend report --help'" "$kontend" report --zzzzzz
bad "no option '-Z': see" "$kontend" -Z
bad "'--theme' is an option of 'kontend live', not of 'kontend report'" "$kontend" report --theme mono
bad "'-n' is an option of 'kontend report', not of 'kontend live'" "$kontend" -n 3
bad '--duration needs a value \(TIME\)' "$kontend" report --duration
bad "takes no value '--demo=yes'" "$kontend" report --demo=yes
bad "--duration 'soon': give a time from" "$kontend" report --duration soon
bad "--duration '-1': give a time" "$kontend" report --duration -1
bad "--duration '0': give a time" "$kontend" report --duration=0
bad "--delay '61': give a time from 100ms to 1m00s" "$kontend" -d 61
bad "--delay '0.01': give a time" "$kontend" live -d0.01
bad "--max-stack '128': give a number from 1 to 127" "$kontend" --max-stack 128
bad "--mmap-pages '3': give a power of two" "$kontend" report -m 3
bad "--format 'xml': give one of: text csv json" "$kontend" report --format xml
bad "--view 'lock': give one or more of overview" "$kontend" report --view lock
bad "--view 'hist': give one of: overview locks" "$kontend" --view hist
bad "--by 'holder': give one of: lock caller" "$kontend" report --by holder
bad "CSV holds one table: give one --view, not 'locks,waiters'" \
	"$kontend" report --format csv --view locks,waiters
bad '--separator is for CSV, not for --format json' "$kontend" report -j -x ';'
bad "--separator 'ab': give one ASCII character" "$kontend" report -x ab
bad "--output '': give something" "$kontend" report --output=
bad "Unexpected argument 'sleep': a command to measure comes after '--', as in" "$kontend" record sleep 1
bad "'sleep' and '1' are two recordings" "$kontend" report sleep 1
bad "A command must follow '--'" "$kontend" report --
bad "Unexpected argument 'x'" "$kontend" doctor x
bad '--addr is for a breakpoint: give --enospc' "$kontend" doctor --addr 0x10
bad '--cpu is for a breakpoint' "$kontend" doctor -C 0
bad "--addr 'main': give an address" "$kontend" doctor --enospc --addr main
bad "--addr '-1': give an address" "$kontend" doctor --enospc --addr=-1
bad "--len 'long': give a number of bytes" "$kontend" doctor --enospc --len long
bad "--type 'wx': give one of: r w rw x" "$kontend" doctor --enospc --type wx
bad "'0-' is no CPU list" "$kontend" doctor --enospc -C 0-
bad '--pid and --tid say two things' "$kontend" doctor --enospc -p 1 -t 1
bad "--against reads a file" "$kontend" replay a --against -
bad "'a' is one recording: give two to compare" "$kontend" diff a
bad "'c' is a third recording: put '--' between" "$kontend" diff a b c
bad "No recordings before '--'" "$kontend" diff -- a b c
bad "--sort 'nonsense': the table 'diff' has no such column" "$kontend" diff --sort nonsense a b
bad 'Give --pid, --tid or a command' "$kontend" why
bad '--tid chooses one of them, not --pid' "$kontend" why -i x -p 1
bad "--tid '1,2': give one thread" "$kontend" why -i x -t 1,2
bad '--input reads a recording and --freq is for measuring' "$kontend" script -i x -F 1
bad '--input reads a recording and --duration is for' "$kontend" report -i x --duration 1
bad 'leave out the command' "$kontend" export -i x -- true
bad '--pid and --cgroup say two things' "$kontend" report -p 1 -G /
bad '--all-cpus and --tid say two things' "$kontend" report -a -t 1
bad '--pid and -- COMMAND say two things' "$kontend" report -p 1 -- true
bad '--no-stack and --call-graph exclude' "$kontend" report -F 99 --no-stack --call-graph dwarf
bad '--call-graph is for samples' "$kontend" record --call-graph dwarf
bad '--call-graph is for samples' "$kontend" live -F 0 --call-graph dwarf
bad '--no-stack and --max-stack exclude' "$kontend" report --no-stack --max-stack 3
bad '--verbose and --quiet exclude' "$kontend" report -vq
expect 1 "There is no process called 'kt-no-such'" "$kontend" report -p 1,kt-no-such
bad "'1,0' is no list of pids" "$kontend" report -p 1,0
bad "'0-' is no CPU list" "$kontend" report -C 0-
bad "--sort 'totl': the table 'locks' by lock has no such column" "$kontend" report --sort totl
bad "--sort 'since_ns': the table 'locks'" "$kontend" report --sort since_ns
bad "no column 'nothing'" "$kontend" report --filter 'nothing>5ms'
bad "column 'avg_ns' wants a duration" "$kontend" report --filter 'avg_ns>soon'
bad "--by 'task': contexts are grouped by process" "$kontend" report --view contexts --by task
bad "--sort 'kind': the table 'slots' has no such column" "$kontend" report --view slots --sort kind
bad 'need a view that is a table' "$kontend" report --view tree --sort total_ns
bad "'nosuch' is no kind of contention" "$kontend" demo --kinds mmap,nosuch
bad "--threads '65': give a number from 1 to 64" "$kontend" demo --threads 65

# Standard error is closed: no message, the same status.
run sh -c "'$kontend' report --zzz 2>&-"
[ "$rc" -eq 129 ] || complain "closed standard error: exit $rc"

expect 1 'is no terminal to draw on: .kontend report. prints instead' "$kontend"
expect 1 'is no terminal' "$kontend" live --demo
expect 1 'There is no process 4194303' "$kontend" report -p 4194303
expect 1 'There is no thread 4194303' "$kontend" report -t 4194303
expect 1 'CPU 65535 is not online: choose from 0' "$kontend" report -C 65535
finish
