#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Recordings that perf makes here, read by us and by perf: as many waits and as much time, in all as
# perf lock contention prints, by type as in a naive pass over perf script: perf's table has one type
# for each caller, which may wait for several. Then each goes through our writer, plain, packed and
# as a stream, and perf reads that: as many events, the same waits. perf counts waits that failed or
# did not end, we do not: in recordings of all CPUs other programs may have some.
#
#     test-perfdata.sh PERFDATA STORM
set -eu

here=$(dirname "$0")
perfdata=$1
storm=$2

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_perf_lock

# Waits that failed, are in flight at the end, or never got their end.
odd_ones() {
	"$perfdata" "$1" | awk '
		$1 == "failed" { n += $2 }
		$1 == "events" { split($8, unmatched, "+"); n += $6 + unmatched[1] }
		END { print n + 0 }'
}

events=lock:contention_begin,lock:contention_end
# Again when events were lost, or another program had waits that failed or did not end: what those
# belong to cannot be compared to the nanosecond.
make() {
	name=$1
	shift
	for _ in 1 2 3 4 5; do
		"$@" "$storm" 8 200 go >"$dir/out" 2>"$dir/err" || {
			cat "$dir/err"
			exit 1
		}
		! "$perfdata" "$dir/$name" | grep -q '^events .* lost 0 ' ||
			[ "$(odd_ones "$dir/$name")" != 0 ] || break
	done
	echo "made $name: $(wc -c <"$dir/$name") bytes"
}
make file perf record -q -a -g -m 1024 -e $events -o "$dir/file" --
make packed perf record -q -z -a -g -m 1024 -e $events -o "$dir/packed" --
make task perf record -q -g -m 1024 -e $events -o "$dir/task" --
make locks perf lock record -q -o "$dir/locks" --
perf record -q -a -g -m 1024 -e $events -o - -- "$storm" 8 200 go >"$dir/out" 2>"$dir/err" || true
# The storm prints its own lines before the stream's magic.
grep -q . "$dir/out" && tail -c +"$(($(grep -abo PERFILE2 "$dir/out" | head -n 1 | cut -d: -f1) + 1))" \
	"$dir/out" >"$dir/stream"

# "contended ns" of perf's table, all callers together
perf_total() {
	perf lock contention -i "$1" -E 1000000 2>&1 | awk '
		BEGIN {
			unit["ns"] = 1; unit["us"] = 1e3; unit["ms"] = 1e6; unit["s"] = 1e9
			unit["m"] = 60e9; unit["h"] = 3600e9
		}
		$1 ~ /^[0-9]+$/ && $3 in unit { n += $1; t += $2 * unit[$3] }
		END { printf "%d %.0f\n", n, t }'
}

# "TYPE contended ns"
naive_types() {
	perf script -i "$1" -G -F pid,tid,time,event,trace --ns 2>/dev/null | awk -f "$here/naive.awk" |
		awk '$1 != "unmatched" { print $1, $2, $3 }' | sort
}

our_types() {
	"$perfdata" "$1" | awk '$1 ~ /^(spinlock|rw|mutex|rt|percpu|pcpu|semaphore)/ { print $1, $2, $3 }' |
		sort
}

# same_total NAME FILE: but for the odd waits, of which perf may count some or none; within a
# hundredth in time, as perf rounds what it prints and does not sum up a wait that it finds under
# another caller at its end.
same_total() {
	our_types "$2" | awk -v name="$1" -v odd="$(odd_ones "$2")" -v theirs="$(perf_total "$2")" '
		{ n += $2; t += $3 }
		END {
			split(theirs, perf, " ")
			printf "%s: %d waits, %.0f ns, of perf %d, %.0f; ", name, n, t, perf[1], perf[2]
			print odd, "failed or did not end"
			d = perf[2] > t ? perf[2] - t : t - perf[2]
			exit !n || perf[1] < n - odd || perf[1] > n + odd || !odd && d > t / 100 + 1e6
		}' || complain "$1: perf and we do not agree"
}

