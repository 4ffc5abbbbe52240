#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh BUILD [MESON-TEST-ARGUMENT...]: meson test, then the tests by name that failed or were
# skipped, and their counts as the last line. Tests that watch the running kernel share it with
# whatever else runs there: one that failed gets a second try when all is quiet, and is named if it
# passes then. A test of anything else has one try.
set -eu
build=$1
shift
here=$(dirname "$0")
logs=$build/meson-logs
status=0
rm -f "$logs/testlog.json" "$logs/again.json"
# A plain chroot has no cgroups, of which live tests make some.
if [ "$(id -u)" -eq 0 ] && ! grep -q ' cgroup2 ' /proc/self/mounts 2>/dev/null &&
	mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null; then
	trap 'umount /sys/fs/cgroup' EXIT
fi
meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 3 "$@" || status=1
[ -f "$logs/testlog.json" ] || {
	echo "meson ran no test"
	exit 1
}
again=$(awk -f "$here/again.awk" "$logs/testlog.json")
if [ -z "$again" ]; then
	awk -f "$here/summary.awk" "$logs/testlog.json"
	exit $status
fi
echo "a second try for: $again"
sleep 5
# shellcheck disable=SC2086 # names of tests
meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 6 --num-processes 1 --logbase again $again || true
[ -f "$logs/again.json" ] || {
	echo "meson ran no test a second time"
	exit 1
}
awk -f "$here/summary.awk" "$logs/testlog.json" "$logs/again.json"
