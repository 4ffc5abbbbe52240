#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Pictures of the recording that comes with kontend: each view in each form, the results of keys,
# where it is written, and what is refused. It needs no terminal and no privileges.
# Called as: screenshot.sh KONTEND RECORDING
# shellcheck disable=SC2317 # functions are called through comes
sample=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export TZ=UTC
unset TERM

# shot ARGUMENT...: a picture in $work/shot.svg, its text in $work/shot.txt; both say the same.
shot() {
	for form in svg txt; do
		run "$kontend" screenshot -q --no-config "$sample" "$@" -o "$work/shot.$form"
		if [ "$rc" -ne 0 ] || [ -s "$work/err" ]; then
			complain "$*: exit $rc: $(cat "$work/err")"
		fi
	done
	"$here/picture.py" "$work/shot.svg" "$work/shot.txt" || complain "the picture of $* is wrong"
}

# shows PATTERN: the last picture has that in one of its rows.
shows() {
	grep -qE -e "$1" "$work/shot.txt" || complain "no '$1' in: $(cat "$work/shot.txt")"
}

for view in $("$kontend" dump views | cut -f 1); do
	shot --view "$view" --size 132x40 --theme light
	[ "$(wc -l <"$work/shot.txt")" -eq 40 ] || complain "$view has not 40 rows"
	shot --view "$view" --size 80x24 --at 0:12.5 --theme mono
	shows '^kontend  replay .* PAUSED '
done
grep -q 'fill="#15171c"' "$work/shot.svg" || complain "no dark background"

# Keys lead on: by name, or typed.
shot --keys 2
shows '^ by lock'
shot --keys '2 Down Enter' --size 120x40
shows '^locks › '
shot --keys '2 /rwsem Enter'
grep -qE '^.(mutex|spinlock) ' "$work/shot.txt" && complain "the filter was not typed"
shows '^.rwsem:'
shot --keys ':view Space blame Enter'
shows 'blame'
shot --ascii --view locks
! LC_ALL=C grep -q '[^ -~]' "$work/shot.txt" || complain "--ascii has more than that"
shot --time 0:10,0:12 --view locks
shows 'RANGE \+0:10\.[0-9]* to \+0:12\.[0-9]*'

# A range is the one that was asked for, to the digit, and has what a report of it has. Figures of a row are after
# its holder, or in a report after those that wait now.
figures() {
	sed -nE 's/^.[a-z].* (·|-|~[^ ]+) +([0-9].*)/\2/p' "$1" | awk '{ print $1, $2, $3, $4, $5, $6, $7, $8, $9 }' | head -n 3
}
for time in 0:10.123,0:12.5 3.3s,8.05s; do
	shot --time "$time" --view locks --size 159x16
	case $time in
	0:10*) shows 'RANGE \+0:10\.123 to \+0:12\.500' ;;
	3*) shows 'RANGE \+0:03\.300 to \+0:08\.050' ;;
	esac
	figures "$work/shot.txt" >"$work/seen"
	expect 0 '' "$kontend" report -qi "$sample" --time "$time" --view locks -n 3
	sed 's/^ //' "$work/out" >"$work/told"
	figures "$work/told" >"$work/want"
	[ "$(wc -l <"$work/want")" -eq 3 ] || complain "$time: no three rows in $(cat "$work/out")"
	cmp "$work/seen" "$work/want" || complain "$time: $(cat "$work/seen"), not $(cat "$work/want")"
done
shot --at 50%
shows '\+0:([1-9]|0[1-9])[0-9.]* of .* PAUSED'

# The screen's own key saves the same picture.
mkdir "$work/state"
expect 0 '' env XDG_STATE_HOME="$work/state" "$kontend" screenshot -q "$sample" --keys '2 P' -o "$work/said.txt"
expect 0 '' "$kontend" screenshot -q "$sample" --keys 2 -o "$work/shot.svg"
cmp "$work/shot.svg" "$work/state/kontend/"kontend-locks-*.svg || complain "P saved something else"

# Where it goes: text on standard output, a pipe as input, in colours.
expect 0 '' "$kontend" screenshot -q "$sample" --view locks
prints '^ by lock'
expect 0 '' sh -c "'$kontend' screenshot -q - --format ansi --view locks <'$sample'"
prints "$(printf '\033')\\[0;1;38;5;231;48;5;24m"
expect 0 '' "$kontend" screenshot -q -i "$sample" --format svg
prints '^<svg xmlns='
expect 1 'standard output: No space left' sh -c "'$kontend' screenshot -q '$sample' >/dev/full"
expect 1 "Cannot write to the file '/no/such/x.svg'" "$kontend" screenshot -q "$sample" -o /no/such/x.svg
expect 1 'kontend.data' "$kontend" screenshot -q
echo old >"$work/kept.svg"
expect 1 '' sh -c "'$kontend' screenshot -q /etc/passwd -o '$work/kept.svg' 2>/dev/null"
[ "$(cat "$work/kept.svg")" = old ] || complain "a failure wrote over what was there"

# A process that is asked to end leaves nothing: while a recording comes slowly it has a file open
# that has no name yet.
mkfifo "$work/pipe"
exec 9<>"$work/pipe"
"$kontend" screenshot -q - -o "$work/cwd/slow.svg" <"$work/pipe" &
pid=$!
# shellcheck disable=SC2317 # called through another
is_open() {
	for of in $(processes); do
		[ -z "$(find "${of%/exe}/fd" -lname "$work/cwd/*" 2>/dev/null)" ] || return 0
	done
	return 1
}
comes is_open || :
kill -s TERM $pid
rc=0
wait $pid || rc=$?
[ "$rc" -eq 143 ] || complain "SIGTERM gives $rc"
nothing_left "after SIGTERM"

# Combinations that make no sense.
expect 129 "--size '10x5': give columns and rows" "$kontend" screenshot "$sample" --size 10x5
expect 129 "--size '80': give" "$kontend" screenshot "$sample" --size 80
expect 129 "--size '80x24x1': give" "$kontend" screenshot "$sample" --size 80x24x1
expect 129 '--at: "soon" is no time' "$kontend" screenshot -q "$sample" --at soon
expect 129 '--at and --time exclude each other' "$kontend" screenshot "$sample" --at 1 --time 0:01,0:02
expect 129 '--format' "$kontend" screenshot "$sample" --format png
expect 129 'two recordings' "$kontend" screenshot -i a b
finish
