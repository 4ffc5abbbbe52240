#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# initramfs.sh DIR OUT FILE[:DEST]...: makes the initramfs of a machine with kernel.sh's DIR, in two parts
# that the kernel unpacks one after the other: a root file system of busybox, terminal descriptions
# and the kernel's modules, which stays in DIR; and guest/init, the checks and the FILEs (to /bin
# unless DEST says otherwise), stripped, with the shared objects that they need, out of DIR/sysroot
# or this machine. Not compressed: it goes from one memory into another.
set -eu
kernel=$(cd "$1" && pwd)
out=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

# add_objects FILE: what it needs, and what that needs.
add_objects() {
	readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r name; do
		[ ! -e "$root/lib/$name" ] || continue
		object=$(find_object "$name")
		cp -L "$object" "$root/lib/$name"
		add_objects "$object"
	done
}

find_object() {
	for top in "$kernel/sysroot" "" "$kernel/systemd"; do
		for folder in "/lib/$triplet" "/usr/lib/$triplet" "/usr/lib/$triplet/systemd" \
			/lib/systemd /lib64 /usr/lib64 /lib; do
			[ ! -e "$top$folder/$1" ] || { echo "$top$folder/$1" && return; }
		done
	done
	echo "initramfs: there is no $1 for $triplet" >&2
	return 1
}

# The symbols of bp-holder name the addresses that breakpoints watch.
what_to_strip() {
	case $1 in
	*/bp-holder) echo --strip-debug ;;
	*) echo --strip-all ;;
	esac
}

# The interpreter shows the architecture. A file without one is a script, or needs nothing.
add_program() {
	interpreter=$(readelf -l "$1" 2>/dev/null | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	case $interpreter in
	*ld-linux-x86-64*) triplet=x86_64-linux-gnu ;;
	*ld-linux-aarch64*) triplet=aarch64-linux-gnu ;;
	*) cp -L "$1" "$2" && return ;;
	esac
	"$triplet-strip" "$(what_to_strip "$1")" -o "$2" "$1" 2>/dev/null || cp -L "$1" "$2"
	mkdir -p "$root/lib" "$root/$(dirname "$interpreter")"
	[ -e "$root$interpreter" ] ||
		cp -L "$(find_object "$(basename "$interpreter")")" "$root$interpreter"
	add_objects "$1"
}

archive() {
	(cd "$root" && find . | cpio -o -H newc 2>/dev/null)
}

make_base() {
	mkdir -p "$root/bin" "$root/dev" "$root/etc" "$root/lib" "$root/proc" "$root/root" \
		"$root/sys" "$root/tmp" "$root/usr/share/terminfo"
	cp "$kernel/busybox" "$root/bin/busybox"
	cp -R "$kernel/modules" "$root/lib/modules"
	echo 'root:x:0:0:root:/root:/bin/sh
user:x:1000:1000:user:/tmp:/bin/sh' >"$root/etc/passwd"
	for term in vt100 linux xterm-256color xterm dumb; do
		file=$(printf %.1s "$term")/$term
		for folder in /usr/share/terminfo /lib/terminfo; do
			[ -e "$folder/$file" ] || continue
			mkdir -p "$root/usr/share/terminfo/${file%/*}"
			cp -L "$folder/$file" "$root/usr/share/terminfo/$file"
		done
	done
	archive >"$kernel/base.$$"
	mv "$kernel/base.$$" "$kernel/base.cpio"
	rm -rf "${root:?}"/*
}

if [ -z "$(find "$kernel/base.cpio" -newer "$kernel/vmlinuz" -newer "$0" 2>/dev/null)" ]; then
	make_base
fi
for pair in "$here/guest/init:/init" "$here/guest/systemd:/lib/guest-systemd" \
	"$here/guest/lib.sh:/lib/lib.sh" \
	"$here/checks.sh:/lib/checks.sh" "$@"; do
	file=${pair%%:*}
	dest=/bin/$(basename "$file")
	[ "$file" = "$pair" ] || dest=${pair#*:}
	mkdir -p "$root/$(dirname "$dest")"
	add_program "$file" "$root/$dest"
done
{ cat "$kernel/base.cpio" && archive; } >"$out"
