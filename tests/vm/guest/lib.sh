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

# Rows of a report of it: writers and readers of mmap_lock, a directory's lock, a pipe's.
shows_storm() {
	shows "$1" '^# quality: lost 0, unmatched [0-9.<]+%'
	shows "$1" "^  $WRITERS +([a-zA-Z0-9_:.-]+ [^ ]{1,3}[0-9a-f]{6}|mmap_lock [a-z]+/[0-9]+) .* ~?[a-z_]*(mmap|munmap|brk)[a-z_]*( .*)?\$"
	shows "$1" "^  $READERS +([a-zA-Z0-9_:.-]+ [^ ]{1,3}[0-9a-f]{6}|[a-z_]+ [^ ]+) .* ~?(lock_mm_and_find_vma|do_user_addr_fault|do_page_fault|do_madvise)( .*)?\$"
	shows "$1" "^  ($MUTEX|$WRITERS) +([a-zA-Z0-9_:.-]+ [^ ]{1,3}[0-9a-f]{6}|[a-z_>-]+ [^ ]+) .* ~?((anon_)?pipe_(read|write)|do_unlinkat|do_rmdir|path_openat|filename_create)( .*)?\$"
}

# cgroups_script FILE: makes and removes thirty cgroups, each with cgroup_mutex.
cgroups_script() {
	cat >"$1" <<'EOF'
i=0
while [ $i -lt 30 ]; do
	mkdir /sys/fs/cgroup/held$i
	rmdir /sys/fs/cgroup/held$i
	i=$((i + 1))
done
EOF
}

# within PERCENT ONE OTHER
within() {
	echo "$1 $2 $3" | awk '{ d = $2 > $3 ? $2 - $3 : $3 - $2; exit !($3 > 0 && d * 100 <= $3 * $1) }'
}

# load NAME COMMAND...: a load in the background, which writes "ready" and then its result into NAME.
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

# Of events that take turns on counters:

# value FILE KEY: the number of the first row.
value() {
	sed -n '/"rows"/,$p' "$1" | grep -o "\"$2\": [0-9.]*" | head -n 1 | sed 's/.*: //'
}

truth() {
	gives 0 "$1" mux-truth perf_mux_hrtimer_handler 0.3
	truth=$(sed -n 's/.* p50_ns=\([0-9]*\).*/\1/p' "$1")
}

# right_cost FILE: of a rotation.
right_cost() {
	p50=$(value "$1" p50_ns)
	echo "p50 $p50 ns, by itself $truth ns"
	within 2 "$p50" "$truth" || complain "a rotation takes $p50 ns, not $truth"
}

# take_turns N: so many events of each CPU do.
take_turns() {
	case_of "$1 events of each CPU take turns"
	load loaded mux-load "$1" cpu 1000
	truth "truth.$1"
	gives 0 "rotation.$1" kontend report --format json --duration 1.5 --view rotation
	right_cost "rotation.$1"
	per_s=$(value "rotation.$1" rotations_per_s)
	within 10 "$per_s" 250 || complain "$per_s rotations per second, not 250"
	shows "rotation.$1" "\"events\": $1,"
	shows "rotation.$1" '"owners": \["mux-load/.*"owner_kinds": \["cpu-wide"\]'
	unload
}
