#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 at random moments, before and after the first events are written from the rings, which is
# within half a second: whenever there is a file, it replays, and after `kontend recover` perf reads
# it and counts the same.
#
#     test-record-kill.sh KONTEND TRUTH [TIMES]
set -eu
export LC_ALL=C

kontend=$(realpath "$1")
truth=$(realpath "$2")
times=${3:-50}

[ "$(id -u)" = 0 ] || { echo "skipped: needs root"; exit 77; }
dir=$(mktemp -d /tmp/kontend-kill-XXXXXX)
pids=
# shellcheck disable=SC2317 # called by the trap
cleanup() {
	for pid in $pids; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
cd "$dir"
"$kontend" record -q --duration 50ms -o probe 2>err || { echo "skipped: $(cat err)"; exit 77; }
rc=0
"$truth" pipe -o /dev/null || rc=$?
[ "$rc" != 77 ] || { echo "skipped: this kernel lets no holder sleep"; exit 77; }
status=0

# events FILE: that our report counts; it replays, or the message is in err
events() {
	"$kontend" report -i "$1" --format json --rows 1 >out 2>err || return 1
	sed -n 's/.*"events": *\([0-9]*\).*/\1/p' out | head -n 1
}

# Waits for a holder that sleeps, as long as this runs; the last of them ends by itself.
(
	trap 'exit 0' TERM
	while kill -0 $$ 2>/dev/null; do
		"$truth" pipe -r 0 -w 4 -n 256 -h 0 -o /dev/null
	done
) &
workload=$!
pids=$workload
all=0
for n in $(seq "$times"); do
	rm -f -- file*
	level=
	[ $((n % 2)) = 0 ] || level=-z
	# shellcheck disable=SC2086 # none or one word
	"$kontend" record -q $level -o file &
	recorder=$!
	pids="$workload $recorder"
	while [ ! -e file ] && kill -0 "$recorder" 2>/dev/null; do
		sleep 0.01
	done
	sleep "$(printf '0.%03d' $(($(od -An -N2 -tu2 /dev/urandom) % 1000)))"
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null || true
	pids=$workload
	size=$(wc -c <file)
	if ! before=$(events file); then
		echo "FAIL $n: $size bytes do not replay: $(cat err)"
		status=1
		continue
	fi
	if ! "$kontend" recover -q file 2>err; then
		echo "FAIL $n: $size bytes cannot be recovered: $(cat err)"
		status=1
		continue
	fi
	after=$(events file)
	[ "$before" = "$after" ] || { echo "FAIL $n: $after of $before events"; status=1; }
	all=$((all + after))
	command -v perf >/dev/null || continue
	perf script -i file -F event >out 2>err || { echo "FAIL $n: $(tail -n 1 err)"; status=1; }
	theirs=$(grep -c 'lock:contention_' out || true)
	[ "$theirs" = "$after" ] || { echo "FAIL $n: $after events, perf has $theirs"; status=1; }
done
kill "$workload"
wait "$workload" || status=1
pids=
echo "$times times, $all events in all"
[ "$all" -gt 0 ] || { echo "FAIL no events"; status=1; }
exit $status
