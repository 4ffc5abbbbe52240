#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh ARCH CACHE-DIR SCRIPT... -- FILE[:DEST]...: boots a machine of Debian architecture ARCH,
# runs the guest SCRIPTs in it one after the other, with the FILEs there; then on the host, for each
# that has one, the script of the same name in host/, in a folder of the files that came out.
# Prints their results as TAP; see README.md.
#
# For another architecture than this machine's, FILEs below VM_BUILD are taken from a cross build. A
# machine that dies is booted once more for the rest of the scripts. See machine.sh for VM_CPUS,
# VM_SERIAL and VM_LIMIT; with VM_SYSTEMD=1 systemd is the first process of the machine, and the
# scripts run below it. All output is in CACHE-DIR/ARCH/NAME.log, where NAME is
# VM_NAME or the first script's; what came out is in NAME.files/. With another kernel, which
# KONTEND_VM_KERNEL names (kernel.sh), they are in CACHE-DIR/ARCH-KERNEL/.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
arch=$1
folder=$2/$1${KONTEND_VM_KERNEL:+-$KONTEND_VM_KERNEL}
mkdir -p "$folder"
dir=$(cd "$folder" && pwd)
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tests" "$work/out"
names=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	names="$names $(basename "$1" .sh)"
	cp "$1" "$work/tests/"
	shift
done
[ $# -eq 0 ] || shift
names=${names# }
build=$(realpath -s "${VM_BUILD:-/nowhere}")
log=$dir/${VM_NAME:-${names%% *}}

as_comment() {
	tr -cd '\n\t -~' <"$1" | sed 's/^/# /'
}

# need COMMAND...: makes something that the machine needs. If it is unavailable here, everything is
# skipped; any other error is a failure.
need() {
	rc=0
	"$@" >"$work/said" 2>&1 || rc=$?
	as_comment "$work/said"
	case $rc in
	0) return 0 ;;
	77) echo "1..0 # SKIP $(tail -n 1 "$work/said")" ;;
	*) echo "Bail out! $(basename "$1") failed" ;;
	esac
	exit 0
}

commands() {
	for program; do
		command -v "$program" >/dev/null || {
			echo "$program is not installed"
			return 77
		}
	done
}

is_foreign() {
	case $(uname -m) in
	x86_64) [ "$arch" != amd64 ] ;;
	aarch64) [ "$arch" != arm64 ] ;;
	esac
}

# cross_build FILE...: those below VM_BUILD.
cross_build() {
	for file; do
		shift
		file=$(realpath -s "$file")
		case $file in
		"$build"/*) set -- "$@" "${file#"$build"/}" ;;
		esac
	done
	"$here/cross.sh" "$arch" "$dir" "$@"
}

# make_image FILE...: all but the order of the scripts.
make_image() {
	for file; do
		shift
		if is_foreign; then
			file=$(realpath -s "$file")
			case $file in
			"$build"/*) file=$dir/build/${file#"$build"/} ;;
			esac
		fi
		set -- "$@" "$file"
	done
	for script in "$work"/tests/*; do
		set -- "$@" "$script:/tests/$(basename "$script")"
	done
	"$here/initramfs.sh" "$dir" "$work/image" "$here/guest/churn" "$@"
}

# Results of these scripts in a transcript: those that did not come to their end, the one that the
# machine died at last, so that it does not keep the others from being tried.
not_done() {
	awk -v names="$2" '
	/@@begin / { now = $2 }
	/@@end / { ended[$2] = 1; now = "" }
	END {
		for (n = split(names, name, " "); ++i <= n;)
			if (!(name[i] in ended) && name[i] != now)
				print name[i]
		if (now != "")
			print now
	}' "$1"
}

# boot NAME...: one machine for them. Sets $rc to QEMU's status.
boot() {
	mkdir -p "$work/in/tests"
	printf '%s\n' "$@" >"$work/in/tests/order"
	(cd "$work/in" && find . | cpio -o -H newc 2>/dev/null) >"$work/order"
	cat "$work/image" "$work/order" >"$work/initramfs"
	rc=0
	"$here/machine.sh" "$arch" "$dir" "$work/initramfs" "$work/files" >"$work/said" || rc=$?
	tr -d '\r' <"$work/said" | LC_ALL=C sed -n '/@@booted/,$p' >"$work/transcript"
	cat "$work/transcript" >>"$log.log"
	tar -C "$work/out" -xzf "$work/files" 2>/dev/null || true
}

boot_all() {
	: >"$log.log"
	# shellcheck disable=SC2086 # one name a word
	boot $names
	! grep -q '@@done' "$work/transcript" || return 0
	echo "# the machine ended with status $rc (124: not done in time) before the tests did;"
	echo "# it is booted once more, for what is not done. It said last:"
	tail -n 15 "$work/said" >"$work/last"
	as_comment "$work/last"
	# shellcheck disable=SC2046 # one name a word
	boot $(not_done "$log.log" "$names")
}

# The scripts on the host, which say the same as those in the machine.
check_files() {
	for name in $names; do
		[ -f "$here/host/$name.sh" ] || continue
		grep -q "@@end $name " "$log.log" || continue
		rc=0
		echo "@@begin $name"
		(cd "$log.files" && sh "$here/host/$name.sh") </dev/null 2>&1 || rc=$?
		echo "@@end $name $rc"
	done >"$work/transcript"
}

need commands cpio readelf
case $arch in
amd64) need commands qemu-system-x86_64 ;;
arm64) need commands qemu-system-aarch64 ;;
esac
need "$here/kernel.sh" "$arch" "$dir"
! is_foreign || need cross_build "$@"
if [ -n "${VM_SYSTEMD:-}" ]; then
	need "$here/systemd.sh" "$arch" "$dir"
	# shellcheck disable=SC2046 # one pair a word
	set -- "$@" $(cat "$dir/systemd.files")
fi
need make_image "$@"
boot_all
rm -rf "$log.files"
mv "$work/out" "$log.files"
check_files
cat "$work/transcript" >>"$log.log"
awk -v names="$names" -f "$here/results.awk" "$log.log"
