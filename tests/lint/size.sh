#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# .c files up to 800 lines, .h up to 250, functions up to 60, lines up to 100 columns. A function
# body is the part between "{" and "}" in the first column, as .clang-format leaves it.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2016 # the dollar signs are awk's
c_files src ui include tests | xargs -r awk '
function columns(s,    i, n, width) {
	gsub(/[\200-\277]/, "", s)
	n = split(s, parts, "\t")
	for (i = 1; i < n; i++)
		width = int((width + length(parts[i])) / 8 + 1) * 8
	return width + length(parts[n])
}
function end_of_file() {
	limit = file ~ /\.h$/ ? 250 : 800
	if (lines > limit)
		print file ":" lines ": " lines " lines, at most " limit
}
FNR == 1 {
	end_of_file()
	file = FILENAME
	opened = 0
}
{
	lines = FNR
	if (columns($0) > 100)
		print FILENAME ":" FNR ": " columns($0) " columns, at most 100"
}
/^\{/ {
	opened = FNR
}
/^\}/ {
	if (opened && FNR - opened - 1 > 60)
		print FILENAME ":" opened ": a function of " FNR - opened - 1 " lines, at most 60"
	opened = 0
}
END {
	end_of_file()
}' >>"$findings"
verdict
