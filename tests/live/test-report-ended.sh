#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What ends while it is measured is in the report: the area of out-of-line slots of a program on a
# probe with its maximum, and a breakpoint with who held it. Measured live, and from a recording.
#
#     test-report-ended.sh KONTEND UP-WORK BP-HOLDER
set -eu

kontend=$(realpath "$1")
worker=$(realpath "$2")
holder=$(realpath "$3")

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_record --duration 50ms --probe "$worker:up_load"
cd "$dir"

# Each is there for several looks and ends before the last of them. Two threads are in their slots for
# as long as the program is there: what they load is in a page that does not come until they are freed.
cat >story <<'EOF'
{ echo "block 2"; sleep 3; echo free; } | "$1" >&2
for n in $(seq 60); do
	! sleep 2 | "$2" task >out 2>said || break
	cat said >&2
	grep -q 'No space left on device' said && [ "$n" -lt 60 ] || exit 1
done
sleep 1
EOF

cat >check.py <<'EOF'
import json, sys
views = json.load(open(sys.argv[1]))["views"]
wrong = []
areas = [r for r in views["xol"]["rows"] if r["comm"] == "up-work"]
held = [r for r in views["holders"]["rows"] if r["comm"] == "bp-holder"]
if not areas or not areas[0]["ended"] or not areas[0]["last_seen_ns"]:
    wrong.append("no area of up-work that ended: %s" % areas)
elif areas[0]["max_used"] != 2:
    wrong.append("not the two slots of its threads were used: %s" % areas)
if not held or not held[0]["ended"] or held[0]["state"] != "ended":
    wrong.append("no breakpoint of bp-holder that ended: %s" % held)
if not any(r["most_used"] for r in views["slots"]["rows"]):
    wrong.append("no slot was ever used: %s" % views["slots"]["rows"])
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
EOF

# Called with NAME: checks the report in NAME.json; the output of the programs is in err
tell() {
	grep -q '"method": "bpf"' "$1.json" || { echo "skipped: looked at without BPF"; exit 77; }
	python3 check.py "$1.json" >out || complain "$1: $(cat out); the programs said: $(cat err)"
}

"$kontend" report -a -d 100ms --view xol,holders,slots --probe "$worker:up_load" --format json \
	-o live.json -- sh story "$worker" "$holder" 2>err || complain "report: $(cat err)"
tell live
"$kontend" record -q -a --probe "$worker:up_load" -o file -- sh story "$worker" "$holder" 2>err ||
	complain "record: $(cat err)"
"$kontend" report -i file --view xol,holders,slots --format json -o file.json 2>>err ||
	complain "report of the file: $(cat err)"
tell file
exit $status
