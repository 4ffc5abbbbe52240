#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend export --format perfetto` and `firefox` of the recording that comes with kontend, read by the rules of the
# formats: they add up to the report. tests/traces uses their own readers. Called as: traces.sh KONTEND RECORDING
sample=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || {
	echo "skipped: no python3 to read traces with"
	exit 77
}
export PYTHONDONTWRITEBYTECODE=1

formats='perfetto firefox'
run "$kontend" export -q "$sample" --format perfetto -o "$work/t"
if grep -q 'built without libprotobuf-c' "$work/err"; then
	echo "without perfetto: $(cat "$work/err")"
	formats=firefox
fi

# trace FORMAT ARGUMENT...: into $work/t; its figures in $work/said.
trace() {
	format=$1
	shift
	run "$kontend" export -q --no-config -i "$sample" --format "$format" -o "$work/t" "$@"
	if [ "$rc" -ne 0 ] || [ -s "$work/err" ]; then
		complain "$format $*: exit $rc: $(cat "$work/err")"
	fi
	"$here/traces.py" "$format" "$work/t" >"$work/said" 2>"$work/wrong" || complain "$format $*: $(cat "$work/wrong")"
}

# is LINE: its figures have that line.
is() {
	grep -qxF -e "$1" "$work/said" || complain "$format: no '$1' in: $(cat "$work/said")"
}

# of MEMBER ARGUMENT...: of the report's overview.
of() {
	member=$1
	shift
	"$kontend" report -q --no-config -j --view overview -i "$sample" "$@" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["views"]["overview"][sys.argv[1]])' "$member"
}

# more NAME: the number of these is not 0.
more() {
	[ "$(sed -n "s/^$1 //p" "$work/said")" -gt 0 ] || complain "$format: no $1 in: $(cat "$work/said")"
}

for f in $formats; do
	trace "$f"
	is "waits $(of contended)"
	is "ns $(of total_ns)"
	is "waiting_ns $(of inflight_ns)"
	is "schema kontend.$f/1"
	is 'left_out 0'
	grep -q '^thread [0-9]* demo-mmap$' "$work/said" || complain "$f: no thread of the demo: $(cat "$work/said")"
	more holds
	more flows
	more chained
	mv "$work/t" "$work/first"
	trace "$f" --no-sandbox
	# What it says of the sandbox is another matter.
	[ "$f" = perfetto ] || sed -i '/"sandbox"/d' "$work/first" "$work/t"
	[ "$f" = perfetto ] || cmp "$work/first" "$work/t" || complain "$f: another trace without the sandbox"

	trace "$f" --lock mutex
	is "waits $(of contended --lock mutex)"
	is "ns $(of total_ns --lock mutex)"
	! grep '^lock ' "$work/said" | grep -v '^lock mutex ' || complain "$f: other locks than mutexes"
	trace "$f" --min-wait 10ms
	is "waits $(of contended --min-wait 10ms)"
	is "ns $(of total_ns --min-wait 10ms)"
	trace "$f" --time 2s,8s
	is "waits $(of contended --time 2s,8s)"

	expect 129 "weight does not go with --format $f" "$kontend" export -i "$sample" --format "$f" --weight wait
	# shellcheck disable=SC2016 # of the other shell
	expect 1 'No space left' sh -c '"$1" export -q -i "$2" --format "$3" >/dev/full' sh "$kontend" "$sample" "$f"
done
finish
