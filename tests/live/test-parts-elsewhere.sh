#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2317 # functions are called by try()
# Recordings without an end of their own: of a recorder that is killed, through a pipe, and parts
# that others follow. Where the program, the kernel's symbols and any rights are missing, what was
# hot in the program has the names and the code that it has here.
# Called as: test-parts-elsewhere.sh KONTEND SPIN
set -eu
kontend=$(realpath "$1")
spin=$(realpath "$2")
# shellcheck source=tests/live/elsewhere.sh
. "$(dirname "$0")/elsewhere.sh"

cp "$spin" progs/spin
# Lines of source are out of files alone.
strip -g progs/spin
# The report by which a moment of recording is judged, and what is compared.
cat >hot.sh <<'HOT'
./viewer/kontend report -q -i "$1" --view hot --format csv >&3
HOT
cat >look.sh <<'LOOK'
set -eu
sh hot.sh "$1"
./viewer/kontend report -q -i "$1" --annotate spin_inner >&4
LOOK

# same WHAT FILE: here and elsewhere
same() {
	here look.sh "$2"
	away look.sh "$2" || { echo "$1: no report elsewhere: $(cat err)"; return 1; }
	without_origin here.txt away.txt
	for place in here away; do
		rows 5 object /progs/ symbol "$place.out" >"$place.hot"
	done
	grep -q 'spin_inner$' here.hot || { echo "$1: too few samples"; return 1; }
	equal "$1" hot txt || return 1
	grep -q ',spin_inner,recording,' away.out || { echo "$1: the name is not from the recording"; return 1; }
	echo "$1: $(head -1 away.hot)"
}

# Seconds of CPU time: it ends by itself in any case.
start() { # OPTION...
	progs/spin 15 &
	work=$!
	start_record -p "$work" "$@"
}

# has_some FILE: enough samples for the comparison
has_some() {
	here hot.sh "$1" 2>err && [ "$(samples 0 symbol '^spin_inner$' here.out)" -ge 20 ]
}

is_named_away() { # FILE
	[ -e "$1" ] && away hot.sh "$1" && grep -q ',spin_inner,recording,' away.out
}

killed() {
	start -o killed.data "$@"
	until_some is_named_away killed.data || return 1
	end_record KILL
	same "killed $*" killed.data
}

# The file that the pipe goes to is not ours to finish.
piped() {
	mkfifo pipe
	cat pipe >piped.data &
	reader=$!
	start -o pipe
	until_some has_some piped.data || return 1
	end_record INT || return 1
	wait "$reader"
	same pipe piped.data
}

rotated() {
	start --rotate 9 -o rotated.data
	for _ in first second; do
		until_some has_some rotated.data || return 1
		begin_part rotated.data || return 1
	done
	end_record INT || return 1
	for part in $(parts rotated.data); do
		same "a rotated part" "$part" || return 1
	done
}

need_record -F 997 -e cpu-clock --duration 50ms
failed=0
try killed || failed=1
try killed -z || failed=1
try piped || failed=1
try rotated || failed=1
exit "$failed"
