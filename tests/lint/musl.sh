#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The program's own sources compile with musl's headers, too: nothing is taken from glibc alone. Left
# out is who includes a library, whose headers are for this machine's C library, and where there is
# no build there is no libperf.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

command -v musl-gcc >/dev/null || skip "musl-gcc is not installed (musl-tools)"
doors=$(find include src ui -mindepth 1 -maxdepth 1 -type d | sed 's/^/-I/' | tr '\n' ' ')
headers=$(cc -M -include asm/types.h -x c /dev/null | tr ' ' '\n' | sed -n 's,/asm/types\.h$,,p' | head -n 1)
# shellcheck disable=SC2086 # one folder a word
c_files src ui | grep '\.c$' | grep -v '\.bpf\.c$' |
	xargs -r grep -LE '<(bpf|perf|internal|elfutils|capstone|n?curses|event-parse|libunwind|libiberty|zstd|lzma|gelf|libelf|dwarf|demangle)|"(version|perf|terminfo-table|(profile|metrics|otlp)\.pb-c)[a-z-]*\.h"' |
	xargs -r -P 2 -n 1 musl-gcc -std=c17 -D_GNU_SOURCE -fsyntax-only $doors -Isrc -Iui \
		-Werror=implicit-function-declaration -Werror=int-conversion \
		-idirafter "$headers" -idirafter /usr/include >"$findings" 2>&1 || true
grep 'error:' "$findings" >"$findings.errors" || true
mv "$findings.errors" "$findings"
verdict
