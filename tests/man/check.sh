#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The manual pages say what the program's tables say, no more and no less: options with their
# arguments by verb, keys with their commands, columns with their titles and help, views with their digits.
# Called as: check.sh KONTEND MAN-FOLDER
set -eu
export LC_ALL=C
kontend=$1
man=$2
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# same WHAT: compares $work/table with $work/page.
same() {
	sort "$work/table" >"$work/table.sorted"
	sort "$work/page" >"$work/page.sorted"
	if [ ! -s "$work/table" ]; then
		echo "$1: the program printed nothing to compare with"
		status=1
	elif ! diff -u -L "the program: $1" -L "the manual: $1" \
		"$work/table.sorted" "$work/page.sorted"; then
		status=1
	fi
}

# ".It Fl C , Fl -cpu Ar LIST" as "-C --cpu LIST".
page_options() {
	awk '/^\.It Fl / {
		line = ""
		for (i = 2; i <= NF; i++) {
			if ($i == "Fl")
				line = line " -" $(++i)
			else if ($i == "Ar")
				line = line " " $(++i)
		}
		print substr(line, 2)
	}' "$1"
}

# Within the section or subsection $2 of page $1: lines of ".It $3 NAME ... Pq Sy ..." as they are,
# without the macros.
page_items() {
	awk -v section="$2" -v macro="$3" '
	/^\.S[hs] / { inside = substr($0, 5) == section; next }
	inside && $1 == ".It" && $2 == macro {
		line = $3
		for (i = 4; i <= NF; i++)
			if ($i != "Ar" && $i != "Pq" && $i != "Sy" && $i != "Cm")
				line = line " " $i
		gsub(/\\&/, "", line)
		gsub(/\\e/, "\\", line)
		print line
	}' "$1"
}

# help_of TABLE PAGE SECTION: what the page says of its columns begins with their help.
help_of() {
	"$kontend" dump columns | awk -F '\t' -v table="$1" '$1 == table' |
		"$here/columns.py" "$2" "$3" || status=1
}

# Every verb that has options of its own has a page.
verbs=$("$kontend" dump options | cut -f 1 | uniq -c | awk '$1 > 1 { print $2 }')
for verb in $verbs; do
	page=$man/kontend-$verb.1
	[ "$verb" = live ] && page=$man/kontend.1
	if [ ! -f "$page" ]; then
		echo "kontend $verb has no page $page"
		status=1
		continue
	fi
	"$kontend" dump options | awk -F '\t' -v verb="$verb" '$1 == verb {
		line = $2 " " $3 ($4 == "" ? "" : " " $4)
		sub(/^ /, "", line)
		print line
	}' >"$work/table"
	page_options "$page" >"$work/page"
	same "options of $verb"
done

"$kontend" dump keys | awk -F '\t' '{
	print $1 ($2 == "" ? "" : " " $2) ($3 == "" ? "" : " " $3)
}' >"$work/table"
for section in Moving 'Views and finding' 'Order and grouping' Instructions Trees Time Program; do
	page_items "$man/kontend-views.7" "$section" Ic
done >"$work/page"
same keys

"$kontend" dump tables >"$work/tables"
while IFS='	' read -r table section; do
	"$kontend" dump columns | awk -F '\t' -v table="$table" '$1 == table {
		print $2 ($3 == "" ? "" : " " $3)
	}' >"$work/table"
	page_items "$man/kontend-views.7" "$section" Va >"$work/page"
	same "columns of $table"
	help_of "$table" "$man/kontend-views.7" "$section"
done <"$work/tables"

"$kontend" dump columns | awk -F '\t' '$1 == "diff" { print $2 ($3 == "" ? "" : " " $3) }' \
	>"$work/table"
page_items "$man/kontend-diff.1" COLUMNS Va >"$work/page"
same "columns of diff"
help_of diff "$man/kontend-diff.1" COLUMNS

"$kontend" dump settings | tr '\t' ' ' >"$work/table"
page_items "$man/kontend-config.5" '[options]' Cm >"$work/page"
same settings

"$kontend" dump damage >"$work/table"
page_items "$man/kontend-views.7" 'What can be wrong' Li | sed 's/.*, //; /^no symbols$/d; /^no ends$/d' >"$work/page"
same damage

# Those of files have their list in kontend-export(1).
"$kontend" dump metrics | awk -F '\t' '$5 ~ /server/ {
	print $1 " " $2 ($3 == "" ? "" : ", " $3) ($4 == "" ? "" : ": " $4)
}' >"$work/table"
page_items "$man/kontend-metrics.7" METRICS Va >"$work/page"
same metrics
"$kontend" dump metrics | awk -F '\t' '$5 ~ /server/ { print "metrics\t" $1 "\t\treport\t" $6 }' |
	"$here/columns.py" "$man/kontend-metrics.7" METRICS || status=1

"$kontend" dump views | awk -F '\t' '{ print $2 " " $1 }' >"$work/table"
page_items "$man/kontend-views.7" VIEWS Ic >"$work/page"
same views

# The benchmarks that the program offers, where kontend(1) and kontend-bench(1) list them all.
{ "$kontend" bench 2>&1 || true; } | sed -n '/Give a benchmark/p' | grep -o "'[a-z -]*'" |
	tr -d "'" | sed 's/^kontend bench //' | sort -u >"$work/table"
awk '/^\.It Cm bench$/ { inside = 1; next } /^\.It / { inside = 0 } inside && /^\.Cm / { $1 = ""; print }' "$man/kontend.1" |
	tr -d ',.' | xargs -n 1 >"$work/page"
same "benchmarks of kontend(1)"
sed -n 's/^\.Cm uprobe | /uprobe | /p' "$man/kontend-bench.1" | sed 's/ | /\n/g' >"$work/page"
same "benchmarks of kontend-bench(1)"

# The card of keys, as it is printed. UPDATE=1 puts today's into the page.
intro=$man/kontend-intro.7
"$kontend" help keys | sed 's/\\/\\e/g; s/^\./\\\&./' >"$work/table"
if [ -n "${UPDATE:-}" ]; then
	awk -v card="$work/table" '
	/^\.\\" card$/ { inside = 1 }
	inside && /^\.Ed/ { while ((getline line <card) > 0) print line; inside = 0 }
	!inside || /^\.\\"|^\.Bd/' "$intro" >"$work/intro"
	cp "$work/intro" "$intro"
fi
awk '/^\.\\" card$/ { inside = 1; next } /^\.Ed/ { inside = 0 } inside && !/^\.Bd/' "$intro" >"$work/page"
diff -u -L 'kontend help keys' -L 'the card of kontend-intro(7)' "$work/table" "$work/page" || status=1

exit $status
