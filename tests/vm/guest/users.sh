#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Locks of programs, on another kernel: its programs are taken, and what they report is what a program
# says that has measured its own waits.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "waits for locks of programs are measured"
gives 0 said kontend record -q -o users -- user-contend 60
gives 0 report kontend report -i users --view locks --by type --rows 0 --format csv
gives 0 lines kontend script -i users --format json

# sum TYPE: waits that the program has measured itself.
sum() {
	awk -v type="$1" '$1 == type || index($1, type ":") == 1 { n += $3 } END { print n + 0 }' said
}

# seen TYPE: waits that kontend has seen. A thread that loses its CPU has waited, but not slept.
seen() {
	awk -F, -v type="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["type"] == type { n += $at["contended"] }
		END { print n + 0 }' report
}

for type in 'mutex(u)' 'pi(u)' 'rwlock(u)'; do
	truth=$(sum "$type") seen=$(seen "$type")
	echo "$type: $seen of $truth waits"
	[ "$truth" -gt 0 ] || complain "$type: the program has not waited"
	[ "$seen" -ge $((truth * 95 / 100)) ] || complain "$type: $seen of $truth waits"
done

case_of "with their owners and releasers"
grep '"event": "futex"' lines | grep '"type": "mutex(u)"' >mutexes || true
n=$(wc -l <mutexes)
released=$(grep -c '"releaser_tid": [0-9]' mutexes || true)
owned=$(grep -c '"owner_tid": [0-9]' mutexes || true)
echo "$n sleeps for mutexes, $released with a releaser, $owned with an owner"
[ "$n" -gt 100 ] || complain "$n sleeps for mutexes"
[ "$released" -ge $((n * 99 / 100)) ] || complain "$released of $n have a releaser"
[ "$owned" -ge $((n * 9 / 10)) ] || complain "$owned of $n have an owner"

# Threads that use the locks, which the program prints from its fifth column on.
awk 'FILENAME == "said" { for (i = 5; i <= NF; i++) is[$i] = 1; next }
	{ for (k = 1; k <= 2; k++) {
		at = match($0, k == 1 ? "\"owner_tid\": [0-9]+" : "\"releaser_tid\": [0-9]+")
		if (!at) continue
		t = substr($0, RSTART, RLENGTH); sub(/.*: /, "", t)
		if (!(t in is)) { print "no thread of the program: " t; wrong++ } } }
	END { exit wrong > 0 }' said mutexes >wrong || complain "$(head -n 3 wrong)"
finish
