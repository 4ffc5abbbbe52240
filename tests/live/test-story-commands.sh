#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend story NAME` of each story that can run here: its tables have the waits that it is about, its figures are
# there, and nothing of it stays; where it cannot run, it says why, and its recording can be shown.
# Called as: test-story-commands.sh KONTEND
set -eu
kontend=$1
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_record --duration 100ms
probes=$(cat /sys/kernel/tracing/uprobe_events 2>/dev/null || :)

# what NAME: a line that its tables have.
# shellcheck disable=SC2016 # patterns
what() {
	case $1 in
	slots) printf '%s\n' '^waits for the slots. locks:|^# waits for the slots. locks:|bp_cpuinfo_sem|bench-bp' ;;
	faults) printf '%s\n' '^ *[0-9.]+ .* \[kernel\] ' ;;
	uprobes) printf '%s\n' 'bench_uprobe_(nop|ret)' ;;
	mmap) printf '%s\n' '^ .*bench-mmap/[0-9]+ .* [WR] ' ;;
	fork) printf '%s\n' '^  rwsem:R .*(mmap_lock story-fork|lock_mm_and_find_vma|mm_struct)' ;;
	java) printf '%s\n' '^  lock\(u\) +(JvmHang.SessionCache|Java) monitor' ;;
	flock) printf '%s\n' '^  flock:W .*cron.lock' ;;
	cgroup) printf '%s\n' '^  mutex +(cgroup|filp)' ;;
	rotation) printf '%s\n' '^ .* [0-9]+ .* (cpu-wide|task)' ;;
	esac
}

names=$("$kontend" story -j | sed -n 's/.*"story": "\([a-z]*\)".*/\1/p')
[ "$(echo "$names" | wc -w)" -ge 9 ] || fail "stories: $names"
for name in $names; do
	rc=0
	"$kontend" story "$name" -q >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
	echo "$name: $rc $(head -n 1 "$dir/err")"
	if [ "$rc" -eq 1 ] && grep -q "^kontend: .*: 'kontend story $name --recorded' shows a recording\$" "$dir/err"; then
		[ "$("$kontend" story -j | grep "\"story\": \"$name\"" | grep -c '"missing": "')" -eq 1 ] ||
			complain "$name cannot run, but the list says nothing of it"
		continue
	fi
	[ "$rc" -eq 0 ] || complain "$name: exit $rc: $(cat "$dir/err")"
	grep -qE "$(what "$name")" "$dir/out" || complain "$name: its tables lack it: $(head -n 40 "$dir/out")"
	sed -n "/^$name: /,\$p" "$dir/out" >"$dir/figures"
	[ "$(grep -c '  [0-9][0-9.]*[a-zA-Z%]*$' "$dir/figures")" -ge 3 ] ||
		complain "$name: hardly any figure: $(cat "$dir/figures")"
	[ -z "$(find /dev/shm /tmp /sys/fs/cgroup -maxdepth 3 -name 'kontend-story-*' 2>/dev/null)" ] ||
		complain "$name: left files or cgroups"
done
[ "$(cat /sys/kernel/tracing/uprobe_events 2>/dev/null || :)" = "$probes" ] || complain "probes stay in tracefs"

# Its figures alone, without measuring beside it.
"$kontend" story flock -j >"$dir/json" || complain "flock as JSON: $?"
grep -q '"what": "the longest wait", .*"value": [1-9]' "$dir/json" || complain "no figure: $(cat "$dir/json")"
exit $status
