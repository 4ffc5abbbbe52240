#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A second signal ends the program whatever it waits for, and messages without a reader never block it.
# Called as: signals.sh KONTEND HOLD
hold=$(realpath "$2")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
"$kontend" doctor >/dev/null 2>&1 || { echo "kontend doctor says that this user cannot measure here"; exit 77; }

# has_gone PID: it has ended; it may still be a zombie.
has_gone() {
	! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status"
}

# The main thread stands still: it hears no signal.
for verb in 'report --demo' 'script --demo' 'export --format perfetto --demo' 'record -o held.data'; do
	# Perfetto needs libprotobuf-c, which this build may not have.
	case $verb in *perfetto*) "$kontend" version --features | grep -q '^  pprof  *\[ on \]' || continue ;; esac
	tests=$((tests + 1))
	# shellcheck disable=SC2086 # words
	"$kontend" $verb >/dev/null 2>"$work/err" &
	pid=$!
	comes measures "$pid" || :
	"$hold" "$pid" >"$work/held" &
	holder=$!
	comes grep -q held "$work/held" || :
	kill -TERM "$pid"
	sleep 0.7
	! has_gone "$pid" || complain "$verb: it was not held"
	kill -TERM "$pid"
	comes has_gone "$pid" || kill -KILL "$pid"
	rc=0
	wait "$pid" || rc=$?
	wait "$holder" || :
	[ "$rc" -eq 143 ] || complain "$verb: exit $rc, not 143: $(cat "$work/err")"
	rm -f held.data*
done

# Its output has no reader.
mkfifo "$work/full"
exec 5<>"$work/full"
for verb in 'report --demo' 'record -o said.data'; do
	tests=$((tests + 1))
	timeout 1 cat /dev/zero >&5 || :
	# shellcheck disable=SC2086 # words
	"$kontend" $verb -v >/dev/null 2>&5 &
	pid=$!
	comes measures "$pid" || :
	kill -TERM "$pid"
	comes has_gone "$pid" || kill -KILL "$pid"
	rc=0
	wait "$pid" || rc=$?
	[ "$rc" -eq 143 ] || complain "$verb, with messages into a full pipe: exit $rc, not 143"
	rm -f said.data*
done
finish
