#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The C files are as .clang-format says. Versions of clang-format differ in details, so that one
# version is the measure.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

tool=
for candidate in clang-format-14 clang-format; do
	if $candidate --version 2>/dev/null | grep -q 'version 14\.'; then
		tool=$candidate
		break
	fi
done
[ -n "$tool" ] || skip "clang-format 14 is not installed"
c_files src ui include tests | while read -r file; do
	lines=$("$tool" --style=file "$file" | diff "$file" - | grep -c '^<') || true
	[ "${lines:-0}" -eq 0 ] || echo "$file: $lines lines differ, run: $tool -i $file"
done >"$findings"
verdict
