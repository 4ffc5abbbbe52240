#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How long locks are held although no task waits for them: a variable of the kernel, an address, and
# types, beside what a program says that has held its locks for known times.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# field FILE PATTERN KEY: the number of the first row with the pattern.
field() {
	grep -E "$2" "$1" | head -n 1 | grep -o "\"$3\": [0-9.]*" | sed 's/.*: //'
}

# sum FILE PATTERN KEY: of all rows with the pattern.
sum() {
	grep -E "$2" "$1" | grep -o "\"$3\": [0-9.]*" | awk '{ n += $2 } END { printf "%.0f\n", n }'
}

# at_least WHAT NUMBER LEAST
at_least() {
	echo "$1: $2, at least $3"
	awk -v n="${2:-0}" -v least="$3" 'BEGIN { exit !(n >= least) }' || complain "$1 is $2"
}

cgroups_script groups

case_of "a variable of the kernel"
gives 0 named kontend report -j --rows 9 --holds cgroup_mutex -- sh groups
shows named '"of": "cgroup_mutex"'
shows named '"none": null'
at_least acquisitions "$(field named '"name": "cgroup_mutex"' acquisitions)" 60
at_least holds "$(field named '"name": "cgroup_mutex"' holds)" 60
shows named '"taken_by": "[^"]*cgroup_mkdir'
shows named '"taken_by": "[^"]*cgroup_rmdir'
lacks named '"taken_in": "(mutex_lock|bpf_[a-z_0-9]+)"'
shows named '"run_ns": [1-9]'

case_of "the same by its address"
at=$(awk '$3 == "cgroup_mutex" { print $1 }' /proc/kallsyms)
gives 0 addressed kontend report -j --rows 9 --holds "0x$at" -- sh groups
at_least acquisitions "$(field addressed "\"lock\": \"0x$at\"" acquisitions)" 60

# known TYPE FUNCTIONS: five holds of 200 ms by calls through these functions, in a recording.
known() {
	gives 0 truth kontend record -q -o recording --holds "$1" -- known-holds 5 200
	gives 0 known kontend report -j -i recording --view holds --rows 12
	row="\"taken_in\": \"$2\".*\"kind\": \"$1\""
	least=$(awk -v k="$1" '$1 == k { print $3 }' truth) most=$(awk -v k="$1" '$1 == k { print $4 }' truth)
	at_least holds "$(sum known "$row" holds)" 5
	at_least total "$(sum known "$row" held_total_ns)" "$least"
	at_least "their longest, of all five calls" "$most" "$(field known "$row" held_max_ns)"
	shows known '"comm": "known-holds"'
}

case_of "a pipe's mutex"
known mutex '(anon_)?pipe_(write|prefill_and_lock)'

case_of "a file's rwsem, for writing"
known rwsem:W '(generic|shmem)_file_write_iter'

case_of "a directory's rwsem, for reading"
known rwsem:R iterate_dir

case_of "a task that has it now"
gives 0 now kontend report --duration 3 --rows 0 --format csv --holds mutex -- known-holds 1 20000
shows now ',known-holds/[0-9]+,'

case_of "what costs too much is left out"
gives 0 dear kontend report -j --rows 3 --duration 6 -a --max-overhead 0.01 --holds mutex
shows dear '"level": "(no chains|one in N|stopped)"'
shows dear '--max-overhead 0.01%'

case_of "what cannot be measured"
gives 129 refused kontend report --holds spinlock
shows refused 'rwsem:R and rwsem:W'
gives 0 absent kontend report --duration 0.1 --holds no_such_lock
shows absent '^# holds of no_such_lock not measured: '
finish
