# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the lint scripts share. Each is called as SCRIPT [TREE], prints "FILE:LINE: what is wrong"
# and exits 0 (clean), 1 (findings) or 77 (cannot be checked here, with the reason printed).
set -eu
export LC_ALL=C
lint_dir=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$lint_dir/../..}"
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT

# Our own files below the given folders whose names match -name arguments; never unpacked sources.
files_below() {
	folders=
	while [ "$1" != -- ]; do
		[ -e "$1" ] && folders="$folders $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # one folder a word
	[ -z "$folders" ] || find $folders -type f \( "$@" \) -print | sort
}

c_files() {
	files_below "$@" -- -name '*.c' -o -name '*.h'
}

# Code of the C files named on standard input, as FILE:LINE:CODE.
code_of() {
	xargs -r awk -f "$lint_dir/strip.awk"
}

skip() {
	echo "$*"
	exit 77
}

# Ends the script: prints what was collected in $findings, if anything.
verdict() {
	[ -s "$findings" ] || exit 0
	cat "$findings"
	exit 1
}
