#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# machine.sh ARCH DIR INITRAMFS FILES: a machine of Debian architecture ARCH under QEMU, without
# KVM, that boots the kernel in DIR. Its console goes to standard output. The output of its
# second serial line goes to FILES. Ends with QEMU's status; 124 when it took more than VM_LIMIT s.
#
# arm64 has the performance counters of a Cortex-A57, and its clock goes by instructions: times are
# the same in each run, and do not depend on what else the host does.
# x86-64 does without cmpxchg16b before Linux 7: QEMU 7.2 leaves nonsense in the flags after one that is not
# locked, and kernels (6.8, 6.12) that are interrupted right after it, in the slab allocator, die of them. From
# 7 on that allocator has none that is not locked, and without cmpxchg16b BPF programs get no storage of tasks:
# kmalloc_nolock() needs it.
# One thread runs all its CPUs: with one each, QEMU 7.2 rarely has a kernel stand still, or end, that changes
# its own code while another CPU runs it, as it does when programs are attached to tracepoints.
# Nor does its kernel try whether the timer works, which on a busy host it finds that it does not.
# VM_CPUS: how many (2). VM_CPU: features of x86-64 CPUs besides, as -hypervisor, without which the kernel
# takes spinlocks as on a real machine: in a virtual one it spins without a queue, and reports none.
#  VM_SERIAL=1: instead of the second serial line there are /dev/ttyS1 and
# ttyS2, the two ends of one line.
set -eu
arch=$1 dir=$2 initramfs=$3 files=$4
line=$(mktemp -d)
trap 'rm -rf "$line"' EXIT

case $arch in
amd64)
	console=ttyS0 out=ttyS1 options=no_timer_check
	lacks=
	! grep -q '^# Linux/x86 [56][.]' "$dir/config" || lacks=,-cx16
	set -- qemu-system-x86_64 -M q35 -cpu "max$lacks${VM_CPU:+,$VM_CPU}" -accel tcg,thread=single
	[ -n "${VM_SERIAL:-}" ] || set -- "$@" -device isa-serial,chardev=files,index=1
	;;
arm64)
	console=ttyAMA0 out=ttyS0 options=
	set -- qemu-system-aarch64 -M virt -cpu cortex-a57 -accel tcg \
		-icount shift=2,sleep=off -device pci-serial,chardev=files
	;;
*) echo "no machine for $arch" && exit 1 ;;
esac
if [ -n "${VM_SERIAL:-}" ]; then
	out=
	set -- "$@" -chardev "socket,id=one,path=$line/line,server=on,wait=off" \
		-chardev "socket,id=two,path=$line/line" \
		-device isa-serial,chardev=one,index=1 -device isa-serial,chardev=two,index=2
fi
timeout --foreground -k 5 "${VM_LIMIT:-900}" "$@" -m 1024 -smp "${VM_CPUS:-2}" -nodefaults -nographic \
	-no-reboot -serial stdio -monitor none -chardev "file,id=files,path=$files" \
	-kernel "$dir/vmlinuz" -initrd "$initramfs" \
	-append "console=$console quiet panic=-1 vm.out=$out $options" </dev/null 2>&1
