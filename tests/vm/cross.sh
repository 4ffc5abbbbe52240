#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cross.sh ARCH DIR TARGET...: kontend and its test programs for another Debian architecture, built
# in DIR/build with the libraries of sysroot.sh; TARGETs are paths in there. Exits 77 with the
# reason where there is no compiler or no libraries. CROSS_OPTIONS are options of meson, by default those of
# the machines of this folder.
set -eu
arch=$1 dir=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

case $arch in
amd64) triplet=x86_64-linux-gnu cpu=x86_64 ;;
arm64) triplet=aarch64-linux-gnu cpu=aarch64 ;;
*) echo "nothing is known of $arch" && exit 1 ;;
esac
for program in "$triplet-gcc" pkg-config; do
	command -v "$program" >/dev/null || { echo "$program is not installed" && exit 77; }
done
"$here/sysroot.sh" "$arch" "$dir"
dir=$(cd "$dir" && pwd)

# The machine file's name of pkg-config changed in meson 1.3.
machine_file() {
	case $(meson --version) in
	1.[0-2].*) key=pkgconfig ;;
	*) key=pkg-config ;;
	esac
	root=$dir/sysroot
	cat <<-END
	[binaries]
	c = ['$triplet-gcc', '--sysroot=$root']
	ar = '$triplet-ar'
	strip = '$triplet-strip'
	$key = 'pkg-config'
	[properties]
	sys_root = '$root'
	pkg_config_libdir = ['$root/usr/lib/$triplet/pkgconfig', '$root/usr/share/pkgconfig']
	needs_exe_wrapper = true
	[host_machine]
	system = 'linux'
	cpu_family = '$cpu'
	cpu = '$cpu'
	endian = 'little'
	END
}

# From the start when the sources, meson or what the machine is like are others than last time.
exec 9>"$dir/build.lock"
flock 9
options=${CROSS_OPTIONS:--Dvm=enabled}
{ echo "# $top, meson $(meson --version), $options, $(stat -c %Y "$dir/sysroot/.packages")" && machine_file; } \
	>"$dir/machine.new"
if ! cmp -s "$dir/machine.new" "$dir/machine.ini" || [ ! -f "$dir/build/build.ninja" ]; then
	rm -rf "$dir/build"
	mv "$dir/machine.new" "$dir/machine.ini"
	# shellcheck disable=SC2086 # an option a word
	meson setup --cross-file "$dir/machine.ini" $options "$dir/build" "$top" \
		>"$dir/setup.log" 2>&1 || { tail -n 25 "$dir/setup.log" && exit 1; }
fi
ninja -C "$dir/build" "$@" >"$dir/build.log" 2>&1 || { tail -n 25 "$dir/build.log" && exit 1; }
echo "built for $arch"
