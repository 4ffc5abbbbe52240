#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend bench selftest` passes: on a machine that has nothing else to do, and beside four times
# as many tasks as CPUs, where threads are put off their CPUs at any moment.
# Called as: test-selftest.sh KONTEND
set -eu
kontend=$1
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_record --duration 100ms

check() {
	if ! "$kontend" bench selftest >"$dir/out" 2>"$dir/err"; then
		cat "$dir/out" "$dir/err"
		complain "$1: kontend did not see what was made"
	fi
	cat "$dir/out"
	for kind in mutex rwsem:W rwsem:R spinlock 'futex bucket' breakpoints 'uprobe hits'; do
		grep -q "^$kind  *[0-9].* ok\$\|^[a-z ]*: not here\|^[a-z ]* not here: " "$dir/out" ||
			complain "$1: nothing of $kind"
	done
}

check alone
for _ in $(seq $((4 * $(getconf _NPROCESSORS_ONLN)))); do
	while :; do :; done &
	work="$work $!"
done
check 'beside others'
stop_all

# Figures are there, and numbers.
"$kontend" bench selftest --json >"$dir/json" || complain 'JSON: it failed'
grep -q '"case": "mutex", "metric": "seen", "unit": "1", "better": "fact", "value": 40\.000' "$dir/json" ||
	grep -q mutex "$dir/err" || complain "no figure of mutexes: $(cat "$dir/json")"
exit $status
