#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The schema, and the page on it, are what the program's tables and share/json/members make: UPDATE=1 makes them anew.
# Called as: made.sh KONTEND SOURCE-FOLDER
set -eu
kontend=$1
src=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

python3 "$src/share/json/make.py" "$kontend" "$src/share/json/members" "$src/share/json/kontend-json.7.in" \
	"$work/kontend.schema.json" "$work/kontend-json.7"
for file in share/json/kontend.schema.json man/kontend-json.7; do
	if [ -n "${UPDATE:-}" ]; then
		cp "$work/${file##*/}" "$src/$file"
	elif ! diff -u -L "$file" -L 'as it would be made' "$src/$file" "$work/${file##*/}"; then
		echo "$file is not what share/json/members and the program's tables make:" \
			"UPDATE=1 meson test -C build json-made"
		status=1
	fi
done
exit $status
