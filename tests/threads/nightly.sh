#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What has threads, under the thread sanitizer: the collector and its queue, the thread that reads
# ahead, the rings that BPF
# programs write (by the same code in user space, and live), the recorder's namer, and a session
# with a screen, the server of metrics. Called as: tests/threads/nightly.sh [TEST...]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
export TSAN_OPTIONS=halt_on_error=1:exitcode=66
tests=("$@")
[ $# -gt 0 ] || tests=(mem queue ahead waits-ring snapshot-thread target resolve-thread demo bench-mm history live-source
	live-waitring live-waitfeed live-owner pty-live metrics-server metrics-profiles)

[ -f build-tsan/build.ninja ] ||
	meson setup build-tsan -Db_sanitize=thread -Db_lundef=false >/dev/null || exit 1
mapfile -t there < <(meson test -C build-tsan --list 2>/dev/null | sed 's/.* \/ //')
names=()
for name in "${tests[@]}"; do
	printf '%s\n' "${there[@]}" | grep -qx -- "$name" || { echo "there is no test $name" && exit 1; }
	names+=("$name")
done
output=$(mktemp)
trap 'rm -f "$output"' EXIT
meson test -C build-tsan --timeout-multiplier 10 "${names[@]}" 2>&1 | tee "$output"
count() { sed -n "s/^$1: *\([0-9]*\).*/\1/p" "$output" | tail -n 1; }
failed=$(($(count Fail) + $(count Timeout)))
echo "$(count Ok) passed, $failed failed, $(count Skipped) skipped"
[ "$failed" -eq 0 ] && [ "$(count Ok)" -gt 0 ]
