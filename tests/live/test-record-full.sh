#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A disk that fills up and a file that may not grow end a recording with a message and a file that
# is whole: perf needs no help to read it. So are those that --max-size ends, none of which is
# longer. The disk is a small tmpfs that only this test sees.
#
#     test-record-full.sh KONTEND TRUTH
set -eu

kontend=$(realpath "$1")
truth=$(realpath "$2")
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
if [ "${3-}" != inside ]; then
	need_root
	need_sleeping_holder "$truth"
	need_mounts
	rc=0
	"$own_mounts" "$0" "$kontend" "$truth" inside || rc=$?
	exit $rc
fi

mkdir "$dir/disk"
mount -t tmpfs -o size=2m none "$dir/disk"
# shellcheck disable=SC2317 # called at the end
undo() {
	cd /
	umount "$dir/disk"
}
cd "$dir/disk"

# check NAME MESSAGE RC
check() {
	[ "$3" = 1 ] || complain "$1: exit $3: $(cat ../err)"
	grep -q "$2" ../err || complain "$1: no word of it: $(cat ../err)"
	events=$(events kontend.data)
	echo "$1: $(wc -c <kontend.data) bytes, $events events"
	[ "${events:-0}" -gt 100 ] || complain "$1: ${events:-no} events: $(cat ../err)"
	left=$(ls)
	[ "$left" = kontend.data ] || complain "$1: files: $left"
	"$kontend" recover kontend.data 2>&1 | grep -q 'nothing to recover' ||
		complain "$1: the file is not finished"
	if command -v perf >/dev/null; then
		lines=$(perf script -i kontend.data -F event 2>/dev/null | grep -c lock:contention_ || true)
		[ "$lines" = "$events" ] || complain "$1: perf prints $lines events"
	fi
	rm -f -- *
}

# perf does not know the events of locks of programs, so these are left out.
# Waits for a holder that sleeps, as long as kontend is there: more than fits, whatever else the
# machine does. Rings are small, so that what is written at once is a part of the room that there is.
# shellcheck disable=SC2016 # expanded inside
set -- -m 32 -- sh -c 'cd /; while kill -0 $PPID; do "$@"; done' sh "$truth" pipe -r 0 -w 32 -n 64 -h 0 -o /dev/null
rc=0
timeout 200 "$kontend" record -q -a --user-locks snapshot "$@" 2>../err || rc=$?
check "full disk" 'No space left on device' $rc
rc=0
(
	ulimit -f 3072
	timeout 200 "$kontend" record -q -a --user-locks snapshot "$@" 2>../err
) || rc=$?
check "size limit" 'File too large' $rc

# Files of a requested length, and the counts reported for them: the kernel's own counts. There are
# kernels that count an event of a CPU which was idle and write no sample of it, so no CPU is idle
# while the counts are compared.
cpus=$(sed -n "s/^cpu\([0-9][0-9]*\) .*/\1/p" /proc/stat)
for cpu in $cpus; do
	taskset -c "$cpu" nice -n 19 sh -c 'while :; do :; done' &
	work="$work $!"
done
cd ..
mkdir sizes
cd sizes
size=4194304
timeout 200 "$kontend" record -a --user-locks snapshot --max-size $size --rotate 3 "$@" 2>../err &
recorder=$!
for _ in $(seq 1900); do
	[ "$(find . -name 'kontend.data.2*' | wc -l)" -lt 2 ] || break
	kill -0 "$recorder" 2>/dev/null || break
	sleep 0.1
done
kill -INT "$recorder"
rc=0
wait "$recorder" || rc=$?
recorder=
[ $rc = 130 ] || complain "--rotate: exit $rc: $(cat ../err)"
[ "$(find . -name 'kontend.data*' | wc -l)" -ge 3 ] || complain "--rotate: files: $(ls)"
for file in kontend.data*; do
	[ "$(wc -c <"$file")" -le $size ] || complain "--max-size $size: $(wc -c <"$file") bytes"
	"$kontend" recover "$file" 2>&1 | grep -q 'nothing to recover' || complain "$file is not finished"
done
echo "--rotate: $(wc -c kontend.data* | tr '\n' ' ')"
rm -f -- *
# With small rings records of holders are lost as well; with --min-wait BPF reports waits and holders.
for options in "" -z "-m 8" "--min-wait 1us"; do
	rc=0
	# shellcheck disable=SC2086 # none, or words
	timeout 200 "$kontend" record -a --user-locks snapshot $options --max-size $size "$@" 2>../err || rc=$?
	[ $rc = 0 ] || [ $rc = 143 ] || complain "--max-size: exit $rc: $(cat ../err)"
	[ "$(wc -c <kontend.data)" -le $size ] || complain "--max-size $size: $(wc -c <kontend.data) bytes"
	said=$(sed -n 's/.*, \([0-9.]*[kM]*\) events,.*/\1/p' ../err)
	# The kernel counts begins and ends; a report also counts what BPF reports of holders.
	events=$("$kontend" script -i kontend.data | awk '$4 == "begin" || $4 == "end" { n++ } END { print n + 0 }')
	echo "--max-size $options: $(wc -c <kontend.data) bytes, $events events, said $said"
	awk -v n="$events" -v s="$said" 'BEGIN {
		u = s ~ /k$/ ? 1e3 : s ~ /M$/ ? 1e6 : 1
		exit !(n > 100 && n - u * s < n * 0.006 && u * s - n < n * 0.05)
	}' || complain "said $said events, there are $events"
	rm -f -- *
done
cd ../disk

# No room for the header: one sentence, no new file, and the old file is unchanged.
echo earlier >kontend.data
dd if=/dev/zero of=other bs=4096 2>/dev/null || true
rc=0
"$kontend" record -q --duration 300ms 2>../err || rc=$?
[ "$rc" = 1 ] || complain "no room at all: exit $rc"
[ "$(ls)" = "kontend.data
other" ] || complain "no room at all: files: $(ls)"
[ "$(cat kontend.data)" = earlier ] || complain "no room at all: the earlier file has gone"
[ "$(wc -l <../err)" = 1 ] || complain "no room at all: $(cat ../err)"
grep -q 'No space left on device$' ../err || complain "no room at all: $(cat ../err)"
exit $status
