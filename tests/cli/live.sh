#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend live` on a terminal of its own: how it ends, and that the terminal is given back. What
# the screen shows is tested by tests/screen and tests/pty.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
command -v script >/dev/null || { echo "script is not installed: no terminal"; exit 77; }
export TERM=xterm

mkfifo "$work/keys"

# on_terminal TEXT KEYS COMMAND: types the keys, or sends itself SIGKEYS, when the screen shows the
# text.
on_terminal() {
	: >"$work/out"
	script -qec "stty rows 30 cols 100; echo \$\$ >$work/pid; exec $3" /dev/null <"$work/keys" \
		>>"$work/out" 2>"$work/err" &
	terminal=$!
	exec 5>"$work/keys"
	comes grep -q "$1" "$work/out" || :
	case $2 in
	SIG*) kill -s "${2#SIG}" "$(cat "$work/pid")" ;;
	*) printf '%s' "$2" >&5 ;;
	esac
	rc=0
	wait $terminal || rc=$?
	exec 5>&-
	return $rc
}

# ends STATUS TEXT KEYS COMMAND: the terminal has left the other screen and shows its cursor.
ends() {
	want=$1
	shift
	tests=$((tests + 1))
	rc=0
	on_terminal "$@" || rc=$?
	[ "$rc" -eq "$want" ] || complain "$3: exit $rc, not $want"
	enter=$(grep -c "$(printf '\033\[?1049h')" "$work/out" || true)
	leave=$(grep -c "$(printf '\033\[?1049l')" "$work/out" || true)
	if [ "$enter" -eq 0 ] || [ "$leave" -eq 0 ]; then
		complain "$3: the other screen was entered in $enter lines and left in $leave"
	fi
	nothing_left "$3"
}

ends 0 rwsem q "$kontend --demo"
ends 0 quit 2bbq "$kontend live -d 200ms --by caller -s max_ns --filter '!idle' --ascii --color never"
ends 3 quit q "$kontend -- sh -c 'printf %s%s WO RDS; exit 3'"
grep -q WORDS "$work/out" && complain "the command wrote on the screen"
ends 143 quit SIGTERM "$kontend --demo"
ends 130 quit SIGINT "$kontend --demo"

# An error is told on a terminal that is in order.
for line in "-s nonsense" "--filter 'avg_ns>soon'" "-p 1,x"; do
	run script -qec "$kontend $line" /dev/null
	[ "$rc" -eq 129 ] || complain "$line: exit $rc, not 129"
	grep -q '^kontend: ' "$work/out" || complain "$line: $(cat "$work/out")"
	grep -q "$(printf '\033')" "$work/out" && complain "$line: the screen was touched"
	nothing_left "$line"
done
finish
