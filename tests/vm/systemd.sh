#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# systemd.sh ARCH DIR: what a machine needs to have systemd for its first process, as a list of
# "FILE:DEST" in DIR/systemd.files: that of this machine, or without it that of its package sources,
# which is unpacked into DIR/systemd and not installed. Exits 77 with the reason where there is none.
set -eu
# shellcheck source=tests/vm/apt.sh
. "$(dirname "$0")/apt.sh"

programs="lib/systemd/systemd lib/systemd/systemd-journald bin/systemctl bin/journalctl bin/systemd-analyze"
# Only what a machine comes up with by these; the rest is of hardware and users that it has not.
units="basic.target local-fs.target multi-user.target paths.target poweroff.target shutdown.target \
slices.target sockets.target sysinit.target timers.target umount.target \
systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket"

is_native() {
	case $1/$(uname -m) in amd64/x86_64 | arm64/aarch64) [ -x /lib/systemd/systemd ] && [ -x /usr/bin/systemd-analyze ] ;; *) false ;; esac
}

fetch() {
	apt_begin systemd "$1" "$2"
	[ ! -d "$dir/systemd" ] || return 0
	apt_update
	apt_install systemd || unavailable "$(apt_error)"
	rm -rf "$dir"/systemd.new.*
	mkdir -p "$dir/systemd.new.$$/usr/lib"
	ln -s usr/lib "$dir/systemd.new.$$/lib"
	for archive in "$archives"/*.deb; do
		unpack "$archive" "$dir/systemd.new.$$" 2>>"$errors" || unavailable "$archive does not unpack"
	done
	mv "$dir/systemd.new.$$" "$dir/systemd"
	apt_end
	echo "fetched systemd"
}

# Where the distribution has merged /bin and /usr/bin it is in either.
place_of() {
	for folder in "$top/" "$top/usr/"; do
		[ ! -e "$folder$1" ] || { echo "$folder$1" && return; }
	done
	echo "systemd has no $1" && exit 77
}

top=
is_native "$1" || {
	fetch "$1" "$2"
	top=$dir/systemd
}
for program in $programs; do
	echo "$(place_of "$program"):/$program"
done >"$2/systemd.files.new"
# Since 254 what runs a service is a program of its own.
[ ! -e "$top/usr/lib/systemd/systemd-executor" ] ||
	echo "$top/usr/lib/systemd/systemd-executor:/lib/systemd/systemd-executor" >>"$2/systemd.files.new"
for unit in $units; do
	echo "$(place_of "lib/systemd/system/$unit"):/lib/systemd/system/$unit"
done >>"$2/systemd.files.new"
mv "$2/systemd.files.new" "$2/systemd.files"
