#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend record` and `kontend recover`: files and their names, how a recording ends, what cannot
# be recorded or recovered. The content of the files is tested by tests/live and tests/unit.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 129 "there is no|must follow|not known|Unexpected argument" "$kontend" record file
expect 129 "a size of at least" "$kontend" record --max-size 10
expect 129 "a number from 1 to 22" "$kontend" record -z=0
expect 129 "a number from 1 to 22" "$kontend" record --compress=fast
expect 129 "a number from 1 to 1000" "$kontend" record --rotate 0
expect 129 "no option '-i'|not of 'kontend record'" "$kontend" record -i file
expect 129 "Give the recording to recover" "$kontend" recover
expect 129 "Unexpected argument 'two'" "$kontend" recover one two
expect 129 "Unexpected argument 'true'" "$kontend" recover one -- true

# A file that cannot be recovered stays as it is.
expect 1 "Cannot open the recording 'none'.*No such file" "$kontend" recover none
for bad in "" "a text, and none too short to have a header" "PERFILE2"; do
	printf %s "$bad" >"$work/bad"
	run "$kontend" recover "$work/bad"
	[ "$rc" -eq 1 ] || complain "recover of '$bad': exit $rc: $(cat "$work/err")"
	grep -q 'Cannot recover anything from' "$work/err" || complain "'$bad': $(cat "$work/err")"
	[ "$(cat "$work/bad")" = "$bad" ] || complain "'$bad' was changed"
	[ "$(find "$work" -name 'bad*' | wc -l)" -eq 1 ] || complain "'$bad': files were left"
done
expect 1 'is no regular file' "$kontend" recover -o "$work/x" "$work"
expect 1 "Cannot write beside 'no/where'" "$kontend" recover -o no/where "$work/bad"

need_root

# holds WHAT FILE...: these files and no others, each of them a recording; and cleans up.
holds() {
	what=$1
	shift
	names=$(printf '%s\n' "$@" | sort)
	[ "$(ls -A)" = "$names" ] || complain "$what: files: $(find . -type f | tr '\n' ' ')"
	for file in "$@"; do
		"$kontend" report -i "$file" >/dev/null 2>"$work/said" ||
			complain "$what: $file does not replay: $(cat "$work/said")"
		[ "$(stat -c %a "$file")" = 600 ] || complain "$what: $file has mode $(stat -c %a "$file")"
	done
	rm -f -- *
}

# records STATUS COMMAND...: nothing on standard output; on standard error one line, and below what was recorded how to
# look at it
records() {
	want=$1
	shift
	run "$@"
	[ "$rc" -eq "$want" ] || complain "$*: exit $rc, not $want: $(cat "$work/err")"
	[ ! -s "$work/out" ] || complain "$*: printed: $(head -n 3 "$work/out")"
	# A short file may have no room for the code of the functions in its call chains.
	case " $* " in
	*" --max-size "*) sed -i '/^kontend: No room for the code of [0-9]* functions$/d' "$work/err" ;;
	esac
	recorded=$(grep -c '^kontend: recorded ' "$work/err" || :)
	[ "$(wc -l <"$work/err")" -eq $((1 + recorded)) ] || complain "$*: not $((1 + recorded)) lines: $(cat "$work/err")"
	[ "$(grep -Ecx 'kontend: look: kontend replay [a-z.]+' "$work/err")" -eq "$recorded" ] ||
		complain "$*: does not say how to look: $(cat "$work/err")"
}

records 0 "$kontend" record --duration 100ms
grep -Eq '^kontend: recorded [0-9.]+m?s to kontend.data: [0-9.]+[KM], [0-9.]+k? events?, [0-9.]+k? lost$' \
	"$work/err" || complain "said: $(cat "$work/err")"
records 0 "$kontend" record --duration 100ms
holds 'the second time' kontend.data kontend.data.old
records 3 "$kontend" record -o x -z -- sh -c 'exit 3'
holds 'a status' x
records 137 "$kontend" record -o x -z=9 -- sh -c 'kill -KILL $$'
holds 'a signal' x
run "$kontend" record -q --duration 50ms -o x
[ ! -s "$work/err" ] || complain "-q said: $(cat "$work/err")"
"$kontend" recover x >"$work/out" 2>"$work/err" || complain "recover of a whole file: $(cat "$work/err")"
grep -q 'nothing to recover' "$work/err" || complain "recover of a whole file: $(cat "$work/err")"
"$kontend" recover -q -o copied x || complain "recover -o of a whole file: exit $?"
cmp -s x copied || complain "recover -o of a whole file: $(ls -A)"
holds quiet x copied

