#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --time: parts of recordings. Needs no privilege.
# Called as: time.sh KONTEND MAKE-RECORDING
# shellcheck disable=SC2016 # expanded by the shells that are started
make=$(realpath "$2")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
"$make" "$work"
canned=$work/canned.data # from second 1 to second 4 of its clock
pipe=$work/pipe.data     # the same, as it goes through a pipe
chmod 644 "$work"/*.data

# The number after KEY in the output.
number() {
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$work/out" | head -n 1
}

# same NAME EXPECTED IS
same() {
	[ "$2" = "$3" ] || complain "$1: $3, not $2"
}

# Ways to say the same.
for time in 1s,2s 0:01,+1s @2,@3 2,3 2.0,3.000000000 '33.33333334%,66.66666667%'; do
	expect 0 '' "$kontend" report -i "$canned" -j --view all --time "$time"
	same "$time" 2000000000 "$(number time_from_ns)"
	same "$time" 3000000000 "$(number time_to_ns)"
	same "$time" 1000000000 "$(number duration_ns)"
	[ -f "$work/second" ] || cp "$work/out" "$work/second"
	cmp "$work/out" "$work/second" || complain "$time: another report"
done
expect 0 '' "$kontend" report -i "$canned" --time 1s,2s
prints '^# range \+0:01.000 to \+0:02.000, 20[0-9-]* [0-9:.]* to 20'
prints '^# measured 1.00s: '

# Parts add up to the whole.
for key in events contended; do
	expect 0 '' "$kontend" report -i "$canned" -j --view overview
	whole=$(number $key)
	sum=0
	for time in ',0.5s' '0.5s,1234567us' '1234567us,2s' '2s,'; do
		expect 0 '' "$kontend" report -i "$canned" -j --view overview --time "$time"
		sum=$((sum + $(number $key)))
	done
	same "sum of $key" "$whole" "$sum"
done

# Lines are those with these times, both ends included, from a pipe as well.
expect 0 '' "$kontend" script -qi "$canned"
cp "$work/out" "$work/lines"
from=$(awk 'NR == 30 { print $1 }' "$work/lines")
to=$(awk 'NR == 60 { print $1 }' "$work/lines")
awk -v from="$from" -v to="$to" '/^#/ || ($1 >= from && $1 <= to)' "$work/lines" >"$work/want"
expect 0 '' "$kontend" script -qi "$canned" --time "$from,$to"
cmp "$work/out" "$work/want" || complain "script: other lines of $from,$to"
expect 0 '' sh -c '"$1" script -qi - --time "$3" <"$2"' sh "$kontend" "$canned" "$from,$to"
cmp "$work/out" "$work/want" || complain "script: other lines from a pipe"
expect 0 '' sh -c 'cat "$2" | "$1" report -i - -j --view all --time 1s,2s' sh "$kontend" "$pipe"
cmp "$work/out" "$work/second" || complain "report: another one from a pipe"

# Formats of other tools.
expect 0 '' "$kontend" export -i "$canned" --format openmetrics --time 1s,2s
prints '^kontend_measurement_seconds\{.*\} 1\.000000000$'
expect 0 '' "$kontend" export -qi "$canned" --time 1s,2s
folded=$(awk '!/still waiting/ { s += $NF } END { printf "%.0f", s }' "$work/out")
same 'folded' "$folded" "$(sed -n 's/^ *"total_ns": \([0-9]*\),/\1/p' "$work/second" | head -n 1)"
expect 0 '' "$kontend" export -i "$canned" --format firefox --time 1s,2s
same firefox 2000000000 "$(number time_from_ns)"

# A file without its end time is read through to find it; a pipe cannot be.
expect 0 '' "$kontend" report -i "$pipe" -j --view all --time '33.33333334%,66.66666667%'
cmp "$work/out" "$work/second" || complain "report: another one of a file without an end"
expect 0 '' "$kontend" report -q -i "$work/perf.data" --time 50%,
# The head of a file that another program has made may be of other samples: its end decides nothing.
# Where its time begins is that of the first sample, or up to 2 ms before it by the head.
for file in file head; do
	expect 0 '' "$kontend" report -qi "$work/$file.data" -j --view overview --time '25%,75%'
	length=$(number duration_ns)
	{ [ "$length" -ge 1340000000 ] && [ "$length" -le 1360000000 ]; } ||
		complain "$file.data: half of 2.7 seconds is $length ns"
done
expect 129 '^kontend: --time of standard input: "50%": how long this is, is known at its end only' \
	sh -c 'cat "$2" | "$1" report -i - --time 50%,' sh "$kontend" "$pipe"
expect 129 'is outside of the recording; it goes from 0:00 to 0:03.000 \(@1.0* to @4.0*\)' \
	sh -c 'cat "$2" | "$1" script -i - --time 1:00,' sh "$kontend" "$pipe"

# Both of a comparison.
expect 0 '' "$kontend" diff "$canned" "$canned" --format csv --time 1s,2s
grep -qE '^(new|gone|more|less),' "$work/out" && complain "diff: differs from itself"
expect 0 '' "$kontend" diff -j "$canned" "$work/other.data" --time 50%,
same 'diff: A' 2500000000 "$(number time_from_ns)"
expect 129 'time of .*other.data: "2s,3s" is outside of the recording; it goes from 0:00 to 0:01.000' \
	"$kontend" diff "$canned" "$work/other.data" --time 2s,3s

# Combinations that make no sense.
ends='it goes from 0:00 to 0:03.000 \(@1.000000 to @4.000000\)$'
for verb in report script export; do
	expect 129 "\"2s,1s\" is no range: it ends before it begins; $ends" \
		"$kontend" $verb -i "$canned" --time 2s,1s
	expect 129 "\"9:00,\" is outside of the recording; $ends" \
		"$kontend" $verb -i "$canned" --time 9:00,
	expect 129 "\"soon\" is no time, like .*; $ends" "$kontend" $verb -i "$canned" --time soon,
	expect 129 "\"5\" is no range: give FROM,TO" "$kontend" $verb -i "$canned" --time 5
	expect 129 "something that is not empty" "$kontend" $verb -i "$canned" --time ''
done
expect 129 "no range" "$kontend" report -i "$canned" --time 5 -o "$work/cwd/new"
expect 1 'Cannot open' "$kontend" report -i "$work/absent" --time 1s,2s

# By one thread or two.
for range in ',' 1s,2s 0.5s,1234567us; do
	for what in 'report -j --view all' 'script -q' 'export -q --format folded'; do
		# shellcheck disable=SC2086 # words
		expect 0 '' "$kontend" $what -i "$canned" --time $range --threads 1
		cp "$work/out" "$work/one"
		# shellcheck disable=SC2086
		expect 0 '' "$kontend" $what -i "$canned" --time $range --threads 2
		cmp "$work/out" "$work/one" || complain "$what $range: another one by two threads"
	done
done
expect 129 'threads' "$kontend" report -i "$canned" --threads 0
finish
