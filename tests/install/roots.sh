#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The two commands of README on the distributions that it names, from nothing: a root file system by
# debootstrap with git and no more, a fresh clone of this tree in it, and there
#
#     ./bootstrap run </dev/null
#     ./bootstrap test
#
# Prints the last lines and the seconds of both, and in the end "N passed, N failed, N skipped".
# Called as: roots.sh [--run-only] [--keep] [NAME...] -- [ARGUMENT OF meson test...]
#
# Each root file system is / of a mount namespace of its own, as in a privileged container. The
# processes are those of the host. All mounts go with the namespaces.
set -euo pipefail

if [ "${KONTEND_ROOTS_INSIDE:-}" != yes ]; then
	[ "$(id -u)" -eq 0 ] || { echo "only root can make root file systems" && exit 77; }
	command -v debootstrap >/dev/null || { echo "debootstrap is not installed" && exit 77; }
	KONTEND_ROOTS_INSIDE=yes exec unshare --mount --propagation private "$0" "$@"
fi

top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/install/base.sh
. "$(dirname "$0")/base.sh"
passed=0
failed=0
skipped=0
run_only=no
keep=no
names=()

while [ $# -gt 0 ]; do
	case $1 in
	--run-only) run_only=yes ;;
	--keep) keep=yes ;;
	--) shift && break ;;
	*) suite_of "$1" >/dev/null && names+=("$1") ;;
	esac
	shift
done
[ ${#names[@]} -gt 0 ] || names=(debian-12 debian-13 ubuntu-24.04)
[ $# -eq 0 ] || set -- -- "$@"

# ROOT COMMAND: with ROOT as / and the devices and the tracing of this machine.
# shellcheck disable=SC2016 # that shell replaces them
enter='
	mount --bind "$1" "$1"
	mount -t proc proc "$1/proc"
	mount --rbind /sys "$1/sys"
	mount --rbind /dev "$1/dev"
	cd "$1"
	mkdir -p .host
	pivot_root . .host
	umount --lazy /.host
	rmdir /.host
	cd /
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 sh -c "$2"'

# command NAME WHAT COMMAND: its output in a file, its last lines and seconds here.
command_in() {
	local name=$1 title=$2 begin=$SECONDS status=0
	unshare --mount --propagation private sh -ec "$enter" sh "$work/$name" "$3" \
		>"$work/$name.log" 2>&1 </dev/null || status=$?
	tail -n "$([ "$status" -eq 0 ] && echo 12 || echo 120)" "$work/$name.log" | sed 's/^/    /'
	echo "$name: $title: exit $status after $((SECONDS - begin)) s"
	if [ "$status" -eq 0 ]; then
		passed=$((passed + 1))
		return 0
	fi
	failed=$((failed + 1))
	return 1
}

try_name() {
	local name=$1 root=$work/$1
	if ! make_base "$name" "$work"; then
		echo "$name: debootstrap cannot make it: $(tail -n 1 "$work/$name.log")"
		skipped=$((skipped + 1))
		return
	fi
	cp -a "$kept/$name" "$root"
	git -C "$top" bundle create -q "$root/source.bundle" HEAD
	chroot "$root" git -c advice.detachedHead=false -c init.defaultBranch=main clone -q /source.bundle /kontend
	command_in "$name" "./bootstrap run" "cd /kontend && ./bootstrap run" || return 0
	[ "$run_only" = yes ] ||
		command_in "$name" "./bootstrap test ${*:2}" "cd /kontend && ./bootstrap test ${*:2}" || return 0
}

work=$(mktemp -d /var/tmp/kontend-roots.XXXXXX)
finish() {
	if [ "$keep" = yes ]; then
		echo "kept: $work"
	else
		rm -rf --one-file-system "$work"
	fi
}
trap finish EXIT
for name in "${names[@]}"; do
	try_name "$name" "$@"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
