#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The page on the format of recordings says what the code's tables say: numbers of features, records
# and kinds, the fields of the head of side data, in the code's order.
# Called as: data.sh SOURCE-FOLDER
set -eu
export LC_ALL=C
cd "$1"
page=man/kontend-data.5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# same WHAT: compares $work/code with $work/page.
same() {
	if [ ! -s "$work/code" ]; then
		echo "$1: the code has nothing to compare with"
		status=1
	elif ! diff -u -L "the code: $1" -L "the manual: $1" "$work/code" "$work/page"; then
		status=1
	fi
}

# values FILE ENUM PREFIX: "NAME NUMBER" of each value, counted up where the code gives no number.
values() {
	awk -v name="$2" -v prefix="$3" '
	$0 == "enum " name " {" { inside = 1; next }
	/^}/ { inside = 0 }
	inside && $1 ~ "^" prefix {
		n = $2 == "=" ? $3 + 0 : n + 1
		sub(/,$/, "", $1)
		print substr($1, length(prefix) + 1), n
	}' "$1"
}

# items SECTION: of a section without its subsections, or of a subsection, ".It Dv NAME Pq NUMBER" of the page as "NAME NUMBER".
items() {
	awk -v section="$1" '
	/^\.S[hs] / { inside = substr($0, 5) == section }
	inside && $1 == ".It" && $2 == "Dv" { print $3, $5 }' "$page"
}

# has WHAT FILE NAME: checks that the value of NAME in FILE is in the page.
has() {
	value=$(sed -n "s/.*\<$3\>[ =]*\([0-9][0-9a-fx]*\).*/\1/p" "$2" | head -n 1)
	if [ -z "$value" ] || ! grep -qw -- "$value" "$page"; then
		echo "the manual: $1 is not '$value', as $2 has it"
		status=1
	fi
}

values include/file/kontend/perfdata.h perfdata_feature PERFDATA_ >"$work/code"
{ items FEATURES; items 'Features that are only read'; } | sort -n -k 2 >"$work/page"
sort -n -k 2 -o "$work/code" "$work/code"
same 'numbers of features'

awk '/^static const uint8_t features/ { inside = 1; next } /^};/ { inside = 0 } inside' \
	src/file/writer-head.c | tr -d ' \t' | tr ',' '\n' | sed -n 's/^PERFDATA_//p' >"$work/code"
items FEATURES | cut -d ' ' -f 1 >"$work/page"
same 'features that are written'

values include/file/kontend/perfdata.h perfdata_type PERFDATA_TYPE_ | grep -v '^USER ' >"$work/code"
items RECORDS >"$work/page"
same 'records'

values include/decode/kontend/record.h record_kind RECORD_ >"$work/code"
items 'SIDE DATA' >"$work/page"
same 'kinds of side data'

awk '/^struct perfdata_ext {/ { inside = 1; next } /^}/ { inside = 0 }
	inside { sub(/;$/, "", $2); print $1, $2 }' include/file/kontend/perfdata.h >"$work/code"
awk '$1 == ".It" && $2 == "Vt" { print $3, $6 }' "$page" >"$work/page"
same 'fields of side data'

has 'the id of our event' include/file/kontend/perfdata.h PERFDATA_EXT_ID
has 'the length of a chunk' include/file/kontend/perfdata.h PERFDATA_EXT_CHUNK
has 'the length of an attribute' include/file/kontend/perfdata.h PERFDATA_EXT_ATTR
has 'the length that is packed' src/file/writer.c PACK_FROM
has 'the number of ids' src/file/writer-head.c MOST_IDS

exit $status
