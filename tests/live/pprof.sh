#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `go tool pprof` reads the live port; the go command builds it first, which takes two minutes. Ends with
# "N passed, N failed, N skipped". Called as: pprof.sh [BUILD-FOLDER]
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
[ -e "$build/build.ninja" ] || meson setup "$build" >/dev/null || exit 1
ninja --quiet -C "$build" kontend || exit 1
tests/live/test-pprof.py "$build/kontend" "$(realpath "$build")/go-cache"
case $? in
0) echo "1 passed, 0 failed, 0 skipped" ;;
77) echo "0 passed, 0 failed, 1 skipped" ;;
*) echo "0 passed, 1 failed, 0 skipped" && exit 1 ;;
esac
