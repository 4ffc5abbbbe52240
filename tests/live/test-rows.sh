#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Rows of a measurement have its machine, boot and kernel, whether they come from a recording, from the
# files of a rotated one, from an incident, from a part that was cut out, or from measuring right now.
# Called as: test-rows.sh KONTEND
set -eu
kontend=$1
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_record -a --duration 0.1

# here NAME: the rows in $dir/NAME are of this machine, and of this version
here() {
	[ -s "$dir/$1" ] || fail "$1: there are no rows"
	python3 - "$dir/$1" <<-'END' || fail "$1: the rows are not of here"
		import json, os, sys
		boot = open("/proc/sys/kernel/random/boot_id").read().strip()
		has_id = os.path.exists("/etc/machine-id")
		for line in open(sys.argv[1], encoding="utf-8"):
		    row = json.loads(line)
		    if (row["host"], row["kernel"], row["boot_id"]) != (os.uname().nodename, os.uname().release, boot):
		        sys.exit(line[:600])
		    if has_id and len(row["machine_id"] or "") != 32:
		        sys.exit(line[:600])
		    if has_id and row["machine_id"] in open("/etc/machine-id").read():
		        sys.exit("the machine's own id: " + line[:600])
		    if row["recorded_by"] != row["kontend"]:
		        sys.exit(line[:600])
	END
}

rows() {
	name=$1
	shift
	"$kontend" export -q --format ndjson -o "$dir/$name" "$@" 2>"$dir/err" ||
		fail "export of $name: $(cat "$dir/err")"
	here "$name"
}

"$kontend" record -q -a --duration 2 -o "$dir/a.data" --demo 2>"$dir/err" || fail "record: $(cat "$dir/err")"
rows recorded --bucket 500ms "$dir/a.data"
"$kontend" cut -q "$dir/a.data" -o "$dir/cut.data" --time 50%, 2>"$dir/err" || fail "cut: $(cat "$dir/err")"
rows cut "$dir/cut.data"
"$kontend" record -q -a --duration 4 --max-size 2M --rotate 3 -o "$dir/r.data" --demo 2>"$dir/err" ||
	fail "record --rotate: $(cat "$dir/err")"
for file in "$dir"/r.data*; do
	rows "rotated-${file##*/}" "$file"
done
mkdir "$dir/incidents"
"$kontend" record -q -a --trigger 'wait>1ms' --post 200ms --duration 2 -o "$dir/incidents" --demo 2>"$dir/err" ||
	fail "record --trigger: $(cat "$dir/err")"
for file in "$dir"/incidents/*.data; do
	[ -f "$file" ] || fail "no incident of the demo's waits"
	rows caught "$file"
	grep -q '"table":"incidents"' "$dir/caught" || fail "$file has no incident"
	break
done
rows live -a --duration 1 --bucket 300ms --demo
[ "$(grep -c '"table":"parts"' "$dir/live")" -ge 3 ] || fail "1 s has not three parts of 300 ms"
echo "ok rows of here"
