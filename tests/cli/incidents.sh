#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend incidents` and the refusals of `kontend record --trigger`. The files' content is tested by
# tests/unit/test-backlog.c and tests/live/test-incidents.py.
make=$(realpath "$2")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export TZ=UTC

expect 1 "Cannot read the directory 'none'.*No such file" "$kontend" incidents none
expect 129 "Unexpected argument 'two'" "$kontend" incidents one two
expect 129 "give one of: text json" "$kontend" incidents --format csv
expect 129 "not of 'kontend incidents'|no option" "$kontend" incidents --pid 1
expect 129 "a duration|TIME|time" "$kontend" record --trigger hand --pre never
expect 129 "a number from 1" "$kontend" record --trigger hand --max-files 0
expect 129 "column 1" "$kontend" record --trigger 'wait>soon'
expect 129 "--rotate" "$kontend" record --trigger hand --rotate 3
expect 1 "directory 'none'.*No such file" "$kontend" record --trigger hand -o none
: >"$work/file"
expect 1 "is no directory" "$kontend" record --trigger hand -o "$work/file"

# Nothing is there: one sentence, and no title of a table without rows.
mkdir "$work/caught"
run "$kontend" incidents "$work/caught"
[ "$rc $(cat "$work/out")" = "0 " ] || complain "no incidents: exit $rc: $(cat "$work/out")"
grep -qx "kontend: there are no incidents in $work/caught: 'kontend record --trigger' catches them" "$work/err" ||
	complain "no incidents: $(cat "$work/err")"
run "$kontend" incidents -q "$work/caught"
[ "$rc $(cat "$work/out" "$work/err")" = "0 " ] || complain "no incidents, -q: $(cat "$work/err")"

"$make" "$work/caught" || complain "cannot make files"
(cd "$work/caught" && ls -A) >"$work/names"
cat >"$work/want" <<'END'
kontend-20261121-031407-wait.data
kontend-20261121-032031-hand-2.data
kontend-20261121-032031-hand.data
END
diff "$work/want" "$work/names" || complain "names"

# Files that are no incident, unreadable or not finished are named, the rest is listed.
printf PERFILE2 >"$work/caught/kontend-20261121-031408-wait.data"
"$kontend" version >"$work/caught/kontend-20261121-031409-wait.data.part"
echo text >"$work/caught/notes.data"
ln -s /dev/zero "$work/caught/kontend-20261121-031410-wait.data"
run "$kontend" incidents "$work/caught"
[ "$rc" -eq 0 ] || complain "exit $rc: $(cat "$work/err")"
sed 's/  *[0-9.]*K  / SIZE  /; s/BECAUSE OF  *SIZE/BECAUSE OF SIZE/' "$work/out" >"$work/list"
cat >"$work/want" <<'END'
WHEN                 WHAT FIRED               WORST  LOCK                  BECAUSE OF SIZE  FILE
2026-11-21 03:14:07  wait>300ms (wait 312ms)  1.80s  mmap_lock mysqld/800  mysqld/812 runs SIZE  kontend-20261121-031407-wait.data
2026-11-21 03:20:31  by hand                      -  -                     - SIZE  kontend-20261121-032031-hand-2.data
2026-11-21 03:20:31  by hand                      -  -                     - SIZE  kontend-20261121-032031-hand.data
END
diff "$work/want" "$work/list" || complain "the list"
for word in '031408-wait.data is passed over' '031410-wait.data is passed over: .*not a regular file' \
	"031409-wait.data.part was not finished: 'kontend recover'"; do
	grep -q "$word" "$work/err" || complain "not said: $word"
done
[ "$(wc -l <"$work/err")" -eq 3 ] || complain "said: $(cat "$work/err")"
run "$kontend" incidents -q "$work/caught"
[ ! -s "$work/err" ] || complain "-q says: $(cat "$work/err")"

run "$kontend" incidents --json "$work/caught"
python3 - "$work/out" <<'END' || complain "JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "kontend.incidents/1", d
by = {i["file"]: i for i in d["incidents"]}
states = [by[n]["state"] for n in sorted(by)]
assert states == ["whole", "bad", "left", "bad", "whole", "whole"], states
i = by["kontend-20261121-031407-wait.data"]
assert i["holder"] == {"pid": 800, "tid": 812} and i["waiter"]["tid"] == 871, i
assert i["lock"] == "0xffff8881deadbe00" and i["more"] == 3 and not i["by_hand"], i
assert i["fired_wall_ns"] == 1795230847000000000, i
h = by["kontend-20261121-032031-hand.data"]
assert h["by_hand"] and h["short"] and h["worst_ns"] is None and h["holder"] is None, h
END

run "$kontend" report -i "$work/caught/kontend-20261121-031407-wait.data" --no-config
head -n 2 "$work/out" >"$work/head"
cat >"$work/want" <<'END'
# incident: wait>300ms fired at 2026-11-21 03:14:07.000: wait 312ms, at worst 1.80s, for mmap_lock mysqld/800, of mysqld/871, because of mysqld/812 runs
#   it took 1.80s; in the file are 200ms before it and 1.00s after it; it fired 3 more times meanwhile
END
diff "$work/want" "$work/head" || complain "the report's begin"

# A cut of it is still of the incident.
run "$kontend" cut "$work/caught/kontend-20261121-031407-wait.data" -o "$work/cut.data" -q
run "$kontend" report -i "$work/cut.data" --no-config
grep -q '^# incident: wait>300ms' "$work/out" || complain "a cut forgets the incident"

exit "$status"
