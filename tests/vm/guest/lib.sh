# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the tests in the machine share besides the checks.
# shellcheck source=tests/vm/checks.sh
. /lib/checks.sh

# Files that are to come out of the machine.
# shellcheck disable=SC2034 # used by those that source this
OUT=/out

# Work of a known amount, whose contention is measured until it is done, however slow the machine.
# shellcheck disable=SC2034 # used by those that source this
STORM="-a -- storm 6 80 go"

# Types of locks, as extended regular expressions. On PREEMPT_RT mutexes and spinlocks are rt-mutexes,
# and so is what those who write wait for, if another one writes.
MUTEX=mutex READERS=rwsem:R WRITERS=rwsem:W
is_rt() {
	uname -v | grep -q PREEMPT_RT
}
! is_rt || MUTEX=rt-mutex READERS=rwlock-rt:R WRITERS='(rwlock-rt:W|rt-mutex)'

# What a report of it has: writers and readers of mmap_lock, a directory's lock, a pipe's.
shows_storm() {
	shows "$1" '^# quality: lost 0, unmatched [0-9.<]+%'
	shows "$1" "^  $WRITERS +([a-zA-Z0-9_:.-]+ [^ ]{1,3}[0-9a-f]{6}|mmap_lock [a-z]+/[0-9]+) .* ~?[a-z_]*(mmap|munmap|brk)[a-z_]*\$"
	shows "$1" "^  $READERS +([a-zA-Z0-9_:.-]+ [^ ]{1,3}[0-9a-f]{6}|[a-z_]+ [^ ]+) .* ~?(lock_mm_and_find_vma|do_user_addr_fault|do_page_fault|do_madvise)\$"
	shows "$1" "^  ($MUTEX|$WRITERS) +([a-zA-Z0-9_:.-]+ [^ ]{1,3}[0-9a-f]{6}|[a-z_>-]+ [^ ]+) .* ~?((anon_)?pipe_(read|write)|do_unlinkat|do_rmdir|path_openat|filename_create)\$"
}

# within PERCENT ONE OTHER
within() {
	echo "$1 $2 $3" | awk '{ d = $2 > $3 ? $2 - $3 : $3 - $2; exit !($3 > 0 && d * 100 <= $3 * $1) }'
}

# load NAME COMMAND...: a load in the background, which says "ready" and then its result into NAME.
loads=
load() {
	name=$1
	shift
	"$@" >"$name" &
	loads="$loads $!"
	eventually grep -q ready "$name"
}

# The ends of all loads, and what they say then.
unload() {
	# shellcheck disable=SC2086 # one number a word
	kill $loads
	# shellcheck disable=SC2086
	wait $loads
	loads=
}
