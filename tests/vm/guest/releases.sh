#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What kernels say when a lock is let go of for which others wait (lock:contended_release): who held
# it is exact then, and hand-overs have a length. By our own programs, by perf's events, and recorded.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "releases are told"
[ -d /sys/kernel/tracing/events/lock/contended_release ] || {
	skip "this kernel has no lock:contended_release"
	finish
}
gives 0 doctor kontend doctor -v
shows doctor 'found: readable: the kernel reports releases'

# exact OUTPUT: most holds are, and hand-overs were seen.
exact() {
	grep -E '^# (held while|[0-9.k]+ hand-overs)' "$1"
	shows "$1" '^# quality: lost 0, unmatched [0-9.<]+%'
	shows "$1" '^# [0-9.]+k? hand-overs, from a release until the next one had the lock: half within '
	grep -o '"exact": [0-9]*' "$1.json" | awk '{ n += $2 } END { exit !(n > 100) }' ||
		complain "few holds are exact: $(grep -o '"exact": [0-9]*' "$1.json" | head -n 5)"
}

case_of "by our programs"
# shellcheck disable=SC2086 # words
kontend record -q -o told $STORM || complain "not recorded"
gives 0 events kontend script -q -- storm 4 30 go
shows events ' release '
gives 0 live kontend report --view held -- storm 6 40 go
gives 0 live.json kontend report -j --view held -- storm 6 40 go
exact live

case_of "recorded, by perf's events"
gives 0 recorded kontend report --view held -i told
gives 0 recorded.json kontend report -j --view held -i told
exact recorded

case_of "who waits for a release that does not come"
# The holder sleeps, and lets go once: five wait for it then, one after the other.
turns "$PWD/file" >truth 2>err || skip "no holder can be made to sleep: $(cat err)"
gives 0 turned kontend script -q -- turns "$PWD/file"
[ "$(grep -c ' release ' turned)" -ge 5 ] || complain "fewer releases than turns"
finish
