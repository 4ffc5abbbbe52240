#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend export --interval`: a file that is complete at any time, and whose counters only
# grow. Called as: interval.sh KONTEND
# shellcheck disable=SC2317 # functions that until_true calls
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

openmetrics='export --format openmetrics --interval 1s'
# shellcheck disable=SC2086 # words
{
	expect 129 'is for --format openmetrics' "$kontend" export --interval 1s -o new.prom
	expect 129 'needs --output FILE' "$kontend" $openmetrics
	expect 129 'leave out --input' "$kontend" $openmetrics -o new.prom -i absent
	expect 129 'leave out --time' "$kontend" $openmetrics -o new.prom --time 1s,2s
	expect 129 'is no regular file' "$kontend" $openmetrics -o /dev/null
	expect 129 'give a time from' "$kontend" export --interval 1ms -o new.prom
}
need_root
# shellcheck disable=SC2086
expect 1 'Cannot write to the file .*: No such file' "$kontend" $openmetrics -o absent/new.prom

folder=$work/cwd/textfile
file=$folder/kontend.prom

value() {
	sed -n "s/^$1 //p" "$file"
}

# until WHAT COMMAND...: a generous deadline, for the command may never do it.
until_true() {
	what=$1
	shift
	i=0
	while ! "$@"; do
		i=$((i + 1))
		if [ $i -gt 600 ]; then
			complain "never: $what: $(cat "$work/err")"
			return
		fi
		sleep 0.1
	done
}

is_there() {
	[ -s "$file" ]
}

has_more_than() {
	[ "$(value kontend_events_total)" -gt "$1" ]
}

said() {
	grep -q "$1" "$work/err"
}

mkdir "$folder"
# shellcheck disable=SC2086
"$kontend" $openmetrics -o "$file" --demo 2>"$work/err" >"$work/out" </dev/null &
pid=$!
until_true 'the first file' is_there
looks=0
events=0
while [ $looks -lt 3 ]; do
	until_true "more than $events events" has_more_than "$events"
	now=$(value kontend_events_total)
	[ "$now" -gt "$events" ] || complain "counters fell from $events to $now"
	events=$now
	[ "$(tail -n 1 "$file")" = '# EOF' ] || complain "no EOF: $(tail -n 1 "$file")"
	looks=$((looks + 1))
	tests=$((tests + 1))
done
[ "$(ls "$folder")" = kontend.prom ] || complain "beside the file: $(ls "$folder")"
start=$(value kontend_start_time_seconds)

# A folder that is not there for a while.
mv "$folder" "$folder.away"
until_true 'a message' said 'Cannot write to the file'
mv "$folder.away" "$folder"
until_true 'a file again' said 'is written again'
[ "$(wc -l <"$work/err")" -eq 2 ] || complain "said: $(cat "$work/err")"
until_true 'more events' has_more_than "$events"
[ "$(value kontend_start_time_seconds)" = "$start" ] || complain "it began anew"

kill -TERM $pid
rc=0
wait $pid || rc=$?
[ $rc -eq 0 ] || complain "exit $rc after SIGTERM"
[ "$(tail -n 1 "$file")" = '# EOF' ] || complain "no EOF at the end"
[ "$(ls "$folder")" = kontend.prom ] || complain "left beside the file: $(ls "$folder")"
rm -r "$folder"
nothing_left interval

# With an end, and with a command.
# shellcheck disable=SC2086
run "$kontend" $openmetrics -o new.prom --duration 1500ms
[ "$rc" -eq 0 ] || complain "--duration: exit $rc"
[ "$(tail -n 1 new.prom)" = '# EOF' ] || complain "--duration: no EOF"
# shellcheck disable=SC2086
run "$kontend" $openmetrics -o new.prom -- sh -c 'exit 7'
[ "$rc" -eq 7 ] || complain "a command's exit status: $rc"
rm new.prom
finish
