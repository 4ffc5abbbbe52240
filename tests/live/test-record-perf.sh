#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf reads our recordings, with the same result: `perf script` prints as many contention events as
# our report counts, `perf report` and `perf lock contention` read the file. As a file, as a
# compressed one, through a pipe, and recovered from a stream that was cut.
#
# The recorded waits are for a holder that sleeps until all waiters do: thousands of them, whatever
# else the machine does, from the first to the last moment of each recording.
#
#     test-record-perf.sh KONTEND TRUTH [ROUNDS]
set -eu

kontend=$(realpath "$1")
truth=$(realpath "$2")
rounds=${3:-256}

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_perf
need_record --duration 50ms
need_sleeping_holder "$truth"
set -- "$truth" pipe -r 0 -w 16 -n "$rounds" -h 0 -o /dev/null
waits=$((16 * rounds))

# lines FILE: contention events that perf prints
lines() {
	perf script -i "$1" -F event 2>"$dir/perf.err" | grep -c 'lock:contention_' || true
}

# check NAME FILE LEAST: and that the file has so many events at least
check() {
	ours=$(events "$2")
	theirs=$(lines "$2")
	echo "$1: $ours events here, $theirs of perf, $(wc -c <"$2") bytes"
	[ "$ours" = "$theirs" ] || complain "$1: $ours events, perf prints $theirs"
	[ "$ours" -ge "$3" ] || complain "$1: only $ours events"
	perf report -i "$2" --stdio >"$dir/out" 2>"$dir/perf.err" ||
		complain "$1: perf report: $(tail -n 2 "$dir/perf.err")"
	grep -q 'lock:contention_begin' "$dir/out" || complain "$1: perf report shows no contention"
	! grep -i 'out of order' "$dir/perf.err" || complain "$1: perf finds events out of order"
	has_perf_lock || return 0
	for by in "" --threads; do
		# shellcheck disable=SC2086 # none or one word
		perf lock contention $by -i "$2" >"$dir/out" 2>&1 ||
			complain "$1: perf lock contention $by: $(tail -n 2 "$dir/out")"
		# Some waits are summed up with a time that is not 0.
		grep -Eq '^ +[1-9][0-9]* +[1-9][0-9.]* [num]?s ' "$dir/out" ||
			complain "$1: perf lock contention $by finds no waits: $(head -n 5 "$dir/out")"
	done
}

# Where it was waited, without call chains: functions, and several of them.
places() {
	perf script -i "$1" -F event,ip,sym -G >"$dir/out" 2>"$dir/perf.err" ||
		complain "perf script -F ip,sym: $(tail -n 2 "$dir/perf.err")"
	[ "$(grep -Ec 'lock:contention_(begin|end): +[0-9a-f]{8,} [a-z_]' "$dir/out")" -ge $waits ] ||
		complain "perf script -F ip,sym shows no functions: $(grep -m 3 lock: "$dir/out")"
	perf report -i "$1" --stdio --no-children -g none -F sample,sym >"$dir/out" \
		2>"$dir/perf.err" || complain "perf report: $(tail -n 2 "$dir/perf.err")"
	sed -n '/lock:contention_begin/,/Samples:/p' "$dir/out" | grep -Eq '\[k\] [a-z_]' ||
		complain "perf report shows no functions: $(cat "$dir/out")"
}

cd "$dir"
# perf does not know the events of locks of programs.
recording() {
	"$kontend" record -q -a --user-locks snapshot "$@"
}
recording -o file -- "$@"
check file file $waits
places file
recording -z -o packed -- "$@"
check compressed packed $waits
[ $(($(wc -c <packed) / $(events packed))) -lt $(($(wc -c <file) / $(events file))) ] ||
	complain "an event takes as many bytes in the compressed one"

recording -o - -- "$@" >stream
ours=$(events stream)
theirs=$(perf script -i - -F event <stream 2>perf.err | grep -c 'lock:contention_' || true)
echo "stream: $ours events here, $theirs of perf"
[ "$ours" -ge $waits ] || complain "stream: only $ours events"
[ "$ours" = "$theirs" ] || complain "stream: $ours events, perf prints $theirs"
piped=$(recording -o - -- "$@" | tee copy | "$kontend" report -i - --format json)
echo "$piped" | grep -q "\"events\": *$(events copy)," || complain "the report of a pipe is another one"

# Cut at places that are no boundary.
size=$(wc -c <stream)
for part in 70 83 99; do
	head -c $((size * part / 100 + 3)) stream >short
	before=$(events short)
	"$kontend" recover -q short || complain "recover at $part %"
	[ "$before" = "$(events short)" ] || complain "recovered at $part %: $(events short) of $before events"
	check "recovered at $part %" short 100
done

# A finished file that has lost its end.
head -c $(($(wc -c <file) * 80 / 100)) file >torn
"$kontend" recover -q torn || complain "recover of a torn file"
check torn torn 100

# A recording that perf did not finish: it is killed after its rings were full a few times.
perf record -q -a -g -m 16 -e lock:contention_begin,lock:contention_end -o theirs 2>perf.err &
recorder=$!
for _ in $(seq 50); do
	"$@"
	[ "$(stat -c %s theirs 2>/dev/null || echo 0)" -lt 300000 ] || break
	kill -0 "$recorder" 2>/dev/null || break
done
kill -KILL "$recorder" 2>/dev/null || true
wait "$recorder" 2>/dev/null || true
recorder=
if "$kontend" recover theirs 2>err; then
	grep -q 'of the running kernel' err || complain "no word about the formats: $(cat err)"
	check "recovered from perf" theirs 100
else
	complain "a recording that perf did not finish: $(cat err perf.err)"
fi
exit $status
