#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A file includes headers of its own module and of those that the table in ARCHITECTURE.md gives to
# its module: "kontend/NAME.h" belongs to the module whose include/MODULE/kontend has it,
# "MODULE/NAME.h" is a private one. A module may use only those above it in the table, so there are
# no circles; the list for the compiler (src/meson.build) is the same. A module that the table allows
# another one to use, without an include that needs it, is a finding as well. model.h, which 240 files
# see, includes no header of kontend: else a change of one table would rebuild all of them.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

# MODULE: OTHER OTHER..., in the order of the table. "nothing" is no module.
table() {
	sed -n '/<!-- modules -->/,/<!-- \/modules -->/s/^| `\(src\/\)\{0,1\}\([a-z]*\)[^|]*|[^|]*| \([^|]*\) |$/\2: \3/p' \
		ARCHITECTURE.md | sed 's/ nothing$//; s/,//g'
}

compiled() {
	sed -n "/^uses = {/,/^}/s/^  '\([a-z]*\)': \[\(.*\)\],\$/\1: \2/p" src/meson.build | tr -d "'," | sed 's/ *$//'
}

table >"$findings.table"
{
	sed 's/^/table /' "$findings.table"
	files_below include -- -name '*.h' | sed 's/^/file /'
	c_files src ui include | xargs -r grep -nE '^[ 	]*#[ 	]*include[ 	]*"[a-z]+/' /dev/null |
		sed -E 's|^([^:]*):([0-9]+):.*"([a-z]+)/([^"]*)".*|include \1 \2 \3 \4|'
} | awk '
function module_of(path,    part) {
	split(path, part, "/")
	return part[1] == "ui" ? "ui" : part[1] == "src" && part[2] ~ /\.c$/ ? "main" : part[2]
}
$1 == "table" {
	own = substr($2, 1, length($2) - 1)
	for (i = 3; i <= NF; i++) {
		allowed[own, $i] = 1
		arrow[++arrows] = own " " $i
		if (!known[$i])
			print "ARCHITECTURE.md: " own " uses " $i ", which is not above it in the table"
	}
	known[own] = 1
}
$1 == "file" {
	name = $2
	sub(/.*\/kontend\//, "kontend/", name)
	if (name in home)
		print $2 ": the same name as " home[name]
	home[name] = $2
}
$1 == "include" {
	own = module_of($2)
	header = $4 "/" $5
	other = $4 == "kontend" ? (header in home ? module_of(home[header]) : "no module") : $4
	used[own " " other] = 1
	if (!known[own])
		print $2 ": " own " is not in the table of ARCHITECTURE.md"
	else if (own != other && !allowed[own, other] && (known[other] || $4 == "kontend"))
		print $2 ":" $3 ": " own " does not use " other ", of which it includes " header
}
END {
	for (i = 1; i <= arrows; i++) {
		split(arrow[i], end, " ")
		if (!(arrow[i] in used))
			print "ARCHITECTURE.md: the table lets " end[1] " use " end[2] ", of which it includes no header"
	}
}' >>"$findings"
if [ -f src/meson.build ]; then
	grep -v '^main:' "$findings.table" >"$findings.wanted"
	compiled | diff "$findings.wanted" - | sed -n 's/^[<>] /src\/meson.build: uses is not the table of ARCHITECTURE.md: /p' >>"$findings"
fi
if [ -f include/model/kontend/model.h ]; then
	grep -n '^#include "kontend/' include/model/kontend/model.h |
		sed 's|\([0-9]*\):#include \(.*\)|include/model/kontend/model.h:\1: declare the struct that is needed of \2 instead|' >>"$findings"
fi
rm -f "$findings.table" "$findings.wanted"
verdict
