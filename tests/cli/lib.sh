# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Shared by the tests of the command line. Each is called as SCRIPT KONTEND, prints each failure
# and exits 0, 1 or 77. The program is copied to a folder of its own that every user may read, so
# that it can be run as another user and that its processes differ from other kontends; commands
# run in an empty folder, and after each one neither a file nor a process may be left.
set -eu
export LC_ALL=C.UTF-8
unset NO_COLOR
work=$(mktemp -d)
chmod 755 "$work"
mkdir -m 1777 "$work/cwd"
cp "$1" "$work/kontend"
chmod 755 "$work/kontend"
kontend=$work/kontend
trap 'rm -rf "$work"' EXIT
cd "$work/cwd"
status=0
tests=0

complain() {
	echo "$*"
	status=1
}

# comes COMMAND...: waits until it succeeds, as long as it takes a machine that is very busy.
comes() {
	for _ in $(seq 1200); do
		! "$@" 2>/dev/null || return 0
		sleep 0.05
	done
	complain "waited in vain for: $*"
	return 1
}

# measures PID: it has its events open; by then it has blocked signals.
measures() {
	[ -n "$(find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null)" ]
}

# has_term FIELD PID: SIGTERM is in this mask of /proc/PID/status.
has_term() {
	mask=$(sed -n "s/^$1:[[:space:]]*//p" "/proc/$2/status" | tail -c 5)
	[ $((0x${mask:-0} & 0x4000)) -ne 0 ]
}

# Signals are read from a descriptor from now on, or have all been read.
blocks_signals() {
	has_term SigBlk "$1"
}

heard_signals() {
	! has_term ShdPnd "$1"
}

# signalled SIGNALS COMMAND...: its status when it gets the signals as soon as it measures. A shell's
# background job ignores SIGINT, but for a program that reads its signals.
signalled() {
	signals=$1
	shift
	"$@" &
	pid=$!
	comes measures $pid || :
	for signal in $signals; do
		kill -s "$signal" $pid
	done
	wait $pid
}

processes() {
	find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$kontend" 2>/dev/null || true
}

nothing_left() {
	left=$(ls -A "$work/cwd")
	[ -z "$left" ] || complain "$1: left files: $left"
	rm -rf "$work/cwd/"* 2>/dev/null || true
	for _ in $(seq 200); do
		left=$(processes)
		[ -n "$left" ] || return 0
		sleep 0.05
	done
	complain "$1: left processes: $left"
}

# run COMMAND...: its status in $rc, its words in $work/out and $work/err.
run() {
	tests=$((tests + 1))
	rc=0
	"$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
}

# expect STATUS PATTERN COMMAND...: one line on standard error, which matches PATTERN (as grep -E
# takes it; '' = no line), and nothing on standard output when it fails.
expect() {
	want=$1 pattern=$2
	shift 2
	run "$@"
	[ "$rc" -eq "$want" ] || complain "$*: exit $rc, not $want: $(cat "$work/err")"
	if [ -z "$pattern" ]; then
		[ ! -s "$work/err" ] || complain "$*: said: $(cat "$work/err")"
	else
		[ "$(wc -l <"$work/err")" -eq 1 ] || complain "$*: not one line: $(cat "$work/err")"
		grep -qE -e "$pattern" "$work/err" ||
			complain "$*: said '$(cat "$work/err")', not '$pattern'"
		[ ! -s "$work/out" ] || complain "$*: printed: $(head -n 3 "$work/out")"
	fi
	nothing_left "$*"
}

# prints PATTERN: the last command printed a line like this.
prints() {
	grep -qE -e "$1" "$work/out" || complain "printed no '$1': $(head -n 5 "$work/out")"
}

need_root() {
	[ "$(id -u)" -eq 0 ] || { echo "not root: cannot open events"; exit 77; }
	if ! "$kontend" report --duration 50ms >/dev/null 2>"$work/err"; then
		echo "this machine cannot measure: $(cat "$work/err")"
		exit 77
	fi
}

finish() {
	echo "$tests command lines"
	exit $status
}
