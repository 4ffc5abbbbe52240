#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The pictures of README.md, made again from the recording that comes with kontend and from shop.data; --check writes
# none and lists those that differ from the present program: in words, lines or views. It ignores
# figures, names from the recording, and the width of their columns, so that a picture need not be
# made again for each of them.
#
#     make.sh [--check] [KONTEND [FOLDER]]
set -eu
export LC_ALL=C.UTF-8 TZ=UTC

check=
if [ "${1-}" = --check ]; then
	check=1
	shift
fi
here=$(cd "$(dirname "$0")" && pwd)
kontend=${1:-$here/../../build/kontend}
folder=${2:-$here}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# The words of a picture, a line a row, but for the first, which has the place and way it was made.
words() {
	sed -n '/^<text /p' "$1" | tail -n +2 | sed 's/<[^>]*>//g; s/[^ ]*[0-9][^ ]*/N/g; s/[▁▂▃▄▅▆▇█│·-]/ /g' |
		tr -s ' ' | sed 's/ *$//'
}

# picture NAME RECORDING OPTION...
picture() {
	name=$1.svg recording=$2
	shift 2
	"$kontend" screenshot -q --no-config --size 110x18 "$@" -o "$work/$name" "$here/$recording"
	if [ -z "$check" ]; then
		cp "$work/$name" "$folder/$name"
		return
	fi
	words "$folder/$name" >"$work/old"
	words "$work/$name" >"$work/new"
	if [ "$(wc -w <"$work/new")" -lt 20 ]; then
		echo "$name shows next to nothing"
		status=1
	fi
	if ! diff -u -L "$name" -L "the program: $name" "$work/old" "$work/new"; then
		status=1
	fi
}

picture shop shop.data --at 0:06.4 --size 110x20
picture chains shop.data --view chains --at 0:06.4 --size 126x15
picture overview ../storm.data --at 0:17.5 --size 110x30
picture locks ../storm.data --view locks --keys 'Down Down Down Down Enter' --size 110x30
picture slots ../storm.data --view slots --at 0:17.5 --size 110x16
"$here/cast.py" ${check:+--check} "$kontend" "$folder" || status=1
if [ $status -ne 0 ]; then
	echo "Pictures are older than the program: look at them, and make them again by share/pictures/make.sh"
fi
exit $status
