#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Comments name files that are there: `b.c` anywhere, `a/b.c` with its folder. No findings are files of the
# kernel (kernel/fork.c, include/linux/sched.h), NAME in capitals, which stands for any name, and names in
# quotes or angle brackets.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

everything=$(mktemp)
find src ui include tests man share debian .ci -type f -print 2>/dev/null >"$everything" || true
find . -maxdepth 1 -type f -print >>"$everything"
{
	c_files src ui include tests | grep -v /external/ | xargs -r awk -v comments=1 -f "$lint_dir/strip.awk"
	files_below src ui tests share -- -name '*.sh' -o -name '*.py' -o -name '*.awk' -o -name meson.build |
		grep -v /external/ | xargs -r grep -nE '^[ 	]*#' /dev/null
} | awk -v everything="$everything" '
BEGIN {
	while ((getline path < everything) > 0) {
		there[path] = 1
		while (sub(/^[^\/]*\//, "", path))
			there[path] = 1
	}
}
{
	match($0, /^[^:]*:[0-9]+:/)
	where = substr($0, 1, RLENGTH)
	rest = " " substr($0, RLENGTH + 1)
	while (match(rest, /[A-Za-z0-9_.\/*-]+\.(c|h|sh|py|awk|md)/)) {
		before = substr(rest, RSTART - 1, 1)
		name = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, RSTART + RLENGTH)
		if (before ~ /["`<]/ || name ~ /[A-Z][A-Z]|\*/ || rest ~ /^[A-Za-z0-9_]/ ||
		    name ~ /^(arch|asm|block|drivers|fs|include\/(linux|trace|uapi)|kernel|linux|mm|tools\/perf)\//)
			continue
		if (!(name in there))
			print where " there is no " name
	}
}' >>"$findings"
rm -f "$everything"
verdict
