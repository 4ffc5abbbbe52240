# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Checks, and how their results are printed. A script, in the machine or on the host, sources this,
# begins each of its cases by `case_of NAME`, and ends with `finish`. Each case is one result.
case_name=
case_status=ok

# Ends the current case. run.sh reads the results.
end_case() {
	[ -z "$case_name" ] || echo "@@$case_status $case_name"
	case_name=
	case_status=ok
}

case_of() {
	end_case
	case_name=$1
	echo "== $1"
}

complain() {
	echo "FAIL $*"
	case_status=not-ok
}

# skip REASON: the case cannot be tried here.
skip() {
	[ "$case_status" != ok ] || case_status=skip
	case_name="$case_name # $*"
	end_case
}

finish() {
	end_case
	echo "@@finished"
	exit 0
}

# shows FILE PATTERN: a line of it is like this, as grep -E takes it.
shows() {
	grep -qE -e "$2" "$1" || complain "$1 has no line '$2'"
}

lacks() {
	! grep -E -e "$2" "$1" || complain "$1 has a line '$2'"
}

# gives STATUS OUTPUT COMMAND...: it exits with STATUS; its messages go to the file OUTPUT and to
# the log, at once, so that they can be seen when the machine's time is up.
gives() {
	want=$1 output=$2
	shift 2
	echo "+ $*"
	{
		rc=0
		"$@" </dev/null || rc=$?
		echo "$rc" >exit-status
	} 2>&1 | tee "$output"
	rc=$(cat exit-status)
	[ "$rc" -eq "$want" ] || complain "$*: exit status $rc, not $want"
}

# eventually COMMAND...: waits until it is true. No machine is too slow for that: a script that hangs here ends
# by the limit of the whole boot.
eventually() {
	until "$@"; do
		usleep 10000
	done
}
