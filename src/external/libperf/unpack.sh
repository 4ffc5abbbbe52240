#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# unpack.sh FOLDER: takes the libperf sources out of the distribution's linux-source tarball into
# FOLDER/k, once. FOLDER is in the build: the source tree may be one that nobody can write to.
#
# No distribution of ours packages libperf, but each packages the kernel's source, and the library
# is 10 files of it, or 11. Prints the C files to compile, as they are called below FOLDER, one per line, for meson.build. The result is
# kept (k/.from names what it was made from) and made anew only when this script or the tarball's
# name changes. LINUX_SOURCE=FILE takes another tarball.
set -eu
script=$(cd "$(dirname "$0")" && pwd)/unpack.sh
mkdir -p "$1"
cd "$1"

fail() {
	echo "libperf: $*" >&2
	exit 1
}

find_tarball() {
	if [ -n "${LINUX_SOURCE:-}" ]; then
		[ -f "$LINUX_SOURCE" ] || fail "LINUX_SOURCE=$LINUX_SOURCE is not a file"
		echo "$LINUX_SOURCE"
		return
	fi
	for t in /usr/src/linux-source-*.tar.* /usr/src/linux-source-*/linux-source-*.tar.*; do
		[ -f "$t" ] && echo "${t##*/} $t"
	done | sort -V | tail -n 1 | cut -d ' ' -f 2-
}

decompress() {
	case $1 in
	*.xz) xz -T0 -dc "$1" ;;
	*.bz2)
		for tool in lbzip2 pbzip2 bzip2; do
			command -v $tool >/dev/null && break
		done
		$tool -dc "$1"
		;;
	*.gz) gzip -dc "$1" ;;
	*.zst) zstd -dc "$1" ;;
	*) cat "$1" ;;
	esac
}

# Product code must never see tools/include (it shadows <linux/...>), so the internal headers are
# copied and what they take from there is replaced by our one small private/kernel-types.h. A member
# has the name that it had before 6.17.
copy_internal_headers() {
	mkdir -p "$1/private/internal" "$1/private/api/fd"
	for h in "$1"/tools/lib/perf/include/internal/*.h; do
		[ "${h##*/}" = tests.h ] && continue
		sed -E -e 's,<linux/(list|types|compiler|refcount|zalloc)\.h>,<kernel-types.h>,' \
			-e 's/\<pmu_cpus\>/own_cpus/' "$h" >"$1/private/internal/${h##*/}"
	done
	# Public headers alone: on a path of its own, so that no order of paths can mix up the two.
	mkdir -p "$1/public"
	cp -R "$1/tools/lib/perf/include/perf" "$1/public/"
	sed -E 's,<linux/(list|types|compiler|refcount|zalloc)\.h>,<kernel-types.h>,' \
		"$1/tools/lib/api/fd/array.h" >"$1/private/api/fd/array.h"
}

unpack() {
	tmp=k.tmp.$$
	trap 'rm -rf "$tmp"' EXIT
	mkdir "$tmp"
	top=$(decompress "$1" 2>/dev/null | tar -tf - 2>/dev/null | head -n 1 | cut -d / -f 1)
	[ -n "$top" ] || fail "cannot read $1 (is xz or bzip2 installed?)"
	decompress "$1" | tar -xf - -C "$tmp" --strip-components=1 "$top/tools/lib/perf" \
		"$top/tools/lib/api" "$top/tools/lib/zalloc.c" "$top/tools/include" \
		"$top/tools/arch" ||
		fail "$1 does not hold the kernel's tools/lib/perf under $top/"
	# The library and its users must agree on struct perf_event_attr: both take the system's.
	rm -f "$tmp/tools/include/uapi/linux/perf_event.h"
	copy_internal_headers "$tmp"
	echo "$stamp" >"$tmp/.from"
	if [ -d k ] && ! is_current; then rm -rf k; fi
	mv -T "$tmp" k 2>/dev/null || is_current || fail "cannot rename $tmp to k"
}

is_current() {
	[ -e k/.from ] || return 1
	[ -z "$tarball" ] || [ "$(cat k/.from)" = "$stamp" ]
}

tarball=$(find_tarball)
stamp="$tarball $(cksum <"$script")"
if ! is_current; then
	[ -n "$tarball" ] || fail "no kernel source under /usr/src:" \
		"apt-get install linux-source (Debian: linux-source-6.1), or set LINUX_SOURCE=FILE"
	unpack "$tarball"
fi

for f in core cpumap threadmap evsel evlist mmap xyarray lib; do
	echo "k/tools/lib/perf/$f.c"
done
echo k/tools/lib/zalloc.c
echo k/tools/lib/api/fd/array.c
# Newer ones read the list of CPUs that are on by it.
! grep -q '<api/fs/fs\.h>' k/tools/lib/perf/cpumap.c || echo k/tools/lib/api/fs/fs.c