# Another program's file that has taken the name is not touched at the end, and ours is complete.
records 0 "$kontend" record -o x --duration 10 -- sh -c \
	'until [ -s x ]; do sleep 0.1; done; mv x moved; echo mine >x'
[ "$(cat x)" = mine ] || complain "another file of that name was changed"
rm -f x
holds 'a moved recording' moved

# One that is removed while it is written is none.
mkdir gone
expect 1 "The recording 'gone/x' was removed while it was written" "$kontend" record -q -o gone/x --duration 60 -- \
	sh -c 'until [ -s gone/x ]; do sleep 0.1; done; rm -r gone; sleep 60'

# Files that would be mostly symbols are refused, with the least that is not; what was there stays.
echo old >kontend.data
records 1 "$kontend" record --rotate 1 --max-size 1M --duration 50ms
[ "$(ls -A):$(cat kontend.data)" = kontend.data:old ] || complain "too small files: $(ls -A)"
least=$(sed -n 's/.*before the events of each file.*at least \([0-9]*K\)$/\1/p' "$work/err")
rm -f kontend.data
# Each process may be named before the events; some may have begun since.
[ -z "$least" ] || records 0 "$kontend" record --rotate 1 --max-size $((${least%K} + 512))K --duration 300ms
# shellcheck disable=SC2046 # names without blanks
[ -z "$least" ] || holds 'the least that was named' $(ls -A)

# A recording that never begins leaves the old file alone.
echo old >kontend.data
records 127 "$kontend" record -- no-such-command
[ "$(ls -A)" = kontend.data ] || complain "no such command: files: $(ls -A)"
[ "$(cat kontend.data)" = old ] || complain "no such command: the old file is gone"
rm -f kontend.data
expect 1 "Cannot record to the file 'no/where'" "$kontend" record -o no/where --duration 1
expect 1 "Cannot record to the file '/'" "$kontend" record -o / --duration 1
run "$kontend" record -q -o /dev/null --duration 50ms
[ "$rc" -eq 0 ] || complain "/dev/null: $(cat "$work/err")"
nothing_left '/dev/null'

# shellcheck disable=SC2317 # called through comes
inode() {
	stat -c %i kontend.data 2>/dev/null || echo none
}

# shellcheck disable=SC2317 # called through comes
differs() {
	[ "$(inode)" != "$1" ]
}

# ends STATUS NAME SIGNAL... -- OPTIONS...: the signals come when there is a file, each USR2 when
# the one before has begun another.
ends() {
	want=$1 name=$2 signals=
	shift 2
	while [ "$1" != -- ]; do
		signals="$signals $1"
		shift
	done
	shift
	tests=$((tests + 1))
	rc=0
	"$kontend" record "$@" 2>"$work/err" &
	pid=$!
	comes test -e kontend.data || :
	for signal in $signals; do
		before=$(inode)
		sleep 0.3
		kill -s "$signal" "$pid"
		[ "$signal" != USR2 ] || comes differs "$before" || :
	done
	wait "$pid" || rc=$?
	[ "$rc" -eq "$want" ] || complain "$name: exit $rc, not $want: $(cat "$work/err")"
}

# A shell's background job ignores SIGINT, but for a program that reads its signals.
ends 0 SIGINT INT --
holds SIGINT kontend.data
ends 130 'SIGINT too early' INT -- --duration 60
holds 'SIGINT too early' kontend.data
ends 143 SIGTERM TERM --
holds SIGTERM kontend.data
ends 0 rotation USR2 USR2 USR2 INT --
[ "$(find . -name 'kontend.data.2*' | wc -l)" -eq 3 ] || complain "rotation: files: $(ls)"
grep -q 'and 3 files before it' "$work/err" || complain "rotation said: $(cat "$work/err")"
# shellcheck disable=SC2046 # names without blanks
holds rotation $(ls -A)
ends 0 'rotation with a limit' USR2 USR2 USR2 INT -- --rotate 2 -z
[ "$(find . -name 'kontend.data.2*' | wc -l)" -eq 2 ] || complain "--rotate 2: files: $(ls)"
# shellcheck disable=SC2046 # names without blanks
holds 'rotation with a limit' $(ls -A)

# The sizes: only the limit, which is soon reached, ends this, and the file is no longer. One that has
# no room for the symbols never begins.
limit=1048576
run "$kontend" record --max-size $limit --duration 50ms
if [ "$rc" -ne 0 ]; then
	grep -q 'before the events take' "$work/err" || complain "too small a limit: $(cat "$work/err")"
	nothing_left 'too small a limit'
	limit=$(sed -n 's/.*before the events take \([0-9]*\) bytes.*/\1/p' "$work/err")
