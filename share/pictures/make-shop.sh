#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Makes shop.data again, a recording of shop.c: a chain of waits from requests to a disk. Takes root, a C compiler, ext4
# below /srv, and two CPUs that nothing else keeps busy.
# Called as: make-shop.sh BUILD
set -eu
[ $# = 1 ] || { echo "usage: $0 BUILD" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# Nothing private of this machine: another host name, and no names of other tasks.
[ "${SHOP_STEP-}" ] || exec env SHOP_STEP=1 unshare --uts "$0" "$@"
hostname example
build=$(realpath "$1") app=/srv/app
[ ! -e $app ] || { echo "$app is there: something else is using it" >&2; exit 1; }
mkdir -p $app
trap 'rm -rf $app' EXIT
trap 'exit 143' HUP INT TERM
cp "$build/kontend" "$here/shop.c" $app
strip --strip-debug $app/kontend
cd $app
cc -g -O2 -pthread shop.c -o shop

# Names of the programs that run, and of cgroups, with a NUL after each; added to those before.
note_others() {
	find /sys/fs/cgroup /sys/fs/cgroup/* -mindepth 1 -type d -printf '/%P\0' 2>/dev/null >>names || :
	cat /proc/[0-9]*/task/[0-9]*/comm 2>/dev/null | sort -u |
		grep -vE '^(kontend|kworker|ksoftirqd|rcu_|shop|importer)' | tr '\n' '\0' >>names
}

: >names
note_others
env -i PATH=/usr/bin:/bin HOME=$app LC_ALL=C.UTF-8 nice -n -15 ./kontend record -q --no-config -z -o raw.data -- ./shop
note_others
# A cut has names of the program's functions at its begin, where unname.py moves nothing that refers to them.
./kontend cut -q --compress=19 raw.data -o part.data
"$here/../unname.py" part.data names plain.data --no-code
./kontend cut -q --compress=19 plain.data -o fewer.data
"$here/../../tests/cli/sample-private.py" fewer.data | tr '\n' '\0' >private
"$here/../unname.py" fewer.data private plain.data
./kontend cut -q --compress=19 plain.data -o shop.data
chmod 644 shop.data
cp shop.data "$here"
