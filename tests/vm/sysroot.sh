#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# sysroot.sh ARCH DIR: the libraries and headers that kontend is built with, for Debian architecture
# ARCH, in DIR/sysroot. It stays until the list of packages below changes, and is either whole or
# not there: the last step of making it is a rename. Exits 77 with the reason where it cannot be had.
set -eu
# shellcheck source=tests/vm/apt.sh
. "$(dirname "$0")/apt.sh"

packages="libc6-dev libncurses-dev libtraceevent-dev libdw-dev libelf-dev libzstd-dev libbpf-dev \
libunwind-dev libcmocka-dev libcapstone-dev liblzma-dev libbz2-dev libiberty-dev libjansson-dev \
libprotobuf-c-dev zlib1g-dev"

# Links to absolute paths would lead out of it, into this machine's own libraries.
make_links_relative() {
	find "$1" -type l -lname '/*' | while read -r link; do
		ln -sfn "$(realpath -m -s --relative-to="$(dirname "$link")" \
			"$1$(readlink "$link")")" "$link"
	done
}

# /lib is a link, as in every installation of these years; packages have files by both names.
make() {
	mkdir -p "$1/usr/lib"
	ln -s usr/lib "$1/lib"
	for archive in "$archives"/*.deb; do
		unpack "$archive" "$1" || return 1
	done
	make_links_relative "$1"
	echo "$packages" >"$1/.packages"
}

apt_begin libraries "$1" "$2"
root=$dir/sysroot
[ "$(cat "$root/.packages" 2>/dev/null)" != "$packages" ] || exit 0
apt_update
rm -rf "$root" "$dir"/sysroot.new.*
# shellcheck disable=SC2086 # one name a word
apt_install $packages || unavailable "$(apt_error)"
make "$dir/sysroot.new.$$" 2>>"$errors" || unavailable "a package does not unpack"
mv "$dir/sysroot.new.$$" "$root"
apt_end
echo "fetched the libraries for $arch"
