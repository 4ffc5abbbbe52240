#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each third-party library is known to one file (or family of files) only.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

# only FILES-REGEX HEADERS-REGEX
only() {
	c_files src ui include | xargs -r grep -nE "^[ 	]*#[ 	]*include[ 	]*<($2)>" /dev/null |
		grep -vE "^($1):" | sed "s#\$#  (allowed in $1 only)#" >>"$findings" || true
}

only 'ui/term/term\.c' 'n?curses\.h|ncursesw?/.*|term\.h|panel\.h|menu\.h|form\.h'
only 'src/source/perf[a-z-]*\.[ch]' 'perf/.*|internal/.*'
only 'src/decode/trace\.c' 'event-parse\.h|traceevent/.*|trace-seq\.h'
only 'src/sym/(lines/dwarf(-members\.c|-file\.h|\.c)|unwind/libdw\.c)' 'elfutils/(lib|known|elf|version).*|libelf\.h|gelf\.h|dwarf\.h'
only 'src/sym/lines/debuginfod\.c' 'elfutils/debuginfod\.h'
only 'src/sym/code/demangle\.c' 'libiberty/.*|demangle\.h'
only 'src/sym/code/(disasm|capstone-less)\.c' 'capstone/.*'
only 'src/metrics/server\.c' 'microhttpd\.h'
only 'src/util/protobuf\.c' 'protobuf-c/.*'
only 'src/export/send\.c' 'curl/.*'
only 'src/bench/bench-suite-read\.c' 'jansson\.h'
only 'src/sym/elf/unxz\.c' 'lzma\.h'
only 'src/sym/unwind/libunwind\.c' 'libunwind.*'
only 'src/[a-z]*/[a-z-]*pack\.c' 'zstd.*\.h'
only 'src/(util/gzip|util/gunzip|inspect/bpf-run)\.c' 'zlib\.h'
only 'src/inspect/[a-z./-]*\.[ch]' 'bpf/.*'
verdict
