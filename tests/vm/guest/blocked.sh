#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tasks in state D of file systems and devices that the kernel of the other tests does without: a
# suspended device-mapper device below ext4, XFS and Btrfs.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh
export DM_DISABLE_UDEV=1
SECTORS=655360

# In the order in which they need each other; kernels have some of these built in, or not at all.
for module in crc16 crc-itu-t crc32c_generic crc32c-intel crc32c-cryptoapi libcrc32c libblake2b blake2b blake2b_generic \
	xor raid6_pq zstd_compress mbcache jbd2 ext4 xfs btrfs dm-mod; do
	[ ! -f "/lib/modules/disks/$module.ko" ] || insmod "/lib/modules/disks/$module.ko" || true
done
[ ! -f /lib/modules/disks/brd.ko ] || insmod /lib/modules/disks/brd.ko rd_nr=4 rd_size=$((SECTORS / 2))

pids=
# shellcheck disable=SC2317 # called by eventually
in_d() {
	[ ! -d "/proc/$1" ] || [ "$(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f1)" = D ]
}

# blocks COMMAND...: runs it, and waits until it is in state D.
blocks() {
	"$@" &
	pids="$pids $!"
	eventually in_d $!
	cat "/proc/$!/stack" || complain "$* has ended"
}

# Goes on when the device does.
resume() {
	dmsetup resume "disk-$1" || complain "disk-$1 is still suspended"
	# shellcheck disable=SC2086 # one number a word
	wait $pids
	pids=
}

# of TYPE NUMBER: a file system on a device-mapper device, which is suspended then.
of() {
	grep -qw "$1" /proc/filesystems || { skip "the kernel has no $1" && return 1; }
	command -v "mkfs.$1" >/dev/null || { skip "there is no mkfs.$1" && return 1; }
	[ -b "/dev/ram$2" ] || { skip "the kernel has no disks in memory" && return 1; }
	mkdir "$1"
	if ! dmsetup create "disk-$1" --table "0 $SECTORS linear /dev/ram$2 0" ||
		! mkfs."$1" -q "/dev/mapper/disk-$1" >/dev/null ||
		! mount -t "$1" "/dev/mapper/disk-$1" "$1"; then
		complain "there is no $1 on disk-$1"
		return 1
	fi
	: >"$1/file"
	sync
	chmod 600 "$1/file" # metadata alone, for the log
	dmsetup suspend --nolockfs "disk-$1"
}

# report DEVICE NAME CAUSE: of the task that waits for it.
report() {
	gives 0 blocked kontend report --view blocked --format json --duration 1
	shows blocked "\"cause\": \"$3.*\"because_of\": .*\"comm\": \"sync\""
	shows blocked "\"device\": \"$1\".*\"device_name\": \"$2\", \"suspended\": true"
}

for fs in ext4:0:jbd2 xfs:1:XFS btrfs:2:btrfs; do
	type=${fs%%:*} number=${fs#*:} cause=${fs##*:}
	number=${number%:*}
	case_of "$type on a device that is suspended"
	of "$type" "$number" || continue
	blocks sync "$type/file"
	report "dm-$number" "disk-$type" "$cause"
	resume "$type"
done
finish
