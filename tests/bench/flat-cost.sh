#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What an event costs `kontend report -i`, in CPU time (user and system), by how many of them there
# are and by how large the machine was: synthetic recordings in turns, the least of all turns, less
# what a report of two events takes. The last line is how many times as much an event costs in the
# largest recording of the largest machine as in that of the smallest.
#
#     flat-cost.sh KONTEND SYNTHETIC [MOST_EVENTS [TURNS [THREADS]]]
set -eu

kontend=$1
synthetic=$2
most=${3:-4000000}
turns=${4:-5}
threads=${5:-2}

# shellcheck source=tests/bench/lib.sh
. "$(dirname "$0")/lib.sh"

# least A B: the smaller one
least() {
	echo $(($1 < $2 ? $1 : $2))
}

# shape NAME CPUS TASKS LOCKS CHAINS: recordings of that machine, of more and more events; as short
# ones would have little but the names of tasks, they have fewer of these.
shape() {
	for n in 10000 100000 1000000 4000000 10000000; do
		[ "$n" -le "$most" ] || continue
		"$synthetic" "$dir/$1.$n" events="$n" cpus="$2" tasks="$(least "$3" $((n / 40)))" \
			locks="$(least "$4" $((n / 40)))" chains="$5" >/dev/null
		echo "$1 $n" >>"$dir/shapes"
	done
}

# A short one is read often, as the clock has steps of 10 ms.
measure() {
	while read -r name n; do
		times=$((1 + 1000000 / n))
		[ "$times" -le 40 ] || times=40
		timed "$name $n $times" "$times" "$kontend" report --threads "$threads" -i "$dir/$name.$n"
	done <"$dir/shapes"
	timed "none 2 40" 40 "$kontend" report --threads "$threads" -i "$dir/none"
}

"$synthetic" "$dir/none" events=2 >/dev/null
shape small 2 100 100 50
shape cpus 1024 2048 100 50
shape tasks 2 100000 100000 20000
shape large 1024 100000 100000 20000
for _ in $(seq "$turns"); do
	measure
done

awk '
	{
		ms = $4 / $3
		key = $1 " " $2
		if (!(key in least) || ms < least[key])
			least[key] = ms
		if ($1 != "none" && !(key in seen)) {
			seen[key] = 1
			order[++n] = key
		}
	}
	END {
		printf "%-8s %10s %8s\n", "machine", "events", "ns/event"
		for (k = 1; k <= n; k++) {
			split(order[k], is, " ")
			ns = (least[order[k]] - least["none 2"]) * 1e6 / is[2]
			printf "%-8s %10d %8.0f\n", is[1], is[2], ns
			last[is[1]] = ns
		}
		if (last["small"])
			printf "large / small: %.2f\n", last["large"] / last["small"]
	}' "$dir/figures"
