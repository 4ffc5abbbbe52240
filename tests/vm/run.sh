#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh ARCH CACHE-DIR SCRIPT [FILE[:DEST]...]: boots a machine of Debian architecture ARCH under
# QEMU, without KVM, runs guest SCRIPT in it with the FILEs there, prints what it printed, and exits
# as it did; 77 with the reason where there is no QEMU or no kernel. All that the machine said is in
# CACHE-DIR. VM_CPUS, VM_LIMIT (seconds) and VM_SERIAL (1 = /dev/ttyS1 and ttyS2 are the two ends of
# one line) say what it is like.
set -eu
arch=$1 cache=$2 script=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
name=$arch-$(basename "$script" .sh)
limit=${VM_LIMIT:-120}

case $arch in
amd64) qemu=qemu-system-x86_64 machine="-M q35 -cpu max" console=ttyS0 ;;
arm64) qemu=qemu-system-aarch64 machine="-M virt -cpu cortex-a57" console=ttyAMA0 ;;
*) echo "no machine for $arch" && exit 1 ;;
esac
if ! command -v "$qemu" >/dev/null; then
	echo "$qemu is not installed"
	exit 77
fi
"$here/kernel.sh" "$arch" "$cache/$arch"
"$here/initramfs.sh" "$cache/$arch" "$cache/$name.cpio" "$script:/run.sh" "$@"

line=$(mktemp -d)
trap 'rm -rf "$line"' EXIT
set --
[ -z "${VM_SERIAL:-}" ] || set -- \
	-chardev "socket,id=one,path=$line/line,server=on,wait=off" \
	-chardev "socket,id=two,path=$line/line" \
	-device isa-serial,chardev=one,index=1 -device isa-serial,chardev=two,index=2

# The BIOS moves the cursor about, and a serial line ends lines by CR LF.
log=$cache/$name.log
status=0
# shellcheck disable=SC2086 # words of $machine
timeout -k 2 "$limit" "$qemu" $machine -accel tcg -m 1024 -smp "${VM_CPUS:-2}" -nodefaults \
	-nographic -no-reboot -serial stdio -monitor none -kernel "$cache/$arch/vmlinuz" \
	-initrd "$cache/$name.cpio" -append "console=$console quiet panic=-1" "$@" \
	</dev/null >"$log" 2>&1 || status=$?
tr -d '\r' <"$log" | sed -n '/@@READY/,/@@EXIT/p' | sed '/^@@EXIT/d; s/^@@READY/booted:/'
code=$(tr -d '\r' <"$log" | sed -n 's/^@@EXIT \([0-9]*\).*/\1/p')
[ -z "$code" ] || exit "$code"
echo "$qemu ended with status $status (124: not done in $limit s) before the test did; it said last:"
tail -n 15 "$log" | tr -cd '\n\t -~'
exit 1
