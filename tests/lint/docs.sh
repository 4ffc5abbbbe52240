#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Documents name files that are there: `a/b.c` from the top, from src, from tests or from the
# document's own folder, `b.c` anywhere, `a/*.c` at least one. NAME in capitals stands for any name.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

everything=$(mktemp)
find src ui include tests man share .ci -type f -print 2>/dev/null >"$everything" || true
find . -maxdepth 2 -name '*.md' -print >>"$everything"
# shellcheck disable=SC2016 # backquotes of a document
files_below . -- -name '*.md' | grep -vE '/(build[^/]*|external|\.git)/' |
	xargs -r grep -noE '`[A-Za-z0-9_./*-]+\.(c|h|sh|py|awk)`' /dev/null |
	sed 's/^\.\///; s/`//g' |
	while IFS=: read -r document line name; do
		case $name in
		*[A-Z][A-Z]*) continue ;;
		*\**)
			for folder in . src tests ui "$(dirname "$document")"; do
				[ -z "$(find "$folder" -path "$folder/$name" -print -quit 2>/dev/null)" ] || continue 2
			done
			;;
		*/*)
			for folder in . src tests ui "$(dirname "$document")"; do
				[ ! -e "$folder/$name" ] || continue 2
			done
			;;
		*)
			! grep -q "/$name\$" "$everything" || continue
			;;
		esac
		echo "$document:$line: there is no $name"
	done >>"$findings"
rm -f "$everything"
# README installs the packages that debian/changelog has.
if [ -f debian/changelog ] && [ -f README.md ]; then
	version=$(sed -n '1s/^[a-z]* (\(.*\)).*/\1/p' debian/changelog)
	grep -noE 'kontend_[0-9][^`_ ]*_amd64\.deb' README.md | grep -v ":kontend_${version}_amd64.deb$" |
		sed "s/^\([0-9]*\):/README.md:\1: the version of debian\/changelog is $version: /" >>"$findings"
fi
verdict
