#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What it costs a program to be watched at its mmap_lock: a storm of mmap, touch and munmap and one of
# page faults without an observer, under kontend report as it is without options, with --owner and at
# the other levels of --mmap, and under `perf record -g` of the same events, system-wide, in turns. It
# prints medians of the time and the CPU time of the workload, both in percent of those without an
# observer: to be below 1 % for the first level. About five minutes, on a machine that has nothing else
# to do.
#
#     vs-perf-mmap.sh KONTEND [TURNS [THREADS [MMAP_ROUNDS [FAULT_ROUNDS]]]]
set -eu

kontend=$1
turns=${2:-5}
threads=${3:-8}
mmap_rounds=${4:-6000}
fault_rounds=${5:-12}

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_root measuring
has_perf=$(command -v perf || true)
levels=
if "$kontend" report --help | grep -q -- '--mmap '; then
	levels='sampled all'
fi

# workload NAME: its three figures
workload() {
	case $1 in
	mmap) "$kontend" bench mmap -t "$threads" -n "$mmap_rounds" ;;
	*) "$kontend" bench page-fault -t "$threads" -n "$fault_rounds" ;;
	esac
}

# run NAME [OBSERVER...]: "WORKLOAD NAME real_us cpu_us" of both workloads appended to the figures
run() {
	[ $# -eq 1 ] || begin "$@"
	for load in mmap page-fault; do
		workload $load | awk -v line="$load $1" '
			$1 ~ /^(usr|sys):$/ { cpu += $2 * 1000 }
			$1 == "real:" { real = $2 * 1000 }
			END { printf "%s %.0f %.0f\n", line, real, cpu }' >>"$dir/figures"
	done
	[ -z "$observer" ] || end
	rm -f "$dir/data"
}

# The first time is warming up.
workload mmap >/dev/null
for _ in $(seq "$turns"); do
	run none
	run kontend "$kontend" report --duration 600 --format json
	run kontend-owner "$kontend" report --owner --duration 600 --format json
	for level in $levels; do
		run "kontend-$level" "$kontend" report --mmap "$level" --duration 600 --format json
	done
	[ -n "$has_perf" ] || continue
	run perf perf record -q -a -g -e "$events" -o "$dir/data"
	run perf-mmap_lock perf record -q -a -g -e "$events,mmap_lock:*" -o "$dir/data"
done

awk -v turns="$turns" "$median"'
	!seen[$2]++ { names[++n_names] = $2 }
	{ k = ++n[$1, $2]; real[$1, $2, k] = $3; cpu[$1, $2, k] = $4 }
	function middle(a, load, name,   k, v) {
		for (k = 1; k <= n[load, name]; k++)
			v[k] = a[load, name, k]
		return median(v, n[load, name])
	}
	function percent(a, load, name,   base) {
		base = middle(a, load, "none")
		return base ? sprintf("%+.1f", 100 * (middle(a, load, name) / base - 1)) : "-"
	}
	END {
		printf "%-11s %-16s %9s %7s %9s %7s  (medians of %d)\n", "workload", "observer", "real ms",
			"%", "cpu ms", "%", turns
		split("mmap page-fault", loads, " ")
		for (l = 1; l <= 2; l++)
			for (k = 1; k <= n_names; k++)
				printf "%-11s %-16s %9.1f %7s %9.1f %7s\n", loads[l], names[k],
					middle(real, loads[l], names[k]) / 1000, percent(real, loads[l], names[k]),
					middle(cpu, loads[l], names[k]) / 1000, percent(cpu, loads[l], names[k])
	}' "$dir/figures"
