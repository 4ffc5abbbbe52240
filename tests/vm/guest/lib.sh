# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the tests in the machine share. Each sources it, makes its checks and ends with `finish`.
status=0

complain() {
	echo "FAIL $*"
	status=1
}

# shows FILE PATTERN: a line of it is like this, as grep -E takes it.
shows() {
	grep -qE -e "$2" "$1" || complain "$1 has no line '$2'"
}

lacks() {
	! grep -E -e "$2" "$1" || complain "$1 has a line '$2'"
}

# gives STATUS OUTPUT COMMAND...: it exits with STATUS; what it says goes to the file OUTPUT and,
# with a heading, to the log.
gives() {
	want=$1 output=$2
	shift 2
	echo "== $*"
	# At once, so that it can be seen when the machine's time is up.
	{
		rc=0
		"$@" </dev/null || rc=$?
		echo "$rc" >/tmp/exit-status
	} 2>&1 | tee "$output"
	rc=$(cat /tmp/exit-status)
	[ "$rc" -eq "$want" ] || complain "$*: exit status $rc, not $want"
}

# A command that contends for locks that have names in the kernel's table: 4 processes make and
# remove cgroups and network name spaces, as often as its argument says.
cat >/bin/churn <<'END'
#!/bin/sh
for k in 1 2 3 4; do
	while [ "$1" -gt 0 ]; do
		mkdir "/sys/fs/cgroup/churn-$k"
		rmdir "/sys/fs/cgroup/churn-$k"
		unshare -n true
		set -- $(($1 - 1))
	done &
done
wait
END
chmod 755 /bin/churn

# Work of a known amount, whose contention is measured until it is done, however slow the machine.
# shellcheck disable=SC2034 # used by those that source this
STORM="-a -- storm 6 80 go"

# What a report of it has: writers and readers of mmap_lock, a directory's lock, a pipe's.
shows_storm() {
	shows "$1" '^# quality: lost 0, unmatched [0-9.<]+%'
	shows "$1" '^  rwsem:W +0x[0-9a-f]+ \([a-z_]+\) .* ~?[a-z_]*(mmap|munmap|brk)[a-z_]*$'
	shows "$1" '^  rwsem:R +0x[0-9a-f]+ \([a-z_]+\) .* ~?(lock_mm_and_find_vma|do_user_addr_fault|do_page_fault)$'
	shows "$1" '^  (mutex|rwsem:W) +0x[0-9a-f]+ \([a-z_]+\) .* ~?((anon_)?pipe_(read|write)|do_unlinkat|do_rmdir|path_openat|filename_create)$'
}

finish() {
	echo "done $(cut -d' ' -f1 /proc/uptime) s after the kernel began"
	exit "$status"
}
