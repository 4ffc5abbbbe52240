#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend bench suite`: suites read and compared, files that are none, and one short run of it all.
# Called as: suite.sh KONTEND FOLDER-OF-SUITES
suites=$2
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

run "$kontend" bench suite -i "$suites/before.json"
if grep -q 'built without libjansson\|is not there: install' "$work/err"; then
	cat "$work/err"
	exit 77
fi
[ "$rc" -eq 0 ] || complain "a suite is not read: $(cat "$work/err")"
prints '^# kontend bench suite: 2026-11-21T10:00:00Z, old: Linux 6\.18\.0, x86_64, 2 CPUs, kontend 0\.1\.0; 5 runs$'
prints '^  uprobe-nop, 1 cpus +calls +1\.00M/s +5\.00k/s +higher$'
prints '^  4 threads +handover_p50 +10\.0us +50ns +lower$'
prints '^rotation: skipped: Nothing rotates here$'

# Twice as much of both: better where more is better, worse where less is.
expect 0 '' "$kontend" bench suite -i "$suites/now.json" --compare "$suites/before.json"
prints '^# compared with .*/before\.json: 2026-11-21T10:00:00Z, old: Linux 6\.18\.0'
prints '^  uprobe-nop, 1 cpus +calls +1\.00M/s +2\.00M/s +\+100\.0% +\+9[0-9]\.[0-9]% to \+10[0-9]\.[0-9]% +better$'
prints '^  4 threads +handover_p50 +10\.0us +20\.0us +\+100\.0% +.* worse$'
prints '^  2 threads +real .* \+0\.0% +-[0-9.]+% to \+[0-9.]+% +same$'
prints '^  2 threads +usr .* not above 0 *$'
prints '^# 1 better, 1 worse, 1 the same as far as 5 and 5 runs can show; not compared: 1 facts, 1 without an interval, 0 only before, 1 only now$'
[ "$(sed -n '/^# compared/,$p' "$work/out" | grep -c holds)" -eq 0 ] || complain 'facts were compared'
expect 0 '' "$kontend" bench suite -i "$suites/before.json" --compare "$suites/now.json"
prints 'calls +2\.00M/s +1\.00M/s +-50\.0% .* worse$'
expect 0 '' "$kontend" bench suite -i "$suites/short.json" --compare "$suites/before.json"
prints 'calls .* too few runs *$'
prints '^# 0 better, 0 worse'

# It can read its own output again, and nothing has changed since.
"$kontend" bench suite -i "$suites/now.json" --json >"$work/again.json" || complain 'no JSON'
expect 0 '' "$kontend" bench suite -i "$work/again.json" --compare "$suites/now.json"
prints '^# 0 better, 0 worse'
"$kontend" bench suite -j -i "$suites/now.json" --compare "$suites/before.json" >"$work/out"
prints '"case": "4 threads", "metric": "handover_p50", "unit": "ns", "before": 10000\.000, "now": 20000\.000, "ratio": 2\.000, "interval": \[[0-9.]+, [0-9.]+\], "verdict": "worse"'

echo '{"schema": "kontend.bench.suite/1",' >"$work/cut.json"
expect 1 'cut\.json:2:0: this is no JSON' "$kontend" bench suite --compare "$work/cut.json"
echo '{"schema": "kontend.bench/1"}' >"$work/other.json"
expect 1 "other\.json: the whole: 'date' is no text" "$kontend" bench suite --compare "$work/other.json"
head -c 100000 /dev/zero | tr '\0' '[' >"$work/deep.json"
expect 1 'deep\.json:1:[0-9]+: this is no JSON' "$kontend" bench suite -i "$work/deep.json"
expect 1 'Cannot read .*nothing\.json: No such file' "$kontend" bench suite -i "$work/nothing.json"
expect 1 'Cannot read /: ' "$kontend" bench suite -i /
expect 129 '--input runs nothing' "$kontend" bench suite -i "$suites/now.json" -r 3
expect 129 "'kontend bench mutex' does not take --compare" "$kontend" bench mutex --compare x
expect 129 "--repeat '0': give a number from 1 to 1000000" "$kontend" bench suite -r 0
expect 129 "'1001': a suite has 1 to 1000 runs" "$kontend" bench suite -r 1001

# Once each: what this machine cannot is named with its reason, all else has a figure.
run "$kontend" bench suite -r 1 -q --format json
[ "$rc" -eq 0 ] || complain "the suite: exit $rc: $(cat "$work/err")"
[ ! -s "$work/err" ] || complain "-q: said $(cat "$work/err")"
for name in uprobe rotation breakpoint page-fault mmap mutex rwsem spinlock futex; do
	grep -qE "\"bench\": \"$name\", \"(case|reason)\"" "$work/out" || complain "nothing of $name"
done
prints '"bench": "mmap", "case": ".* threads", "metric": "real", "unit": "ns", "better": "lower", "median": [0-9.]+, "mad": 0\.000, "values": \[[0-9.]+\]'
! grep -oE '"metric": "[^"]*"' "$work/out" | grep -vE ': "[a-z0-9_]+"$' >"$work/odd" ||
	complain "metrics of another style: $(sort -u "$work/odd" | head -n 5)"
nothing_left 'bench suite'

# One that fails is named, and does not take the others with it.
if prlimit --as=92160000 "$kontend" --version >/dev/null 2>&1; then
	run prlimit --as=92160000 "$kontend" bench suite -q -r 1
	[ "$rc" -eq 1 ] || complain "one fails: exit $rc"
	grep -q '^kontend: [0-9] of the benchmarks failed: their lines say why$' "$work/err" ||
		complain "one fails: $(cat "$work/err")"
	prints '^page-fault: failed: Cannot map memory'
	prints '^ .* handover_p50 '
fi
finish
