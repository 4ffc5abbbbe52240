#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPU time (user and system) of `kontend script -i` and of `perf script -i` on the same perf-made
# file with call chains, in turns, with every event written as text by both; the last line is the
# ratio of the medians. Without a FILE one is made of a storm. A long one is made of a short one by
# lengthen; perf then takes half a minute and more for each turn.
#
#     vs-perf-script.sh KONTEND STORM [FILE [TURNS]]
set -eu

kontend=$1
storm=$2
file=${3:-}
turns=${4:-3}

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"
need_perf

make_file -a -g -e "$events" -- "$storm" 16 6000 go
for _ in $(seq "$turns"); do
	timed kontend 1 "$kontend" script -i "$file"
	timed json 1 "$kontend" script --format json -i "$file"
	timed chrome 1 "$kontend" export --format chrome -i "$file"
	timed perf 1 perf script -i "$file"
done

n_events=$(events "$file")
size=$(wc -c <"$file")
awk -v events="$n_events" -v size="$size" -v turns="$turns" "$median"'
	{ v[$1, ++n[$1]] = $2 }
	function middle(name,   k, a) {
		for (k = 1; k <= n[name]; k++)
			a[k] = v[name, k]
		return median(a, n[name])
	}
	function line(what, name) {
		printf "%-32s %8d ms CPU\n", what, middle(name)
	}
	END {
		printf "%d events, %.1f MB, medians of %d turns\n", events, size / 1e6, turns
		line("perf script -i", "perf")
		line("kontend script -i", "kontend")
		line("kontend script --format json -i", "json")
		line("kontend export --format chrome -i", "chrome")
		k = middle("kontend")
		printf "perf / kontend: %.1f\n", k ? middle("perf") / k : 0
	}' "$dir/figures"
