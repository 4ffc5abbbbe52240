#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317 # functions are called by try()
# Dumps of the stack of a program without frame pointers, where the program is not: the recording has
# the tables by which they are unwound, so the chains are those that they are here. A recording with
# an end has them for all of its samples, and a part that follows another one from its begin on.
# Called as: test-dumps-elsewhere.sh KONTEND DEEP
set -eu
kontend=$(realpath "$1")
deep=$(realpath "$2")
# shellcheck source=tests/live/elsewhere.sh
. "$(dirname "$0")/elsewhere.sh"

cp "$deep" progs/deep
strip -g progs/deep
cat >look.sh <<'LOOK'
./viewer/kontend report -q -i "$1" --view hot --by stack --format csv >&3
LOOK

same() { # WHAT FILE
	here look.sh "$2"
	away look.sh "$2" || { echo "$1: no report elsewhere: $(cat err)"; return 1; }
	for place in here away; do
		rows 5 stack ';main;' stack "$place.out" >"$place.hot"
	done
	grep -q 'deep_work;deep_recur;.*main' here.hot || { echo "$1: too few samples"; return 1; }
	equal "$1" hot || return 1
	echo "$1: $(wc -l <away.hot) chains, $(head -1 away.hot)"
}

ended() {
	start_record --call-graph dwarf -o ended.data -- progs/deep 0.5
	wait "$recorder" || return 1
	recorder=""
	same "a recording with an end" ended.data
}

has_some() { # FILE
	here look.sh "$1" 2>err && [ "$(samples 5 stack ';main;' here.out)" -ge 50 ]
}

rotated() {
	progs/deep 15 &
	work=$!
	start_record --call-graph dwarf -p "$work" --rotate 9 -o rotated.data
	for _ in first second; do
		until_some has_some rotated.data || return 1
		begin_part rotated.data || return 1
	done
	end_record INT || return 1
	same "a part of it" "$(parts rotated.data | tail -1)"
}

"$kontend" record -q -F 997 -e cpu-clock --call-graph dwarf -o probe -- progs/deep 0.1 2>err ||
	{ echo "skipped: $(cat err)"; exit 77; }
if "$kontend" report -q -i probe --view hot --by stack --format csv | grep -q '\[no unwinder\]'; then
	skip "kontend was built without an unwinder"
fi
failed=0
try ended || failed=1
try rotated || failed=1
exit "$failed"