fi
rm -f -- *
limit=$((limit + 300000))
records 0 timeout 100 "$kontend" record --max-size $limit -m 16 --demo
[ "$(wc -c <kontend.data)" -le $limit ] || complain "--max-size $limit: $(wc -c <kontend.data) bytes"
holds '--max-size' kontend.data

# In a stream there is nothing of the command.
run "$kontend" record -q -o - -- echo HELLO
[ "$(head -c 8 "$work/out")" = PERFILE2 ] || complain "a stream begins with: $(head -c 14 "$work/out")"
[ "$(cat "$work/err")" = HELLO ] || complain "a command beside a stream said: $(cat "$work/err")"
"$kontend" report -i - <"$work/out" >/dev/null || complain "a stream beside a command cannot be read"

# Pipes: a reader that goes early, and no rotation.
tests=$((tests + 1))
{
	rc=0
	"$kontend" record -q -o - --demo || rc=$?
	echo "$rc" >"$work/status"
} 2>"$work/err" | head -c 10000 >"$work/out"
[ "$(cat "$work/status")" = 141 ] || complain "a reader that goes: exit $(cat "$work/status")"
nothing_left 'a reader that goes'

# A reader that stalls: the first signal waits for it, the second does not.
tests=$((tests + 1))
mkfifo "$work/fifo"
exec 5<>"$work/fifo"
"$kontend" record -q -o - >"$work/fifo" 2>"$work/err" &
pid=$!
comes blocks_signals "$pid" || :
sleep 0.3
kill -TERM "$pid"
comes heard_signals "$pid" || :
# Less than half a second later it would be the same one, as a terminal sends it.
sleep 0.7
kill -0 "$pid" || complain "a stalled reader: one signal was enough"
kill -TERM "$pid"
rc=0
wait "$pid" || rc=$?
[ "$rc" -eq 143 ] || complain "a stalled reader: exit $rc, not 143: $(cat "$work/err")"
exec 5>&-

# A pipe without a reader: a signal ends a task that sleeps in a write to it, live or not.
mkfifo "$work/full"
exec 5<>"$work/full"
for verb in script 'export --format perfetto'; do
	# Perfetto needs libprotobuf-c, which this build may not have.
	case $verb in *perfetto*) "$kontend" version --features | grep -q '^  pprof  *\[ on \]' || continue ;; esac
	tests=$((tests + 1))
	# shellcheck disable=SC2086 # words
	"$kontend" $verb --demo >"$work/full" 2>"$work/err" &
	pid=$!
	comes measures "$pid" || :
	sleep 3
	kill -TERM "$pid"
	rc=0
	wait "$pid" || rc=$?
	[ "$rc" -eq 143 ] || complain "$verb into a full pipe: exit $rc, not 143: $(cat "$work/err")"
done
exec 5>&-

# A FIFO without a reader: a signal ends the wait for one.
mkfifo "$work/nobody"
tests=$((tests + 1))
"$kontend" record -q -o "$work/nobody" 2>"$work/err" &
pid=$!
comes blocks_signals "$pid" || :
kill -TERM "$pid"
rc=0
wait "$pid" || rc=$?
[ "$rc" -eq 143 ] || complain "a FIFO without a reader: exit $rc, not 143: $(cat "$work/err")"

# Signals that say nothing to it.
ends 0 'USR1 and ALRM' USR1 ALRM INT --
holds 'USR1 and ALRM' kontend.data

if command -v script >/dev/null; then
	run script -qec "$kontend record --duration 2500ms -o $work/onterm" /dev/null
	grep -Eq 'recording [1-9][0-9.]*s: .* events, .* lost' "$work/out" || complain "no progress: $(cat "$work/out")"
	grep -Eq 'recorded (2\.[5-9]|[3-9]|[1-5][0-9])[0-9.]*s to' "$work/out" || complain "no end: $(cat "$work/out")"
	run script -qec "$kontend record -o $work/onterm -- sleep 2.2" /dev/null
	if grep -q 'recording ' "$work/out" || ! grep -q 'recorded .* to' "$work/out"; then
		complain "what a command writes is mixed with: $(cat "$work/out")"
	fi
fi
# Names of programs that are loaded while a screen is drawn are in its picture.
# shellcheck disable=SC2016 # expanded inside
expect 0 '' "$kontend" record -q -F 997 -o "$work/names.data" -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
for keys in 9 '9 f' '9 Enter'; do
	expect 0 '' "$kontend" screenshot -q --no-config "$work/names.data" --keys "$keys" --size 120x30
	! grep -F '(loading)' "$work/out" || complain "a picture after the keys $keys has names that are still being loaded"
done
finish
