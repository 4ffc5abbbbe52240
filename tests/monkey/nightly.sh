#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Plays with the screen (monkey), takes away memory, disk, descriptors and calls (sweeps), and reads
# damaged recordings (mutants), each for KONTEND_MONKEY_SECONDS (600), with the address and
# undefined-behaviour sanitizers; the sweeps use a plain build. Each failure prints the seed that
# repeats its round. KONTEND_MONKEY_JOBS: how many rounds run at a time (as many as there are CPUs).
# Called as: tests/monkey/nightly.sh [monkey|sweeps|mutants]...
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
seconds=${KONTEND_MONKEY_SECONDS:-600}
jobs=${KONTEND_MONKEY_JOBS:-$(nproc)}

build() {
	[ -f build-asan/build.ninja ] || meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false >/dev/null || return 1
	[ -f build/build.ninja ] || meson setup build >/dev/null || return 1
	ninja --quiet -C build-asan kontend tests/fuzz/mutant && ninja --quiet -C build kontend
}

build || {
	echo "monkey: the build failed"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/recordings"
sh tests/monkey/recordings.sh build/kontend "$work/recordings"
cc -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/failcall.so" tests/monkey/failcall.c -ldl || exit 1
recordings=("$work"/recordings/*.data)

one() {
	case $1 in
	monkey) python3 tests/monkey/monkey.py --seconds "$seconds" --jobs "$jobs" build-asan/kontend "${recordings[@]}" ;;
	sweeps) python3 tests/monkey/sweeps.py --seconds "$seconds" --jobs "$jobs" --failcall "$work/failcall.so" build/kontend "${recordings[@]}" ;;
	mutants) python3 tests/monkey/mutants.py --seconds "$seconds" --jobs "$jobs" --mutant build-asan/tests/fuzz/mutant build-asan/kontend "${recordings[@]}" ;;
	*) echo "there is no part $1: monkey sweeps mutants" && return 129 ;;
	esac
}

[ $# -gt 0 ] || set -- monkey sweeps mutants
for part in "$@"; do
	one "$part" 2>&1 | tee "$work/$part.out"
	grep -qE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$work/$part.out" || echo "0 passed, 1 failed, 0 skipped" >>"$work/$part.out"
done
cat "$work"/*.out | awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5 }
	END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0 }'
