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
# Of each file the first place is enough.
c_files src ui include tests | xargs -r -P "$(nproc)" -n 32 "$tool" --style=file --dry-run 2>&1 |
	sed -n "s/^\([^ :]*\):\([0-9]*\):[0-9]*: .*clang-format.*/\1:\2: another layout, run: $tool -i \1/p" |
	sort -u -t: -k1,1 >"$findings"
verdict
