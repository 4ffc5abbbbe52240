#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The pictures of README.md match the program, all of them are in it, and each is one: see
# picture.py. See share/pictures/make.sh for the parts that are compared.
# Called as: pictures.sh KONTEND SOURCES
set -eu
kontend=$(realpath "$1")
cd "$2"
"$kontend" version --features | grep -q '^  demangle  *\[ on \]' || {
	echo "skipped: pictures have names of C++ functions, which this program lacks"
	exit 77
}
status=0
share/pictures/make.sh --check "$kontend" || status=1

for picture in share/pictures/*.svg; do
	grep -q "($picture)" README.md || { echo "README.md does not show $picture" && status=1; }
	# Many screens in one: cast.py has looked at it.
	[ "$picture" != share/pictures/stories.svg ] || continue
	rows=$(mktemp)
	sed -n '/^<text /p' "$picture" | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >"$rows"
	tests/cli/picture.py "$picture" "$rows" || { echo "$picture is no picture" && status=1; }
	rm -f "$rows"
done
for picture in $(grep -o '(share/pictures/[^)]*)' README.md | tr -d '()'); do
	[ -f "$picture" ] || { echo "README.md shows $picture, which is not there" && status=1; }
done

# A comparison that finds nothing would not be one.
work=$(mktemp -d)
cp share/pictures/*.svg share/pictures/*.cast "$work"
sed -i '/^<text /s/SUM/SAM/' "$work/chains.svg"
if share/pictures/make.sh --check "$kontend" "$work" >/dev/null; then
	echo "a picture with another word passes for the program's"
	status=1
fi
cp share/pictures/chains.svg "$work"
sed -i '3s/worst/wurst/' "$work/stories.cast"
if share/pictures/make.sh --check "$kontend" "$work" >/dev/null; then
	echo "a cast with another word passes for the program's"
	status=1
fi
rm -rf "$work"
exit $status
