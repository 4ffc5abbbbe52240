#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Seconds and memory of `kontend merge` of many recordings, each of another synthetic machine, for all of them and
# for a tenth, so that it is seen that memory does not grow with them; and, where there is a perf that has it, seconds
# of `perf lock contention -i` of the same files one by one.
#
#     merge.sh KONTEND SYNTHETIC [RECORDINGS [EVENTS]]
set -eu
kontend=$1
synthetic=$2
n=${3:-200}
events=${4:-20000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for i in $(seq "$n"); do
	"$synthetic" "$dir/m$(printf %04d "$i").data" "events=$events" host="$i" kernel="$((i % 3))" seed="$i" \
		tasks=200 locks=300 chains=100 step=7919 >/dev/null
done

# merged NAME WORDS...: seconds by the wall (left in $dir/wall) and by CPUs, and the most memory that it had
merged() {
	python3 - "$dir/wall" "$@" <<'END'
import resource, subprocess, sys, time
wall_file, name, *command = sys.argv[1:]
begin = time.monotonic()
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
wall = time.monotonic() - begin
use = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{name}: {wall:.2f} s, {use.ru_utime + use.ru_stime:.2f} s of CPU, {use.ru_maxrss / 1024:.0f} MiB at most")
print(wall, file=open(wall_file, "w"))
END
}

set -- "$dir"/m*.data
echo "$n recordings of $events events, $(du -cm "$@" | tail -n 1 | cut -f 1) MiB"
merged "kontend merge, a tenth of them" "$kontend" merge --no-config "$dir"/m*1.data
merged "kontend merge" "$kontend" merge --no-config "$@"
ours=$(cat "$dir/wall")
merged "kontend merge --by kernel --json" "$kontend" merge --no-config --by kernel --json "$@"
if perf lock contention --threads -i "$1" >/dev/null 2>&1; then
	# shellcheck disable=SC2016 # $f is sh's
	merged "perf lock contention --threads -i, one by one" \
		sh -c 'for f in "$@"; do perf lock contention --threads -i "$f" 2>&1; done' - "$@"
	awk -v ours="$ours" '{ printf "kontend merge: %.2f of the seconds of perf lock contention\n", ours / $1 }' \
		"$dir/wall"
else
	echo "perf lock contention: there is no perf that has it and reads these files"
fi
