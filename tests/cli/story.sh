#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend story`: the list, each story's recording as text, JSON and screens, what is refused, and that an ended
# workload leaves nothing. Called as: story.sh KONTEND FIGURES
recordings=$(dirname "$(realpath "$2")") here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export TZ=UTC
unset TERM

expect 0 '' "$kontend" story
names=$(sed -n 's/^\([a-z]\{2,\}\) .*/\1/p' "$work/out")
[ "$(echo "$names" | wc -w)" -ge 9 ] || complain "stories: $names"
prints '^slots +breakpoint slots'
prints "with --recorded it needs no rights"
expect 0 '' "$kontend" story --format json
prints '"schema": "kontend.stories/1"'
[ "$(grep -c '"measure": ' "$work/out")" -eq "$(echo "$names" | wc -w)" ] || complain "not each story is listed"

# callouts NAME N: the N-th screen at 80x24 has all of its callout below a view that shows something.
callout() {
	keys=
	i=1
	while [ "$i" -lt "$2" ]; do
		keys="$keys Enter" i=$((i + 1))
	done
	expect 0 '' "$kontend" screenshot -q --no-config --story "$1" --size 80x24 ${keys:+--keys "$keys"}
	grep -q "^─ story $1 $2/" "$work/out" || return 1
	[ "$(wc -l <"$work/out")" -eq 24 ] || complain "$1 $2: not 24 rows"
	sed -n "/^─ story $1/,/^ Enter /p" "$work/out" | sed '1d;$d' >"$work/text"
	[ "$(tail -c 2 "$work/text")" = . ] || complain "$1 $2: cut: $(cat "$work/text")"
	[ "$(grep -o '\. \|\.$' "$work/text" | wc -l)" -le 3 ] || complain "$1 $2: more than three sentences"
	[ "$(sed "/^─ story $1/,\$d" "$work/out" | sed 1,3d | grep -c '[a-z]')" -ge 2 ] ||
		complain "$1 $2: shows nothing: $(cat "$work/out")"
}

for name in $names; do
	expect 0 '' "$kontend" story "$name" --recorded
	prints "^$name: "
	prints '^recorded: '
	prints '^compare: '
	prints '^# quality: lost 0'
	sed -n "/^$name: /,\$p" "$work/out" >"$work/figures"
	[ "$(grep -c '  [0-9][0-9.]*[a-zA-Z%]*$' "$work/figures")" -ge 3 ] ||
		complain "$name: hardly any figure: $(cat "$work/figures")"
	awk 'length($0) > 80 { exit 1 }' "$work/figures" || complain "$name: wider than 80"
	expect 0 '' "$kontend" story "$name" --recorded -j
	prints '"recorded": true'
	prints '"what": '
	n=1
	while callout "$name" $n; do
		n=$((n + 1))
	done
	[ $n -ge 4 ] || complain "$name has $((n - 1)) callouts"
done
for name in slots faults rotation uprobes mmap; do
	expect 0 '' "$kontend" story "$name" --recorded
	prints '^published: '
	prints '^ +before +after +recorded$'
done

# Recordings are small, and have nothing private of the machine where they were made.
for name in $names; do
	file=$recordings/$name.data
	[ "$(stat -c %s "$file")" -le $((256 * 1024)) ] || complain "$file: $(stat -c %s "$file") bytes"
	expect 0 '' python3 "$here/sample-private.py" "$file"
	[ ! -s "$work/out" ] || complain "$file tells of its machine: $(cat "$work/out")"
done

# Command lines that make no sense.
expect 129 "no story 'fok': give one of slots, faults" "$kontend" story fok
expect 129 'Give a story, as in' "$kontend" story --recorded
expect 129 'leave out --recorded and --format' "$kontend" story fork --work -j
expect 129 'leave out --duration' "$kontend" story fork --recorded --duration 3
expect 129 '--output is for the figures of --work' "$kontend" story fork -o x
expect 129 "Unexpected argument 'java'" "$kontend" story fork java
expect 129 "--story 'fok': give one of: slots" "$kontend" screenshot --story fok
expect 129 "--story has a recording of its own: leave out 'x'" "$kontend" screenshot --story fork x
expect 129 "--duration 'soon'" "$kontend" story fork --duration soon

# A user without rights is offered the recording, in one sentence.
if [ "$(id -u)" -eq 0 ]; then
	run setpriv --reuid=12345 --regid=12345 --clear-groups --bounding-set=-all "$kontend" story fork
	[ "$rc" -eq 1 ] || complain "without rights: exit $rc"
	grep -q "^kontend: You may not measure here (CAP_PERFMON): 'kontend story fork --recorded' shows a recording$" \
		"$work/err" || complain "without rights: $(cat "$work/err")"
	run setpriv --reuid=12345 --regid=12345 --clear-groups --bounding-set=-all "$kontend" story fork --recorded -j
	[ "$rc" -eq 0 ] || complain "the recording without rights: exit $rc: $(cat "$work/err")"
fi

# Works alone, into a file; what is ended leaves no process, no file and no cgroup.
left() {
	find /dev/shm /sys/fs/cgroup -name "kontend-story-*" 2>/dev/null
}
if [ "$(id -u)" -eq 0 ]; then
	run "$kontend" story flock --work -o "$work/figures"
	[ "$rc" -eq 0 ] || complain "the workload: exit $rc: $(cat "$work/err")"
	grep -q '^flock	flock	longest	ns	[1-9]' "$work/figures" || complain "figures: $(cat "$work/figures")"
	nothing_left "story flock --work"
	run "$kontend" story flock --work -o /no/such/file
	[ "$rc" -eq 1 ] || complain "no such folder: exit $rc"
	for name in flock cgroup; do
		before=$(left)
		TMPDIR=/dev/shm "$kontend" story $name --work --duration 1m >/dev/null 2>"$work/err" &
		pid=$!
		comes sh -c "[ \"\$(find /dev/shm /sys/fs/cgroup -name kontend-story-$pid)\" ]" || cat "$work/err"
		kill -s TERM $pid
		rc=0
		wait $pid || rc=$?
		[ "$rc" -eq 143 ] || complain "story $name: SIGTERM gives $rc"
		[ "$(left)" = "$before" ] || complain "story $name leaves $(left)"
		nothing_left "story $name"
	done
fi
finish
