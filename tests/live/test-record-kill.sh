#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 at random moments, before and after the first events are written from the rings, which is
# within half a second: whenever there is a file, it replays, and after `kontend recover` perf reads
# it and counts the same.
#
#     test-record-kill.sh KONTEND TRUTH [TIMES]
set -eu

kontend=$(realpath "$1")
truth=$(realpath "$2")
times=${3:-50}

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_record --duration 50ms
need_sleeping_holder "$truth"
cd "$dir"

# Waits for a holder that sleeps, as long as this runs; the last of them ends by itself.
(
	trap 'exit 0' TERM
	while kill -0 $$ 2>/dev/null; do
		"$truth" pipe -r 0 -w 4 -n 256 -h 0 -o /dev/null
	done
) &
work=$!
all=0
for n in $(seq "$times"); do
	rm -f -- file*
	level=
	[ $((n % 2)) = 0 ] || level=-z
	# perf does not know the events of locks of programs, nor those of locks of files.
	# shellcheck disable=SC2086 # none or one word
	"$kontend" record -q --user-locks snapshot $level -o file &
	recorder=$!
	while [ ! -e file ] && kill -0 "$recorder" 2>/dev/null; do
		sleep 0.01
	done
	sleep "$(printf '0.%03d' $(($(od -An -N2 -tu2 /dev/urandom) % 1000)))"
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null || true
	recorder=
	size=$(wc -c <file)
	if ! before=$(events file); then
		complain "$n: $size bytes do not replay"
		continue
	fi
	if ! "$kontend" recover -q file 2>err; then
		complain "$n: $size bytes cannot be recovered: $(cat err)"
		continue
	fi
	after=$(events file)
	[ "$before" = "$after" ] || complain "$n: $after of $before events"
	all=$((all + after))
	command -v perf >/dev/null || continue
	ours=$("$kontend" script -i file --json 2>err | grep '"event": "\(begin\|end\)"' |
		grep -c -v '"type": "\(flock\|posix\|lease\)"' || true)
	perf script -i file -F event >out 2>err || complain "$n: $(tail -n 1 err)"
	theirs=$(grep -c 'lock:contention_' out || true)
	[ "$theirs" = "$ours" ] || complain "$n: $ours events of locks of the kernel, perf has $theirs"
done
kill "$work"
wait "$work" || status=1
work=
echo "$times times, $all events in all"
[ "$all" -gt 0 ] || complain "no events"
exit $status
