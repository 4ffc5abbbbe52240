#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Names of locks are in the recording: the mmap_lock of a process, the lock of a directory and that
# of a pipe, for which tasks wait as the recording ends. Without symbols of the kernel, BPF and
# privileges, and with another home directory, the report is the same to the byte.
# Called as: test-locks-elsewhere.sh KONTEND TRUTH
set -eu
kontend=$(realpath "$1")
truth=$(realpath "$2")
# shellcheck source=tests/live/elsewhere.sh
. "$(dirname "$0")/elsewhere.sh"

kinds="mm dir pipe"
waiting=

# The waiting task continues at the second byte.
end_waits() {
	for kind in $kinds; do
		printf x >>"$kind.go"
	done
	for pid in $waiting; do
		wait "$pid" || :
	done
	waiting=
}

undo() {
	[ -z "$waiting" ] || end_waits
}

# Read no configuration of a user.
mkdir -m 700 home
export HOME="$dir/home"
unset XDG_CONFIG_HOME

# ready FILE PID: until there is something in it; 1: it ended before
ready() {
	for _ in $(seq 600); do
		[ ! -s "$1" ] || return 0
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}

start_waits() {
	for kind in $kinds; do
		printf x >"$kind.go"
		: >"$kind.out"
		"$truth" "$kind" -s "$kind.go" -r 0 -w 3 >"$kind.out" 2>&1 &
		waiting="$waiting $!"
		if ready "$kind.out" $! && grep -q waiting "$kind.out"; then
			continue
		fi
		wait $! && status=0 || status=$?
		cat "$kind.out"
		[ "$status" != 77 ] || exit 77
		exit 1
	done
}

# The recording begins before the waits do, and ends within them.
record() {
	rm -f locks.data
	"$kontend" record -o locks.data --duration 1m >record.txt 2>&1 &
	recorder=$!
	ready locks.data "$recorder" || {
		wait "$recorder" && status=0 || status=$?
		recorder=""
		cat record.txt
		exit "$status"
	}
	start_waits
	end_record INT || :
	end_waits
}

cat >look.sh <<'LOOK'
exec ./viewer/kontend report -q -i "$1" --view locks,mmap,waiters --format json >&3
LOOK

# The names that the file must have, or those that it lacks.
missing() {
	for text in '"object": "mmap_lock"' '"object": "i_rwsem"' '"object": "pipe->mutex"'; do
		grep -qF "$text" "$1" || echo "$text"
	done
}

# A wait that began in a lost record has no row: then repeat.
for attempt in 1 2 3 4 5; do
	record
	"$kontend" report -q -i locks.data --view locks,mmap,waiters --format json >here.out
	[ -n "$(missing here.out)" ] || break
	echo "attempt $attempt: not there: $(missing here.out)"
	sed -n '/BPF/p' record.txt
done
[ -z "$(missing here.out)" ] || { head -c 3000 here.out; exit 1; }
away look.sh locks.data || { echo "no report elsewhere: $(cat err)"; exit 1; }
equal "locks" out
grep -oE '"(name|object|path)": "[^"]+"' away.out | sort | uniq -c | sort -rn | head -12
