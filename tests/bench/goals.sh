#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The goals that kontend has beside perf, measured in one run: the two programs in turns, medians,
# their ratio, and whether it meets its goal. Reports and scripts are of some 2 million events of a
# storm that perf has recorded, and of a synthetic machine of 1024 CPUs, 100,000 tasks and locks; of
# the latter perf takes two minutes for 4 million EVENTS, and is run once. Bytes of an event are
# those of whole files, so short ones have the symbols and names in them, too. Ten minutes and more,
# on a machine that has nothing else to do.
#
#     goals.sh KONTEND STORM PIPE_STORM SYNTHETIC LENGTHEN NAIVE [EVENTS [TURNS [FILE]]]
set -eu

kontend=$1
storm=$2
pipe_storm=$3
synthetic=$4
lengthen=$5
naive=$6
large_events=${7:-4000000}
turns=${8:-3}
file=${9:-}

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need_perf_lock

# Of 2 million events, or a little more.
make_long_file() {
	[ -z "$file" ] || return 0
	make_file -a -g -e "$events" -- "$storm" 16 6000 go
	"$lengthen" "$file" "$dir/long.data" $((2000000 / $(events "$file") + 1))
	file=$dir/long.data
}

one_cpu() {
	taskset -c 0 "$@"
}

of_long_file() {
	timed report 5 "$kontend" report -i "$file"
	timed report-one 5 one_cpu "$kontend" report -i "$file"
	timed naive 5 one_cpu "$naive" "$file"
	timed perf-report 1 perf lock contention -i "$file"
	timed script 1 "$kontend" script -i "$file"
	timed perf-script 1 perf script -i "$file"
}

# Bytes of the memory of its own that a report takes at the most, and waits that it folds.
own_memory() {
	"$kontend" report -q -i "$large" --format json --rows 1 >"$dir/report" 2>"$dir/err" &
	work=$!
	while kill -0 "$work" 2>/dev/null; do
		sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/memory \1/p' "/proc/$work/status" 2>/dev/null || true
		sleep 0.02
	done | sort -k 2n | tail -n 1 >>"$dir/figures"
	wait "$work"
	work=
	echo "folded $(member folded <"$dir/report")" >>"$dir/figures"
}

of_large_file() {
	large=$dir/large.data
	"$synthetic" "$large" "events=$large_events" cpus=1024 tasks=100000 locks=100000 chains=20000 \
		>/dev/null
	timed perf-large 1 perf lock contention -i "$large"
	for _ in $(seq "$turns"); do
		timed large 1 "$kontend" report -i "$large"
	done
	own_memory
	rm -f "$large"
}

# packed NAME EVENTS RECORDER...: "NAME-EVENTS bytes", of a hundred events, into the figures
packed() {
	what=$1-$2
	storm_events=$2
	shift 2
	begin "$what" "$@" -o "$dir/packed.data"
	"$pipe_storm" 32 "$storm_events" >/dev/null
	end
	echo "$what $(($(wc -c <"$dir/packed.data") * 100 / $(events "$dir/packed.data")))" >>"$dir/figures"
	rm -f "$dir/packed.data"
}

record_packed() {
	for n in 50000 200000 800000; do
		packed z "$n" "$kontend" record -q -a -z -m 2048
		packed perf-z "$n" perf record -q -a -z -g --kernel-callchains -k CLOCK_MONOTONIC -m 2048 \
			-e "$events"
	done
}

"$pipe_storm" 4 1000 >/dev/null || skip "no storm: see above"
make_long_file
for _ in $(seq "$turns"); do
	of_long_file
	record_packed
done
of_large_file

say_file
awk -v large="$large_events" "$medians"'
	function say(what, ours, theirs, value, goal, is_met) {
		printf "%-42s %10s %10s %8s %10s  %s\n", what, ours, theirs, value, goal,
			is_met ? "met" : "NOT MET"
	}
	# What perf takes, as a multiple of one of so many runs of kontend.
	function times(what, ours, runs, theirs, least,   r) {
		r = ratio(theirs, ours) * runs
		say(what, sprintf("%.0f ms", middle(ours) / runs), sprintf("%.0f ms", middle(theirs)),
			sprintf("%.1f", r), ">= " least, r >= least)
	}
	function bytes(n,   r) {
		r = ratio("z-" n, "perf-z-" n)
		say("bytes of an event, -z, " n " events", sprintf("%.2f", middle("z-" n) / 100),
			sprintf("%.2f", middle("perf-z-" n) / 100), sprintf("%.2f", r), "<= 0.8", r <= 0.8)
	}
	END {
		printf "%-42s %10s %10s %8s %10s\n", "", "kontend", "perf", "ratio", "goal"
		times("report", "report-wall", 5, "perf-report-wall", 20)
		times("report, CPU time on one CPU", "report-one", 5, "perf-report", 12)
		times("script", "script-wall", 1, "perf-script-wall", 12)
		r = ratio("naive", "report-one")
		say("naive pass / report, CPU time on one CPU", sprintf("%.0f ms", middle("report-one") / 5),
			sprintf("(%.0f ms)", middle("naive") / 5), sprintf("%.2f", r), ">= 0.7", r >= 0.7)
		times("report, 1024 CPUs, " large " events", "large-wall", 1, "perf-large-wall", 40)
		say("waits folded there", middle("folded"), "-", "-", "0", !middle("folded"))
		say("own memory there", sprintf("%.0f MB", middle("memory") / 1024), "-", "-", "< 600 MB",
			middle("memory") / 1024 < 600)
		bytes(50000)
		bytes(200000)
		bytes(800000)
	}' "$dir/figures"
