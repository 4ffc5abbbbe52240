#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two hundred machines in DuckDB, ClickHouse and Spark. Ends with "N passed, N failed, N skipped", an engine each.
# Called as: nightly.sh [BUILD-FOLDER]
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
[ -e "$build/build.ninja" ] || meson setup "$build" >/dev/null || exit 1
ninja --quiet -C "$build" kontend tests/bench/synthetic || exit 1
passed=0 failed=0 skipped=0
for engine in duckdb clickhouse spark; do
	tests/fleet/fleet.py "$build/kontend" "$build/tests/bench/synthetic" . "$build" 200 "$engine"
	case $? in
	0) passed=$((passed + 1)) ;;
	77) skipped=$((skipped + 1)) ;;
	*) failed=$((failed + 1)) ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
