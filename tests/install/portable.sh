#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The one file of each architecture, made anew: it asks for no loader, is below 8 MB, and that of this
# machine reports of a recording where there is nothing but the two. Called as: portable.sh [ARCH...]
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
"$top/bootstrap" --help | grep -q 'bootstrap portable' || { echo "this tree makes no portable file" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

case $(uname -m) in
x86_64) here=amd64 ;;
aarch64) here=arm64 ;;
*) here= ;;
esac

# Prints what is wrong with the file of an architecture.
faults() {
	file=$("$top/bootstrap" portable --arch "$1" | tail -n 1)
	[ -f "$file" ] || { echo "there is none" && return; }
	! readelf -lW "$file" | grep -q INTERP || echo "it asks for a loader"
	size=$(wc -c <"$file")
	[ "$size" -lt 8000000 ] || echo "it has $size bytes"
	[ "$1" = "$here" ] && [ "$(id -u)" -eq 0 ] || return
	rm -rf "$work/root"
	mkdir "$work/root"
	cp "$file" "$work/root/kontend"
	cp "$top/share/storm.data" "$work/root"
	chroot "$work/root" /kontend report -i /storm.data >"$work/report" 2>&1 || echo "alone, it ends with $?: $(cat "$work/report")"
	grep -q mmap_lock "$work/report" || echo "alone, it reports nothing"
}

[ $# -gt 0 ] || set -- amd64 arm64
for arch; do
	wrong=$(faults "$arch")
	if [ -z "$wrong" ]; then
		passed=$((passed + 1))
	else
		echo "$arch: $wrong"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
