# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # used by those that source this
# What the comparisons with perf share: each is sourced with its name in $0, works in $dir, and
# measures CPU time of a program that observes beside a workload.
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"

events=lock:contention_begin,lock:contention_end

# Returns when the observer has opened its events.
until_opened() {
	until [ -n "$(find "/proc/$observer/fd" -lname '*perf_event*' 2>/dev/null)" ]; do
		if ! kill -0 "$observer" 2>/dev/null; then
			echo "FAIL $name ended too early:"
			cat "$dir/err"
			exit 1
		fi
		sleep 0.1
	done
}

# begin NAME OBSERVER...: returns when it has opened its events and has had time to come to rest.
begin() {
	name=$1
	shift
	"$@" >"$dir/out" 2>"$dir/err" &
	observer=$!
	until_opened
	sleep 1.5
}

end() {
	kill -INT "$observer"
	wait "$observer" || true
	observer=
}

# The file that is measured, unless one was named: one that perf makes with these arguments.
make_file() {
	[ -z "$file" ] || return 0
	need_root
	file=$dir/perf.data
	perf record -q -m 2048 -o "$file" "$@" >/dev/null 2>"$dir/err" ||
		skip "perf record: $(tail -1 "$dir/err")"
}

# Scripts that compare reports of a file are called as: KONTEND WORKLOAD [FILE [TURNS]]
of_file() { # TURNS, by default, and the arguments
	turns=${5:-$1}
	kontend=$2
	work_load=$3
	file=${4:-}
}

# timed NAME TIMES COMMAND...: "NAME ms" of CPU time and "NAME-wall ms" of that many runs, into the
# figures
timed() {
	timed=$1
	times=$2
	shift 2
	before=$(children_us)
	started=$(date +%s%N)
	for _ in $(seq "$times"); do
		"$@" >/dev/null 2>"$dir/err" || {
			echo "FAIL $timed: $(cat "$dir/err")"
			exit 1
		}
	done
	ended=$(date +%s%N)
	echo "$timed $((($(children_us) - before) / 1000))
$timed-wall $(((ended - started) / 1000000))" >>"$dir/figures"
}

# member NAME: a number of the JSON report on standard input
member() {
	sed -n "s/.*\"$1\": *\\([0-9]*\\).*/\\1/p" | head -n 1
}

# "2000000 events, 210.3 MB, medians of 5 turns"
say_file() {
	n_events=$(events "$file")
	echo "$n_events $(wc -c <"$file") $turns" |
		awk '{ printf "%d events, %.1f MB, medians of %d turns\n", $1, $2 / 1e6, $3 }'
}

# CPU time in us that the observer's threads have used.
cpu_us() {
	cat "/proc/$observer/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum / 1000 }'
}

# The same for the children of this shell that have ended, in steps of 10 ms.
children_us() {
	awk '{ sub(/.*\) /, ""); print ($14 + $15) * 10000 }' "/proc/$$/stat"
}

# For awk: the middle one of the @n values of v, which it sorts.
median='function median(v, n,   k, j, t) {
	for (k = 1; k <= n; k++)
		for (j = k + 1; j <= n; j++)
			if (v[j] < v[k]) { t = v[k]; v[k] = v[j]; v[j] = t }
	return v[int((n + 1) / 2)]
}
'
# For awk: of figures "NAME VALUE" the median of those of a name.
# shellcheck disable=SC2016 # the fields are awk's
medians=$median'
{ figure[$1, ++figures[$1]] = $2 }
function middle(name,   k, v) {
	for (k = 1; k <= figures[name]; k++)
		v[k] = figure[name, k]
	return median(v, figures[name])
}
function line(what, name) {
	printf "%-36s %8.0f ms CPU\n", what, middle(name)
}
function ratio(a, b) {
	return middle(b) ? middle(a) / middle(b) : 0
}
'
