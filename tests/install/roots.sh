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
# It is a plain chroot, as package builders use it: the processes are those of the host, and / is no
# mount point. All mounts are in a mount namespace of their own and go with it. The file systems
# that debootstrap made are kept in KONTEND_ROOTS (/var/cache/kontend-roots), each run has a copy.
set -euo pipefail

if [ "${KONTEND_ROOTS_INSIDE:-}" != yes ]; then
	[ "$(id -u)" -eq 0 ] || { echo "only root can make root file systems" && exit 77; }
	command -v debootstrap >/dev/null || { echo "debootstrap is not installed" && exit 77; }
	KONTEND_ROOTS_INSIDE=yes exec unshare --mount --propagation private "$0" "$@"
fi

top=$(cd "$(dirname "$0")/../.." && pwd)
kept=${KONTEND_ROOTS:-/var/cache/kontend-roots}
passed=0
failed=0
skipped=0
run_only=no
keep=no
names=()

suite_of() {
	case $1 in
	debian-12) echo bookworm ;;
	debian-13) echo trixie ;;
	ubuntu-24.04) echo noble ;;
	*) echo "nothing is known of $1: debian-12, debian-13, ubuntu-24.04" >&2 && return 1 ;;
	esac
}

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

# debootstrap knows Ubuntu's suites by links to one script, and a new one not yet; its keys are
# those of the distribution that it runs on.
make_base() {
	local name=$1 suite=$2 options=(--variant=minbase "--include=git,ca-certificates")
	local scripts=/usr/share/debootstrap
	[ ! -e "$kept/$name/.made" ] || return 0
	rm -rf "${kept:?}/$name"
	mkdir -p "$kept"
	if [[ $name == ubuntu-* ]]; then
		options+=("--components=main,universe")
		[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options+=(--no-check-gpg)
	fi
	if [ ! -e "$scripts/scripts/$suite" ]; then
		cp -r "$scripts" "$work/debootstrap"
		scripts=$work/debootstrap
		ln -s gutsy "$scripts/scripts/$suite"
	fi
	DEBOOTSTRAP_DIR=$scripts debootstrap "${options[@]}" "$suite" "$kept/$name" >"$work/$name.log" 2>&1 ||
		return 1
	: >"$kept/$name/.made"
}

# command NAME WHAT COMMAND: its output in a file, its last lines and seconds here.
command_in() {
	local name=$1 title=$2 root=$work/$1 begin=$SECONDS status=0
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		sh -c "$3" >"$work/$name.log" 2>&1 </dev/null || status=$?
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
	local name=$1 root=$work/$1 suite
	suite=$(suite_of "$name")
	if ! make_base "$name" "$suite"; then
		echo "$name: debootstrap cannot make it: $(tail -n 1 "$work/$name.log")"
		skipped=$((skipped + 1))
		return
	fi
	cp -a "$kept/$name" "$root"
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys"
	mount --rbind /dev "$root/dev"
	git -C "$top" bundle create -q "$root/source.bundle" HEAD
	chroot "$root" git -c advice.detachedHead=false -c init.defaultBranch=main clone -q /source.bundle /kontend
	command_in "$name" "./bootstrap run" "cd /kontend && ./bootstrap run" || return 0
	[ "$run_only" = yes ] ||
		command_in "$name" "./bootstrap test ${*:2}" "cd /kontend && ./bootstrap test ${*:2}" || return 0
}

work=$(mktemp -d /var/tmp/kontend-roots.XXXXXX)
finish() {
	umount -R -l "$work"/*/{proc,sys,dev} 2>/dev/null || true # of the runs that came so far
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
