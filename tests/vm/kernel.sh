#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kernel.sh ARCH DIR: a kernel of the distribution for machines of Debian architecture ARCH, and a
# static busybox to go with it, in DIR: vmlinuz, config, modules/, busybox. Once there, they stay.
#
# They come from the package sources of this machine, by the name of a metapackage, since the name
# of the kernel itself changes with each update. Exits 77 with the reason where none can be had.
# KONTEND_VM_KERNEL names another distribution, from whose archive they come then (debian-12,
# debian-13, each also with -backports, or ubuntu-24.04), with -rt after it for its PREEMPT_RT
# kernel; or another metapackage, such as linux-image-amd64.
set -eu
# shellcheck source=tests/vm/apt.sh
. "$(dirname "$0")/apt.sh"

# The package that the first existing metapackage depends on, small ones first.
find_image() {
	others="linux-image-cloud-$arch linux-image-virtual linux-image-$arch"
	for meta in ${meta:-$others}; do
		apt apt-cache depends "$meta" |
			sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1 | grep . && return
	done
	return 1
}

# parts IMAGE: the packages that it consists of; of newer kernels of Debian several.
parts() {
	echo "$1"
	apt apt-cache depends "$1" |
		sed -n 's/^ *Depends: \(linux-\(base\|binary\|modules\)-[0-9].*\)/\1/p'
}

# fetch PACKAGE PATTERN...: its matching files, below $root. Modules are a package of their own at
# some distributions, and not needed by all tests; so what is missing shows later.
fetch() {
	package=$1
	shift
	(cd "$root" && apt apt-get download "$package") ||
		unavailable "$package: $(apt_error)"
	unpack "$root/${package}"_*.deb "$root" "$@" 2>>"$errors" || true
	rm -f "$root"/*.deb
}

move_one() {
	target=$1
	shift
	for file; do
		[ ! -f "$file" ] || { mv "$file" "$target" && return 0; }
	done
	return 1
}

# Modules for disks and their file systems go to a folder of their own: guest/blocked.sh loads them itself,
# other tests do without.
collect() {
	move_one "$dir/config" "$root"/boot/config-* "$root"/usr/lib/modules/*/config || true
	rm -rf "$dir/modules"
	mkdir -p "$dir/modules/disks"
	find "$root" -name '*.ko*' -exec mv {} "$dir/modules/disks" \;
	for module in "$dir"/modules/disks/*.xz; do
		[ ! -f "$module" ] || xz -d "$module"
	done
	for module in "$dir"/modules/disks/*.zst; do
		[ ! -f "$module" ] || zstd -q -d --rm "$module" || rm "$module"
	done
	move_one "$dir/modules" "$dir"/modules/disks/fuse.ko || true
	move_one "$dir/busybox" "$root/bin/busybox" "$root/usr/bin/busybox" &&
		move_one "$dir/vmlinuz" "$root"/boot/vmlinuz-* "$root"/usr/lib/modules/*/vmlinuz
}

apt_begin kernel "$1" "$2"
[ ! -f "$dir/vmlinuz" ] || exit 0
meta=
wanted=${KONTEND_VM_KERNEL:-}
case $wanted in
*-rt) meta="linux-image-rt-$arch" ;;
esac
another_distribution "${wanted%-rt}" || meta=$wanted
apt_update
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
image=$(find_image) || unavailable "the package sources have none: $(apt_error)"
for part in $(parts "$image"); do
	fetch "$part" './boot/vmlinuz-*' './boot/config-*' './usr/lib/modules/*/vmlinuz' \
		'./usr/lib/modules/*/config' '*/fs/fuse/fuse.ko*' \
		'*/brd.ko*' '*/dm-mod.ko*' '*/crc*.ko*' '*/libcrc*.ko*' '*/xor.ko*' '*/raid6_pq.ko*' \
		'*/zstd_compress.ko*' '*/blake2b*.ko*' '*/libblake2b.ko*' '*/mbcache.ko*' '*/jbd2.ko*' \
		'*/ext4.ko*' '*/xfs.ko*' '*/btrfs.ko*'
done
fetch busybox-static '*/bin/busybox'
collect || unavailable "$image has no kernel, or busybox-static no busybox"
apt_end
echo "fetched $image"
