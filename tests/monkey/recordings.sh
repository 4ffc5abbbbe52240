#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Small recordings of each kind, made here and now, for the monkey and the mutator:
# recordings.sh KONTEND FOLDER. Kinds that cannot be measured here are left out, with a message.
set -u
kontend=$(realpath "$1")
cd "$2" || exit 1

# make NAME OPTION...
make() {
	name=$1
	shift
	"$kontend" record -q --no-config -o "$name.data" "$@" -- "$kontend" demo --duration 500ms >"$name.out" 2>"$name.err" </dev/null ||
		echo "no recording $name: $(tail -n 1 "$name.err")"
	rm -f "$name.out" "$name.err"
}

make plain -a
make packed -a -z
make command -F 499
make sampled -a -F 2000 --owner
make dwarf -F 200 --call-graph dwarf
make mmap -a --mmap all,paths
make no-bpf -a --no-bpf
make short -a --min-wait 100us
make phases -a --phases --tick
make creations -a --creations
make sleeps -a --sleeps
make flat -a --no-stack --no-switches
mkdir -p caught
(cd caught && "$kontend" record -q --no-config --trigger 'wait>100us' --pre 100ms --post 100ms --cooldown 100ms --max-files 3 -- \
	"$kontend" demo --duration 1s >/dev/null 2>&1 </dev/null)
n=0
for file in caught/*.data; do
	[ ! -e "$file" ] || mv "$file" "incident-$n.data"
	n=$((n + 1))
done
rm -rf caught
if command -v perf >/dev/null; then
	perf record -q -a -g -e lock:contention_begin,lock:contention_end -o perf.data -- sleep 0.3 >/dev/null 2>&1 || rm -f perf.data
fi
size=$(wc -c <plain.data)
head -c $((size * 2 / 3)) plain.data >torn.data
set -- ./*.data
echo "$# recordings"
