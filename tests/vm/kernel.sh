#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kernel.sh ARCH DIR: a kernel of the distribution for machines of Debian architecture ARCH, and a
# static busybox to go with it, in DIR: vmlinuz, config, modules/, busybox. Once there, they stay.
#
# They come from the package sources of this machine, by the name of a metapackage, since the name
# of the kernel itself changes with each update. Nothing is installed and no root is needed: apt
# works on lists of its own. Exits 77 with the reason where no kernel can be had.
# KONTEND_VM_KERNEL names another metapackage, such as linux-image-amd64.
set -eu
arch=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
limit=180       # seconds for the package lists, and for each package
retry_minutes=5 # after a failure, so that not every test tries anew

unavailable() {
	echo "no kernel for $arch: $*" | tee "$dir/unavailable"
	exit 77
}

# The sources, but none of the state, of the machine's apt. Foreign architectures need no set-up.
private_apt() {
	program=$1
	shift
	timeout "$limit" "$program" -qq -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" \
		-o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" \
		-o Dir::State::status=/dev/null -o Acquire::Languages=none \
		-o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=1 \
		-o Acquire::http::Timeout=20 "$@" 2>>"$apt/errors" </dev/null
}

# The package behind the first metapackage that there is, small ones first.
find_image() {
	for meta in ${KONTEND_VM_KERNEL:-} "linux-image-cloud-$arch" linux-image-virtual \
		"linux-image-$arch"; do
		private_apt apt-cache depends "$meta" |
			sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1 | grep . && return
	done
	return 1
}

# fetch PACKAGE PATTERN...: the matching files of the package below $apt/root. Modules are a package
# of their own at some distributions, and not needed by all tests.
fetch() {
	package=$1
	shift
	(cd "$apt" && private_apt apt-get download "$package") || return 1
	dpkg-deb --fsys-tarfile "$apt/${package}"_*.deb |
		tar -C "$apt/root" -xf - --wildcards "$@" 2>/dev/null || true
	rm -f "$apt"/*.deb
}

move_one() {
	target=$1
	shift
	for file; do
		[ ! -f "$file" ] || { mv "$file" "$target" && return 0; }
	done
	return 1
}

collect() {
	move_one "$dir/config" "$apt"/root/boot/config-* || true
	mkdir -p "$dir/modules"
	find "$apt/root" -name '*.ko*' -exec mv {} "$dir/modules" \;
	for module in "$dir"/modules/*.xz; do
		[ ! -f "$module" ] || xz -d "$module"
	done
	for module in "$dir"/modules/*.zst; do
		[ ! -f "$module" ] || zstd -q -d --rm "$module" || rm "$module"
	done
	move_one "$dir/busybox" "$apt/root/bin/busybox" "$apt/root/usr/bin/busybox" || return 1
	move_one "$dir/vmlinuz" "$apt"/root/boot/vmlinuz-*
}

exec 9>"$dir/lock"
flock 9
[ ! -f "$dir/vmlinuz" ] || exit 0
if [ -n "$(find "$dir" -name unavailable -mmin "-$retry_minutes")" ]; then
	cat "$dir/unavailable"
	exit 77
fi
for program in apt-get apt-cache dpkg-deb; do
	command -v "$program" >/dev/null || unavailable "there is no $program to fetch one with"
done
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/root"
private_apt apt-get update || unavailable "apt-get update: $(tail -n 1 "$apt/errors")"
image=$(find_image) || unavailable "the package sources have none"
fetch "$image" './boot/vmlinuz-*' './boot/config-*' '*/fs/fuse/fuse.ko*' ||
	unavailable "$image: $(tail -n 1 "$apt/errors")"
fetch busybox-static '*/bin/busybox' || unavailable "busybox-static: $(tail -n 1 "$apt/errors")"
collect || unavailable "$image has no kernel, or busybox-static no busybox"
rm -f "$dir/unavailable"
echo "fetched $image"
