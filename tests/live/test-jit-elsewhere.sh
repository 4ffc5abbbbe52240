#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317 # functions are called by try()
# Code that a program made: where neither the program runs nor what its compiler wrote is, there are
# no symbols of the kernel, and nobody has any rights, its functions have the names and instructions
# that they have here. By a recording that has an end, and by one whose recorder was killed; with a
# dump, which has the code, and with names alone, where it is in the memory of the program only.
# Called as: test-jit-elsewhere.sh KONTEND JIT-WORK
set -eu
export LC_ALL=C
kontend=$(realpath "$1")
jit=$(realpath "$2")
# shellcheck source=tests/live/elsewhere.sh
. "$(dirname "$0")/elsewhere.sh"

dir=$(mktemp -d)
work=""
recorder=""
map=""
cleanup() {
	for pid in $work $recorder; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	[ -z "$map" ] || rm -f "$map"
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$dir"
cd "$dir"
mkdir progs viewer
cp "$kontend" viewer/kontend
cp "$jit" progs/jit-work
: >empty
# Who waits for the end of its input ends with ours.
mkfifo hold
exec 9<>hold
cat >hot.sh <<'HOT'
./viewer/kontend report -q -i "$1" --view hot --format csv >&3
HOT
cat >look.sh <<'LOOK'
set -eu
sh hot.sh "$1"
for symbol in jit_first jit_second; do
	./viewer/kontend report -q -i "$1" --annotate "$symbol" >&4
done
LOOK

away() { # SCRIPT FILE: into away.csv and away.txt
	chmod 644 "$2"
	unshare -m sh -c 'mount --bind empty /proc/kallsyms && mount -t tmpfs none progs &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups sh "$@"' \
		away "$@" 3>away.csv 4>away.txt 2>err
}

# $told: the folder for the dump, or nothing
start_work() {
	: >out
	# shellcheck disable=SC2086 # nothing is no argument
	progs/jit-work $told <hold >out 2>err &
	work=$!
	map=/tmp/perf-$work.map
	until grep -q ready out; do
		kill -0 "$work" 2>/dev/null || { wait "$work" && rc=0 || rc=$?; work=; return "$rc"; }
		sleep 0.1
	done
}

end_work() {
	[ -n "$work" ] || return 0
	kill "$work" 2>/dev/null || true
	wait "$work" 2>/dev/null || true
	work=
}

# Share, samples and name of what was made.
made() { # FILE
	awk -F, '$1 == "pct" { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["symbol"] ~ /^jit_/ { print $1, $2, $at["symbol"] }' "$1"
}

# has_both FILE.csv: enough samples for both to have a hottest instruction
has_both() {
	[ "$(made "$1" | awk '$2 >= 10' | wc -l)" = 2 ]
}

# same WHAT FILE: here and, when it does not run any more, elsewhere
same() {
	sh look.sh "$2" 3>here.csv 4>here.txt
	has_both here.csv || { echo "$1: too few samples"; return 1; }
	end_work
	rm -f "$map"
	away look.sh "$2" || { echo "$1: no report elsewhere: $(cat err)"; return 1; }
	for text in here away; do
		grep '^# code: ' "$text.txt" >"$text.from" || true
		sed -i 's/^# code: .*, \([0-9]* bytes\)$/# code: \1/' "$text.txt"
		made "$text.csv" >"$text.made"
	done
	if [ "$(grep -c "^# code: .*$from" here.from)" != 2 ] ||
		[ "$(grep -c '^# code: .*recording' away.from)" != 2 ]; then
		echo "$1: the code is not from $from here, or not from the recording elsewhere:"
		cat here.from away.from
		return 1
	fi
	if ! cmp here.made away.made || ! cmp here.txt away.txt; then
		echo "$1: another machine sees something else:"
		diff here.made away.made || true
		diff here.txt away.txt | head -12 || true
		return 1
	fi
	echo "$1, $from: $(tr '\n' ' ' <away.made)"
}

record() { # OPTION...
	"$kontend" record -q -F 997 -e cpu-clock -p "$work" "$@" &
	recorder=$!
}

ended() {
	record --duration 1s -o ended.data
	wait "$recorder" || return 1
	recorder=
	same "a recording with an end" ended.data
}

is_told() { # FILE: both of them, with their code
	[ -e "$1" ] && away look.sh "$1" && has_both away.csv &&
		[ "$(grep -c '^# code: .*recording' away.txt)" = 2 ]
}

killed() {
	record -o killed.data
	until is_told killed.data; do
		kill -0 "$work" 2>/dev/null && kill -0 "$recorder" || return 1
		sleep 0.3
	done
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null || true
	recorder=
	same "a recorder that was killed" killed.data
}

# The program ends before its recording does: its code was told while it ran.
over() {
	record -o over.data
	until is_told over.data; do
		kill -0 "$work" 2>/dev/null && kill -0 "$recorder" || return 1
		sleep 0.3
	done
	end_work
	kill -INT "$recorder" 2>/dev/null || true
	wait "$recorder" || return 1
	recorder=
	same "a program that has ended" over.data
}

# Others may need all CPUs for a while.
try() {
	for attempt in 1 2 3 4 5; do
		rm -f -- *.data
		start_work || { rc=$?; cat err; [ "$rc" = 77 ] && exit 77; return 1; }
		rc=0
		"$@" || rc=$?
		[ -z "$recorder" ] || kill -KILL "$recorder" 2>/dev/null || true
		recorder=
		end_work
		rm -f "$map" progs/jit-*.dump
		[ "$rc" != 0 ] || return 0
		echo "$*: attempt $attempt failed"
	done
	return 1
}

"$kontend" record -q -F 997 -e cpu-clock --duration 50ms -o probe 2>err ||
	{ echo "skipped: $(cat err)"; exit 77; }
failed=0
told=progs
from='jit-[0-9]*\.dump'
try ended || failed=1
try killed || failed=1
told=
from='memory of its process'
try ended || failed=1
try killed || failed=1
from=recording
try over || failed=1
exit "$failed"
