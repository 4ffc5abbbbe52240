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
# else runs.
report() {
	for seconds in 0.3 1 2 5 10; do
		"$@" report -q --demo --duration $seconds -F 99 -e cpu-clock --view all \
			--format json >"$dir/all.json"
		grep -q '"samples": [1-9]' "$dir/all.json" || continue
		! grep -q '"kind": "rwsem:W"' "$dir/all.json" || return 0
	done
	echo "FAIL no contention and no sample was seen in 10 s"
	exit 1
}

without_bpf() {
	"$kontend" "$@" --no-bpf
}

report without_bpf
python3 "$(dirname "$0")/no-bpf.py" "$dir/all.json" 'no-bpf'

"$kontend" report -q --no-bpf --duration 0.05 --view locks,waiters >"$dir/out"
[ "$(grep -c '^# not known: names, holders.*: BPF is switched off (--no-bpf)$' "$dir/out")" = 2 ] || {
	echo "FAIL the text does not say twice what is not known:"
	cat "$dir/out"
	exit 1
}

# Tracepoints report all acquisitions, and the owner of each lock.
"$kontend" report -q --no-bpf --mmap pid --view mmap --format json -o "$dir/mmap.json" -- \
	"$kontend" bench mmap -t 2 -n 2000 >"$dir/out"
python3 "$(dirname "$0")/no-bpf.py" "$dir/mmap.json" mmap

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
fi
