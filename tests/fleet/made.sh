#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The SQL that reads rows is what the program's tables make; UPDATE=1 makes it again.
# Called as: made.sh KONTEND SOURCE-FOLDER
set -eu
kontend=$1
src=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

mkdir -p "$work/share/fleet"
python3 "$src/share/rows/make.py" "$kontend" "$src/share/rows/kontend-rows.5.in" \
	"$work/schema" "$work/page" "$work/share/fleet"
for file in share/fleet/duckdb/rows.sql share/fleet/clickhouse/rows.sql share/fleet/spark/rows.sql; do
	if [ -n "${UPDATE:-}" ]; then
		cp "$work/$file" "$src/$file"
	elif ! diff -u -L "$file" -L 'as it would be made' "$src/$file" "$work/$file"; then
		echo "$file is not what the program's tables make: UPDATE=1 meson test -C build rows-made"
		status=1
	fi
done

# Each query says in its first line what it answers, the same for every engine.
for file in "$src"/share/fleet/duckdb/*.sql; do
	first=$(head -n 1 "$file")
	case $first in
	"-- "*"?"*) ;;
	*) echo "$file: its first line is no question: $first" && status=1 ;;
	esac
	for engine in clickhouse spark; do
		other=$src/share/fleet/$engine/${file##*/}
		if [ ! -e "$other" ] || [ "${file##*/}" != rows.sql ] && [ "$(head -n 1 "$other")" != "$first" ]; then
			echo "$other: it is not there, or asks something else" && status=1
		fi
	done
done
exit $status
