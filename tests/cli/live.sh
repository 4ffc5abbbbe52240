#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend live` on a terminal of its own: how it ends, and that the terminal is restored. The content
# of the screen is tested by tests/screen and tests/pty.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
command -v script >/dev/null || { echo "script is not installed: no terminal"; exit 77; }
export TERM=xterm

mkfifo "$work/keys"

# on_terminal TEXT KEYS COMMAND: types the keys, or sends itself SIGKEYS, when the screen shows the
# text. "demo-stops" instead of keys: stops the demo, as a ^Z does, and types q.
on_terminal() {
	: >"$work/out"
	script -qec "stty rows 30 cols 100; echo \$\$ >$work/pid; exec $3" /dev/null <"$work/keys" \
		>>"$work/out" 2>"$work/err" &
	terminal=$!
	exec 5>"$work/keys"
	comes grep -q "$1" "$work/out" || :
	case $2 in
	SIG*) kill -s "${2#SIG}" "$(cat "$work/pid")" ;;
	demo-stops)
		pkill -STOP -P "$(cat "$work/pid")" -x kontend-demo || complain "there is no demo to stop"
		printf q >&5
		;;
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
ends 0 help 2BBq "$kontend live -d 200ms --by caller -s max_ns --filter '!idle' --ascii --color never"
# Figures: the command has been started by then. The first frame has none.
ends 3 ev/s q "$kontend -- sh -c 'printf %s%s WO RDS; exit 3'"
grep -q WORDS "$work/out" && complain "the command wrote on the screen"
enter=$(printf "\r")
steps=$enter$enter$enter$enter$enter$enter$enter$enter$enter$enter$enter$enter$enter # 13 of them
ends 0 tour "${steps}q" "$kontend tour"
ends 0 tour qq "$kontend tour $(cd "$(dirname "$0")/../.." && pwd)/share/storm.data"
ends 0 rwsem demo-stops "$kontend --demo"
ends 143 help SIGTERM "$kontend --demo"
ends 130 help SIGINT "$kontend --demo"

# The key P saves below the user's home, and in that of another user nothing at all.
mine=$work/mine others=$work/others
mkdir -p "$mine" "$others"
chown 65534 "$others"
ends 0 help Pq "env HOME=$mine XDG_STATE_HOME= $kontend --demo"
grep -q '^<svg ' "$mine/.local/state/kontend"/kontend-overview-*.svg || complain "P saved no screen"
ends 0 help Pq "env HOME=$others XDG_STATE_HOME= $kontend --demo"
[ -z "$(find "$others" -mindepth 1)" ] || complain "P saved in the home of another user"

# Only the thread that drains the rings is real-time, and only on request.
realtime_threads() { # PID
	awk '{ sub(/.*\) /, ""); n += $39 == 1 } END { print n + 0 }' "/proc/$1/task/"*/stat
}

# has_realtime N COMMAND...
has_realtime() {
	want=$1
	shift
	tests=$((tests + 1))
	"$@" >/dev/null 2>"$work/err" &
	pid=$!
	n=0
	for _ in $(seq 200); do
		n=$(realtime_threads $pid 2>/dev/null) || n=-1 # a thread that has just ended
		! { [ "$n" -eq "$want" ] && measures $pid; } || break
		sleep 0.05
	done
	[ "$n" -eq "$want" ] || complain "$*: $n real-time threads, not $want"
	kill -INT $pid
	rc=0
	wait $pid || rc=$?
	[ "$rc" -eq 130 ] || complain "$*: exit $rc, not 130: $(cat "$work/err")"
}

has_realtime 0 "$kontend" report --duration 20
if chrt -f 1 true 2>/dev/null; then
	has_realtime 1 "$kontend" report --realtime --duration 20
	has_realtime 1 "$kontend" record --realtime -o "$work/realtime.data" --duration 20
fi

# An error is printed when the terminal is restored.
for line in "-s nonsense" "--filter 'avg_ns>soon'" "-t 1,x"; do
	run script -qec "$kontend $line" /dev/null
	[ "$rc" -eq 129 ] || complain "$line: exit $rc, not 129"
	grep -q '^kontend: ' "$work/out" || complain "$line: $(cat "$work/out")"
	grep -q "$(printf '\033')" "$work/out" && complain "$line: the screen was touched"
	nothing_left "$line"
done
finish
