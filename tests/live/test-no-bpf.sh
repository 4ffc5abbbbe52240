#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every view without BPF: it shows what tracepoints, probing and /proc provide, and prints what it
# lacks and why. With --no-bpf, and for a user who may measure but not load BPF programs.
#
#     test-no-bpf.sh KONTEND
set -eu
kontend=$1

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
"$kontend" report --duration 0.01 >"$dir/out" 2>&1 || {
	echo "skipped: $(tail -n 1 "$dir/out")"
	exit 77
}

# report COMMAND...: all views, with contention in them, as JSON; how much there is depends on what
# else runs. Waits for files are there once a snapshot lies within the time of the report.
report() {
	for seconds in 0.3 1 2 5 10; do
		"$@" report -q --demo --duration $seconds -F 99 -e cpu-clock --view all \
			--format json >"$dir/all.json"
		grep -q '"samples": [1-9]' "$dir/all.json" || continue
		grep -q '"object": "file"' "$dir/all.json" || continue
		! grep -q '"kind": "rwsem:W"' "$dir/all.json" || return 0
	done
	echo "FAIL no contention, no wait for a file or no sample was seen in 10 s"
	exit 1
}

without_bpf() {
	"$kontend" "$@" --no-bpf
}

# Locks of files come from /proc, and their names are no names of other locks.
in_locks() { # PATTERN: waits until /proc/locks has a line with it and the file
	for _ in $(seq 100); do
		! grep -q -- "$1.*:$(stat -c %i "$dir/file") " /proc/locks || return 0
		sleep 0.1
	done
	fail "no lock of a file: $(cat /proc/locks)"
}
(flock 9 && exec sleep 60) 9>"$dir/file" &
work=$!
in_locks ' FLOCK '
(flock 9) 9>"$dir/file" &
work="$work $!"
in_locks ' -> FLOCK '
report without_bpf
python3 "$(dirname "$0")/no-bpf.py" "$dir/all.json" 'no-bpf'

"$kontend" report -q --no-bpf --duration 0.05 --view locks,waiters >"$dir/out"
[ "$(grep -c '^# not known: names, holders.*: BPF is switched off (--no-bpf)$' "$dir/out")" = 2 ] || {
	echo "FAIL the text does not say twice what is not known:"
	cat "$dir/out"
	exit 1
}

# Tracepoints report all acquisitions, and the owner of each lock.
"$kontend" report -q --no-bpf --mmap all --view mmap --format json -o "$dir/mmap.json" -- \
	"$kontend" bench mmap -t 2 -n 2000 >"$dir/out"
python3 "$(dirname "$0")/no-bpf.py" "$dir/mmap.json" mmap

# Nothing was refused where BPF was not wanted.
no_reason() { # FILE
	! grep -q "BPF does not\|method_reason" "$1" || {
		echo "FAIL with --no-bpf a reason is given: $(cat "$1")"
		exit 1
	}
}
"$kontend" report --no-bpf --duration 0.05 --format json >"$dir/out" 2>&1
no_reason "$dir/out"
"$kontend" record --no-bpf --duration 0.05 -o "$dir/plain.data" 2>"$dir/out"
no_reason "$dir/out"
"$kontend" report -i "$dir/plain.data" >"$dir/out"
no_reason "$dir/out"

unprivileged() {
	setpriv --bounding-set -sys_admin,-bpf "$kontend" "$@"
}

if ! setpriv --bounding-set -sys_admin,-bpf true 2>"$dir/err"; then
	echo "not tried: without CAP_BPF: $(cat "$dir/err")"
elif ! unprivileged report --duration 0.01 >"$dir/out" 2>&1; then
	echo "not tried: without CAP_BPF: $(tail -n 1 "$dir/out")"
else
	report unprivileged
	python3 "$(dirname "$0")/no-bpf.py" "$dir/all.json" CAP_BPF

	# One sentence says which programs the kernel refused: on standard error, and a text report has
	# it in its head instead.
	waits="BPF does not report waits, so most holders are not known: .*CAP_BPF.*Operation not permitted"
	follow="BPF does not follow holders, so most are not known: .*CAP_BPF.*Operation not permitted"
	once() { # PATTERN FILE
		[ "$(grep -c "$1" "$2")" = 1 ] || fail "'$1' is not there once: $(cat "$2")"
	}
	unprivileged report --duration 0.05 >"$dir/out" 2>&1
	once "^# perf ring: $waits (see 'kontend doctor')$" "$dir/out"
	unprivileged report --duration 0.05 --format json >"$dir/out" 2>"$dir/err"
	once "^kontend: $waits (see 'kontend doctor')$" "$dir/err"
	once "^ *\"method_reason\": \"$waits\",$" "$dir/out"
	unprivileged record --duration 0.05 -o "$dir/refused.data" 2>"$dir/err"
	once "^kontend: $follow (see 'kontend doctor')$" "$dir/err"
	"$kontend" report -i "$dir/refused.data" >"$dir/out"
	once "^# perf ring: $follow (see 'kontend doctor')$" "$dir/out"
	"$kontend" report -i "$dir/refused.data" --format json >"$dir/out"
	once "^ *\"method_reason\": \"$follow\",$" "$dir/out"
	# The screen: its last line, until a key. Once that is gone, standard error has the sentence.
	TERM=xterm script -qc "stty cols 200 rows 24; setpriv --bounding-set -sys_admin,-bpf '$kontend' live --duration 1" \
		"$dir/screen" >"$dir/out" </dev/null || fail "live ended with $?: $(cat "$dir/out")"
	grep -ao ".\{9\}BPF does not report waits, so most holders" "$dir/screen" | grep -vq "^kontend: " ||
		fail "the screen does not say it"
	grep -aq "kontend: $waits" "$dir/screen" || fail "live does not say it at its end"
fi
