#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What measuring costs: the same bounded storm without an observer, under kontend report, under
# `perf lock record` and under `perf record -g` of the same two events, system-wide, in turns. It
# prints the storm's time, the CPU time of the observer without its start-up, and for perf that of the
# analysis which kontend has done by then. The last lines are ratios of medians.
#
#     vs-perf-lock.sh KONTEND STORM [TURNS [THREADS [ROUNDS]]]
set -eu

kontend=$1
storm=$2
turns=${3:-3}
threads=${4:-8}
rounds=${5:-4000}

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need_perf_lock

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# run NAME [OBSERVER...]: "NAME storm_ms observer_us" appended to the figures
run() {
	before=0
	if [ $# -gt 1 ]; then
		begin "$@"
		before=$(cpu_us)
	fi
	start=$(now_ms)
	"$storm" "$threads" "$rounds" go
	storm_ms=$(($(now_ms) - start))
	used=0
	if [ -n "$observer" ]; then
		sleep 0.5
		children=$(children_us)
		end
		used=$(($(children_us) - children - before))
	fi
	echo "$1 $storm_ms $used" >>"$dir/figures"
}

for _ in $(seq "$turns"); do
	run none
	run kontend "$kontend" report --duration 600 --format json
	run perf-lock perf lock record -a -o "$dir/lock.data"
	run perf-record perf record -q -a -g -e "$events" -o "$dir/record.data"
	before=$(children_us)
	perf lock contention -i "$dir/record.data" >/dev/null 2>&1
	echo "perf-contention 0 $(($(children_us) - before))" >>"$dir/figures"
	rm -f "$dir/lock.data" "$dir/record.data"
done

awk -v turns="$turns" "$median"'
	{ wall[$1, ++n[$1]] = $2; cpu[$1, n[$1]] = $3 }
	function middle(a, name, k, v) {
		for (k = 1; k <= n[name]; k++)
			v[k] = a[name, k]
		return median(v, n[name])
	}
	END {
		split("none kontend perf-lock perf-record perf-contention", order, " ")
		printf "%-16s %12s %16s   (medians of %d)\n", "observer", "storm ms", "observer cpu us", turns
		for (k = 1; k <= 5; k++) {
			m[order[k]] = middle(cpu, order[k])
			printf "%-16s %12d %16d\n", order[k], middle(wall, order[k]), m[order[k]]
		}
		if (!m["perf-lock"] || !m["perf-record"])
			exit
		printf "kontend (measuring and analysis) / perf lock record (measuring only): %.2f\n",
			m["kontend"] / m["perf-lock"]
		printf "kontend / perf record -g and perf lock contention: %.2f\n",
			m["kontend"] / (m["perf-record"] + m["perf-contention"])
	}' "$dir/figures"
