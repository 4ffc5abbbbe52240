#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The JSON of a measurement here and now matches the schema, of every view and every command.
# Called as: test-json.sh KONTEND BP-HOLDER SCHEMA NAPS
set -eu
kontend=$1
bp_holder=$2
schema=$3
naps=$4
src=$(cd "$(dirname "$0")/../.." && pwd)
tests_json=$src/tests/json
# shellcheck source=tests/json/lib.sh
. "$tests_json/lib.sh"
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_record -a --duration 0.1

n=0
# says OPTION...: checks one more document
says() {
	n=$((n + 1))
	"$kontend" "$@" --json >"$dir/$n.json" 2>"$dir/err" || fail "kontend $*: $(cat "$dir/err")"
}

says report -a --view all --duration 3 -F 199 --mmap all,paths --owner --phases --creations \
	--trigger 'wait>1ms' --demo
says report -a --view all --duration 1 --no-bpf --demo
says report -a --view overview,locks --duration 1 --min-wait 100us --demo
says report -a --view blame,did,held,mmap --by stack --duration 1 --demo
says doctor
says bench breakpoint -r 1
mkdir "$dir/caught"
"$kontend" record -q -a --trigger 'wait>1ms' --post 200ms --duration 2 -o "$dir/caught" --demo 2>"$dir/err" ||
	fail "record --trigger: $(cat "$dir/err")"
says incidents "$dir/caught"
for file in "$dir"/caught/*.data; do
	[ -f "$file" ] || fail "no incident of the demo's waits"
	says report -i "$file" --view all
done
says script -i "$file"
"$kontend" record -q --sleeps -o "$dir/sleeps.data" -- "$naps" 10 10 >"$dir/slept" 2>"$dir/err" ||
	fail "record --sleeps: $(cat "$dir/err")"
says report -i "$dir/sleeps.data" --view blocked
says script -i "$dir/sleeps.data"
"$kontend" record -q --why -o "$dir/why.data" -- "$naps" 10 10 >"$dir/slept" 2>"$dir/err" ||
	fail "record --why: $(cat "$dir/err")"
says why -i "$dir/why.data"

# A program that holds all slots of a CPU prevents one more there. Others may have some: take the rest.
hold() { # KIND...
	rm -f "$dir/words"
	mkfifo "$dir/words"
	"$bp_holder" "$@" <"$dir/words" >"$dir/made" 2>&1 &
	work=$!
	exec 3>"$dir/words"
	while ! grep -q ready "$dir/made"; do
		kill -0 "$work" 2>/dev/null || {
			exec 3>&-
			return 1
		}
		sleep 0.1
	done
}
hold cpu:0 cpu:0 cpu:0 cpu:0 || hold cpu:0 cpu:0 cpu:0 || hold cpu:0 cpu:0 || hold cpu:0 ||
	fail "no breakpoints: $(cat "$dir/made")"
n=$((n + 1))
rc=0
"$kontend" doctor --enospc -C 0 --json >"$dir/$n.json" 2>"$dir/err" || rc=$?
[ $rc -eq 1 ] || fail "one more breakpoint would fit, or it is not known: $rc $(cat "$dir/err" "$dir/$n.json")"
exec 3>&-

validate "$schema" --live "$tests_json/unseen" "$dir"/*.json || status=1
exit $status
