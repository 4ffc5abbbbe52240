#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# here.sh FILE...: guest/views.sh on the running kernel, with these programs, and its results as TAP.
# Results are kept of Linux 6.18 on x86-64.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case $(uname -r)-$(uname -m) in
6.18.*-x86_64) ;;
*) echo "1..0 # SKIP nothing is kept of $(uname -r)" && exit ;;
esac
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP needs root" && exit; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/run" "$work/out"
for program; do
	ln -s "$(realpath "$program")" "$work/bin/"
done
cp "$here/checks.sh" "$work"
sed -e "s#/lib/checks.sh#$work/checks.sh#" -e "s#^OUT=.*#OUT=$work/out#" "$here/guest/lib.sh" >"$work/lib.sh"
# Only machines have busybox.
cat >>"$work/lib.sh" <<'END'
usleep() {
	sleep "$(awk -v us="$1" 'BEGIN { print us / 1e6 }')"
}
END
sed -e "s#/lib/lib.sh#$work/lib.sh#" -e "s#/bin/up-work#$work/bin/up-work#g" "$here/guest/views.sh" >"$work/views.sh"
{
	echo "@@booted $(uname -rm)"
	echo "@@begin views"
	rc=0
	(cd "$work/run" && PATH=$work/bin:$PATH sh "$work/views.sh") </dev/null 2>&1 || rc=$?
	echo "@@end views $rc"
	echo "@@begin kept"
	rc=0
	(cd "$work/out" && sh "$here/host/views.sh") </dev/null 2>&1 || rc=$?
	echo "@@end kept $rc"
	echo "@@done"
} | awk -v names="views kept" -f "$here/results.awk"
