# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154 # $status is used by those that source this, $kontend theirs
# What scripts share that measure the running kernel: reasons not to, a folder of their own, $dir, and
# an end, whatever it is, after which that is gone, and what runs as $work, $recorder or $observer.
export LC_ALL=C

skip() {
	echo "skipped: $1"
	exit 77
}

fail() {
	echo "FAIL $*"
	exit 1
}

# Runs a command where its mounts are its own.
own_mounts=$(realpath "$(dirname "$0")/../lib/own-mounts.sh")

status=0
complain() {
	echo "FAIL $*"
	status=1
}

work=
recorder=
observer=
# A script adds its own cleanup in undo().
undo() { :; }
stop_all() {
	for pid in $observer $recorder $work; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	observer=
	recorder=
	work=
	undo
}
dir=$(mktemp -d "${BENCH_DIR:-/tmp}/kontend-XXXXXX")
trap 'stop_all || true; rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

need_mounts() {
	lack=$("$own_mounts" true 2>&1) || skip "no mount namespace of its own: $lack"
}

need_perf() {
	command -v perf >/dev/null || skip "perf is not installed"
}

# Builds of perf without it say so in their usage.
has_perf_lock() {
	perf lock contention -h 2>&1 | grep -q -- --threads
}

need_perf_lock() {
	need_perf
	has_perf_lock || skip "this perf has no lock contention"
}

# need_record OPTION...: into $dir/probe
need_record() {
	"$kontend" record -q "$@" -o "$dir/probe" 2>"$dir/err" || skip "$(cat "$dir/err")"
}

need_sleeping_holder() { # TRUTH
	rc=0
	"$1" pipe -o /dev/null || rc=$?
	[ "$rc" != 77 ] || skip "this kernel lets no holder sleep"
}

# events FILE: that our report counts, if it can read the file
events() {
	"$kontend" report -i "$1" --format json --rows 1 >"$dir/events" 2>"$dir/err" || {
		cat "$dir/err" >&2
		return 1
	}
	sed -n 's/.*"events": *\([0-9]*\).*/\1/p' "$dir/events" | head -n 1
}
