#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Heap memory comes from util/mem alone, and below main.c, src/cmd, src/bench/run*, cmd.c and the line of progress
# nothing in src/ prints to the standard streams or ends the process (_exit() after fork() is no end of the process).
# Events are opened by perf_event_open() of perf-event.h.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

start='(^|[^A-Za-z0-9_>.])'
heap='malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|getline|getdelim'
print='printf|vprintf|puts|putchar|perror|exit|abort|warnx?|errx'

c_files src ui | grep -v '^src/util/' | code_of |
	grep -E "^[^:]*:[0-9]+:(.*$start)?($heap)[ 	]*\(" |
	grep -vE '^src/sym/unwind/libdw.c:[0-9]+:	free\(f\);$' | # a frame of dwarf_cfi_addrframe()
	sed 's/$/  (heap memory: use util\/mem)/' >>"$findings" || true
c_files src | grep -vE '^src/(main.c|cmd/.*|options/cmd.c|util/progress.c|bench/(run|suite).*)$' | code_of |
	grep -E "^[^:]*:[0-9]+:(.*$start)?(($print)[ 	]*\(|(stderr|stdout)([^A-Za-z0-9_]|$))" |
	sed 's/$/  (below the verbs nothing prints or exits)/' >>"$findings" || true
c_files src | grep -vE '^src/(util/perf-event|inspect/perf/created)\.c$' | code_of | grep 'SYS_perf_event_open' |
	sed 's/$/  (use perf_event_open() of src\/util\/perf-event.c)/' >>"$findings" || true
verdict
