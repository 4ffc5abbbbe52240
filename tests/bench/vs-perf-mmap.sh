#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What it costs a program to be watched at its mmap_lock: a storm of mmap, touch and munmap, one of
# page faults, and two compilers, under kontend report as it is without options, at the other levels
# of --mmap, and under `perf record -g` of the same events, system-wide: see observer-cost.c for how
# and for the columns. The first level is to be below 1 % where the load is one that a machine may
# have, which takes more pairs than 120 to show for the first load: see -l there. About ten minutes,
# on a machine that has nothing else to do.
#
#     vs-perf-mmap.sh KONTEND OBSERVER_COST SOURCES [PAIRS [THREADS]]
set -eu

kontend=$1
cost=$2
sources=$3
pairs=${4:-120}
threads=${5:-8}

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
command -v cc >/dev/null || skip "there is no compiler to be watched"
cc -E -I"$sources/include" -I"$sources/src" -o "$dir/unit.i" "$sources/src/model/pair.c"

report="exec $kontend report --duration 3600 --format json"
record="exec perf record -q -a -g -o $dir/data"
set -- "contended:$pairs=$report"
if command -v perf >/dev/null; then
	set -- "$@" "perf-g:$((pairs / 2 + 1))=$record -e $events"
fi
set -- "$@" "no-bpf:$((pairs / 2 + 1))=$report --no-bpf"
set -- "$@" "sampled:$((pairs / 8 + 1))~$report --mmap sampled"
set -- "$@" "all:$((pairs / 12 + 1))=$report --mmap all"
if command -v perf >/dev/null; then
	set -- "$@" "perf-g-all:$((pairs / 30 + 1))=$record -e $events,mmap_lock:*"
fi
"$cost" -c "$dir/unit.i" -t "$threads" "$@"
