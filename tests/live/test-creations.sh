#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Creators of breakpoints, and the most slots that were taken: a program that reports its own work is
# measured live and into a recording, with --creations and without. With it each breakpoint that lived
# for microseconds, was inherited or refused is counted; without it the reported number is a lower
# bound.
#
#     test-creations.sh KONTEND BP-CREATE BP-REFUSED
set -eu

kontend=$(realpath "$1")
create=$(realpath "$2")
refuse=$(realpath "$3")

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_record --duration 50ms
cd "$dir"
"$create" 1 1 0 0 >/dev/null 2>err || skip "no breakpoints here: $(cat err)"

cat >check.py <<'EOP'
import json, sys
name, each = sys.argv[1], sys.argv[2] == "each"
words = open("truth").read().split()
truth = dict(zip(words[::2], map(int, words[1::2])))
views = json.load(open(name))["views"]
creations = views["creations"]
rows = [r for r in creations["rows"] if r["comm"] == "bp-create"]
wrong = []
if creations["how"] != ("events" if each else "looks"):
    print("skipped: told by %s: %s" % (creations["how"], creations["reason"]))
    sys.exit(77 if each else 1)
if each and len(rows) != 1:
    wrong.append("no row of bp-create: %s" % creations)
for r in rows:
    for key in ("opened", "inherited", "refused"):
        if each and r[key] != truth[key]:
            wrong.append("%s: %s, and it says %d" % (key, r[key], truth[key]))
        if not each and key != "refused" and r[key] > truth[key]:
            wrong.append("%s: %s, and it says %d" % (key, r[key], truth[key]))
    if not each and r["refused"] is not None:
        wrong.append("refused is known: %s" % r)
# Others may have had some as well.
for r in views["slots"]["rows"]:
    if each and r["type"] != "exec" and r["most_used"] < truth["most"]:
        wrong.append("most %s, and it had %d at a time" % (r, truth["most"]))
    if r["most_used"] is not None and r["most_used"] > r["slots"]:
        wrong.append("more were taken than there are: %s" % r)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
EOP

# Called with NAME each|looks
tell() {
	rc=0
	python3 check.py "$1.json" "$2" >out || rc=$?
	[ "$rc" != 77 ] || { cat out; exit 77; }
	[ "$rc" = 0 ] || complain "$1: $(cat out)"
}

cat >story <<'EOF'
"$1" 1000 2 5 20 >truth
EOF

"$kontend" report -a -d 100ms --creations --view slots -j -o each.json -- sh story "$create" 2>err ||
	complain "report --creations: $(cat err)"
tell each each
"$kontend" report -a -d 100ms --view slots -j -o looks.json -- sh story "$create" 2>err ||
	complain "report: $(cat err)"
tell looks looks
"$kontend" record -q -a --creations -o file -- sh story "$create" 2>err ||
	complain "record --creations: $(cat err)"
"$kontend" report -i file --view slots -j -o file.json 2>err || complain "report of the file: $(cat err)"
tell file each
# The same rows as CSV and as text.
"$kontend" report -i file --view creations --format csv -o csv 2>err || complain "CSV: $(cat err)"
grep -q ',bp-create,' csv || complain "no row of bp-create in CSV: $(cat csv)"
"$kontend" report -i file --view creations -o text 2>err || complain "text: $(cat err)"
grep -q '^ *bp-create/' text || complain "no row of bp-create in the text: $(cat text)"
# A debugger that gets no slot is counted, and named in the text.
rc=0
"$refuse" >ptrace.truth 2>err || rc=$?
if [ "$rc" -eq 77 ]; then
	echo "no breakpoints by ptrace here: $(cat err)"
else
	"$kontend" report -a --creations --view slots -j -o ptrace.json -- "$refuse" >ptrace.truth 2>err ||
		complain "bp-refused: $(cat err)"
	python3 - <<'EOP' || complain "a debugger that was refused: $(cat ptrace.truth)"
import json
words = open("ptrace.truth").read().split()
c = json.load(open("ptrace.json"))["views"]["creations"]
rows = [r for r in c["rows"] if r["comm"] == "bp-refused"]
assert len(rows) == 1 and rows[0]["refused"] == int(words[1]) > 0, (rows, words)
assert c["refused"] >= rows[0]["refused"], c
EOP
	"$kontend" report -a --creations --view slots -o text -- "$refuse" >/dev/null 2>err || complain "text: $(cat err)"
	grep -qE '^# refused: [0-9]+: .*bp-refused/[0-9]+' text || complain "who was refused: $(grep refused text)"
	"$kontend" report -a --view slots -o text -- "$refuse" >/dev/null 2>err || complain "text: $(cat err)"
	grep -q '^# refused: not available, .*--creations counts them' text ||
		complain "refused, by looks: $(grep -i refused text)"
fi
exit $status
