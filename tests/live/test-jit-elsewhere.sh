#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317 # functions are called by try()
# Code that a program made: functions have the same names and instructions on another machine, without
# the program, without the files of its compiler, without symbols of the kernel and without
# privileges. For a recording that has an end, and for one whose recorder was killed; with a dump,
# which has the code, and with names alone, where the code is in the memory of the program only.
# Called as: test-jit-elsewhere.sh KONTEND JIT-WORK
set -eu
kontend=$(realpath "$1")
jit=$(realpath "$2")
# shellcheck source=tests/live/elsewhere.sh
. "$(dirname "$0")/elsewhere.sh"

map=""
undo() {
	[ -z "$map" ] || rm -f "$map" progs/jit-*.dump
}

cp "$jit" progs/jit-work
# A program that waits for the end of its input ends when we end.
mkfifo hold
exec 9<>hold
cat >look.sh <<'LOOK'
set -eu
./viewer/kontend report -q -i "$1" --view hot --format csv >&3
for symbol in jit_first jit_second; do
	# shellcheck disable=SC2086 # nothing is no argument
	./viewer/kontend report -q -i "$1" $sandbox --annotate "$symbol" >&4
done
LOOK

# Starts the program with the folder for the dump, if any. It exits with 77 where it cannot make code.
start() { # OPTION...
	: >out
	# shellcheck disable=SC2086 # nothing is no argument
	progs/jit-work $told <hold >out 2>&1 &
	work=$!
	map=/tmp/perf-$work.map
	until grep -q ready out; do
		kill -0 "$work" 2>/dev/null || { wait "$work" && code=1 || code=$?; work=""; cat out; return "$code"; }
		sleep 0.1
	done
	start_record -p "$work" "$@"
}

end_work() {
	kill "$work" 2>/dev/null || true
	wait "$work" 2>/dev/null || true
	work=""
}

# has_both FILE: enough samples for both to have a hottest instruction
has_both() {
	[ "$(rows 0 symbol '^jit_' symbol "$1" | awk '$2 >= 10' | wc -l)" = 2 ]
}

# same WHAT FILE: here and, when it does not run any more, elsewhere
same() {
	here look.sh "$2"
	has_both here.out || { echo "$1: too few samples"; return 1; }
	[ -z "$work" ] || end_work
	rm -f "$map"
	away look.sh "$2" || { echo "$1: no report elsewhere: $(cat err)"; return 1; }
	for place in here away; do
		grep '^# code: ' "$place.txt" >"$place.from" || true
		rows 0 symbol '^jit_' symbol "$place.out" >"$place.made"
	done
	without_origin here.txt away.txt
	if [ "$(grep -c "^# code: .*$from" here.from)" != 2 ] ||
		[ "$(grep -c '^# code: .*recording' away.from)" != 2 ]; then
		echo "$1: the code is not from $from here, or not from the recording elsewhere:"
		cat here.from away.from
		return 1
	fi
	equal "$1" made txt || return 1
	echo "$1, $from: $(tr '\n' ' ' <away.made)"
}

ended() {
	start --duration 1s -o ended.data || return
	wait "$recorder" || return 1
	recorder=""
	same "a recording with an end" ended.data
}

is_told() { # FILE: both of them, with their code
	[ -e "$1" ] && away look.sh "$1" && has_both away.out &&
		[ "$(grep -c '^# code: .*recording' away.txt)" = 2 ]
}

killed() {
	start -o killed.data || return
	until_some is_told killed.data || return 1
	end_record KILL
	same "a recorder that was killed" killed.data
}

# The program ends before its recording does: its code was recorded while it ran.
over() {
	start -o over.data || return
	until_some is_told over.data || return 1
	end_work
	end_record INT || return 1
	same "a program that has ended" over.data
}

need_record -F 997 -e cpu-clock --duration 50ms
failed=0
export sandbox=
told=progs
from='jit-[0-9]*\.dump'
try ended || failed=1
try killed || failed=1
told=
from=recording
try ended || failed=1
sandbox=--no-sandbox
from='memory of its process'
try ended || failed=1
try killed || failed=1
from=recording
try over || failed=1
exit "$failed"