# same_types NAME FILE: each wait of each type, to the nanosecond, but for the odd ones.
same_types() {
	naive_types "$2" >"$dir/theirs"
	our_types "$2" >"$dir/ours"
	join -a 1 -a 2 -e 0 -o 0,1.2,1.3,2.2,2.3 "$dir/theirs" "$dir/ours" |
		awk -v name="$1" -v odd="$(odd_ones "$2")" '
			{ print name, $0 }
			$2 > $4 + odd || $2 < $4 - odd || !odd && $3 != $5 { bad = 1 }
			END { exit bad }' || complain "$1: a naive pass and we do not agree"
}

# same_written NAME FILE COPY: for us nothing has changed, and perf reads it as well.
same_written() {
	[ "$(our_types "$2")" = "$(our_types "$3")" ] || complain "$1: other waits: $(our_types "$3")"
	same_total "$1" "$3"
}

# Contention events that perf script prints.
count() {
	perf script -i "$1" -F event 2>/dev/null | grep -c "lock:contention" || true
}

found() {
	"$perfdata" "$1" | sed -n 's/^events \([0-9]*\) .*/\1/p'
}

for name in file packed task locks; do
	same_types $name "$dir/$name"
	same_total $name "$dir/$name"
done
[ "$(odd_ones "$dir/task")" = 0 ] || complain "task: the storm has waits that fail or do not end"
for name in file packed task locks stream; do
	[ "$(count "$dir/$name")" = "$(found "$dir/$name")" ] ||
		fail "$name: perf has $(count "$dir/$name") events, we have $(found "$dir/$name")"
done

for name in file packed stream; do
	for level in 0 3; do
		copy=$dir/$name-$level
		"$perfdata" --copy "$dir/$name" "$copy" $level || complain "$copy: not written"
		"$perfdata" --copy "$dir/$name" - $level >"$copy.pipe" || complain "$copy.pipe: not written"
		same_written "written $name, level $level" "$dir/$name" "$copy"
		for form in "$copy" "$copy.pipe"; do
			[ "$(count "$form")" = "$(found "$dir/$name")" ] ||
				fail "$form: perf has $(count "$form") of $(found "$dir/$name") events"
			[ "$(found "$form")" = "$(found "$dir/$name")" ] || complain "$form: not all read back"
		done
		perf report -i "$copy" --stdio >"$dir/report" 2>&1 || complain "$copy: perf report"
		grep -q contention_begin "$dir/report" || complain "$copy: perf report shows no events"
	done
done

# Snapshots of ours between the events: perf counts the events as before.
for level in 0 3; do
	copy=$dir/snapshots-$level
	"$perfdata" --copy "$dir/file" "$copy" $level 200000 || complain "$copy: not written"
	"$perfdata" --copy "$dir/file" - $level 200000 >"$copy.pipe" || complain "$copy.pipe: not written"
	same_written "with snapshots, level $level" "$dir/file" "$copy"
	for form in "$copy" "$copy.pipe"; do
		"$perfdata" "$form" | grep -q "^snapshots [1-9][0-9]* lost 0$" || complain "$form: no snapshots"
		[ "$(count "$form")" = "$(found "$dir/file")" ] ||
			fail "$form: perf has $(count "$form") of $(found "$dir/file") events"
	done
	perf report -i "$dir/file" --stdio 2>/dev/null | grep "^# Event count" | head -n 2 >"$dir/counts"
	perf report -i "$copy" --stdio 2>/dev/null | grep "^# Event count" >"$dir/report"
	while read -r line; do
		grep -qxF "$line" "$dir/report" || complain "$copy: perf report has not '$line'"
	done <"$dir/counts"
	grep -q . "$dir/counts" || complain "$copy: perf report says no counts"
done
exit $status
