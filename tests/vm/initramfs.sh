#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# initramfs.sh KERNEL-DIR OUT FILE[:DEST]...: a root file system of busybox, guest/init, terminal
# descriptions, the kernel's modules and the FILEs (to /bin unless DEST says otherwise) with the
# shared objects that they need, as found on this machine. Not compressed: it goes from one memory
# into another.
set -eu
kernel=$(cd "$1" && pwd)
out=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# Where the shared objects of a program are: its interpreter tells the architecture.
folders_for() {
	case $1 in
	*ld-linux-x86-64*) echo /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu /lib64 /usr/lib64 ;;
	*ld-linux-aarch64*) echo /lib/aarch64-linux-gnu /usr/lib/aarch64-linux-gnu \
		/usr/aarch64-linux-gnu/lib ;;
	esac
}

find_object() {
	for folder in $folders; do
		[ ! -e "$folder/$1" ] || { echo "$folder/$1" && return; }
	done
	echo "initramfs: $1 is not in $folders" >&2
	return 1
}

# add_objects FILE: what it needs, and what that needs.
add_objects() {
	readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r name; do
		[ ! -e "$root/lib/$name" ] || continue
		object=$(find_object "$name")
		cp -L "$object" "$root/lib/$name"
		add_objects "$object"
	done
}

add_program() {
	interpreter=$(readelf -l "$1" 2>/dev/null |
		sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	[ -n "$interpreter" ] || return 0
	folders=$(folders_for "$interpreter")
	mkdir -p "$root/$(dirname "$interpreter")"
	[ -e "$root$interpreter" ] ||
		cp -L "$(find_object "$(basename "$interpreter")")" "$root$interpreter"
	add_objects "$1"
}

chmod 755 "$root"
mkdir -p "$root/bin" "$root/dev" "$root/etc" "$root/lib" "$root/proc" "$root/root" "$root/sys" \
	"$root/tmp" "$root/usr/share/terminfo"
cp "$kernel/busybox" "$root/bin/busybox"
cp -R "$kernel/modules" "$root/lib/modules"
cp "$here/guest/init" "$root/init"
cp "$here/guest/lib.sh" "$root/lib/lib.sh"
echo 'root:x:0:0:root:/root:/bin/sh
user:x:1000:1000:user:/tmp:/bin/sh' >"$root/etc/passwd"
for term in vt100 linux xterm-256color xterm dumb; do
	for folder in /lib/terminfo /usr/share/terminfo; do
		file=$(printf %.1s "$term")/$term
		[ -e "$folder/$file" ] || continue
		mkdir -p "$root/usr/share/terminfo/$(printf %.1s "$term")"
		cp -L "$folder/$file" "$root/usr/share/terminfo/$file"
	done
done
for pair; do
	file=${pair%%:*}
	dest=/bin/$(basename "$file")
	[ "$file" = "$pair" ] || dest=${pair#*:}
	mkdir -p "$root/$(dirname "$dest")"
	cp -L "$file" "$root/$dest"
	add_program "$file"
done
# busybox of a foreign architecture does not run here; then the machine's cpio has to do.
make_archive() {
	cpio=cpio
	command -v cpio >/dev/null || cpio="$kernel/busybox cpio"
	(cd "$root" && find . | $cpio -o -H newc 2>/dev/null)
}
make_archive >"$out"
