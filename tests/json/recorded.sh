#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# JSON of recordings, and that of the golden texts, is as the schema says; and what the schema has is
# printed somewhere here, but for what `unseen` lists.
# Called as: recorded.sh KONTEND SOURCE-FOLDER MAKE-INCIDENT SCHEMA
set -eu
kontend=$1
src=$2
make_incident=$3
schema=$4
tests_json=$src/tests/json
"$kontend" version --features | grep -q '^  compare  *\[ on \]' || {
	echo "skipped: the program compares no suites of benchmarks, which is a part of the schema"
	exit 77
}
# shellcheck source=tests/json/lib.sh
. "$tests_json/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# says OPTION...: one more document of kontend; of the doctor the exit status says how it is here
says() {
	n=$((n + 1))
	"$kontend" "$@" --json >"$work/$n.json" 2>"$work/err" || [ "$1" = doctor ] || {
		echo "kontend $*: $(cat "$work/err")"
		exit 1
	}
}

for file in "$src"/tests/golden/*-arm64.data "$src/share/storm.data"; do
	says report -i "$file" --view all
done
says script -i "$file"
for by in lock type task process cpu cgroup owner caller stack syscall at; do
	says report -i "$file" --by "$by" --view locks,held,mmap
done
for by in task process lock type caller stack syscall at state; do
	says report -i "$file" --by "$by" --view blame,did
done
for by in symbol object process task group cpu stack; do
	says report -i "$file" --by "$by" --view hot
done
says report -i "$file" --view flame --weight wait
says report -i "$file" --view flame --weight blame
says report -i "$file" --view hot --zoom group=idle
says report -i "$file" --annotate down_read --view overview
says report -i "$file" --lock mmap_lock --min-wait 10us --view overview,locks
says report -i "$file" --by memcg --view mmap
says report -i "$file" --fields name,p99_ns
says diff "$file" "$file"
says diff --compare 0:6,0:13 "$file"
says diff --weight wait "$file" "$file"
says diff --weight wait --side type=rwsem --side '!type=rwsem' "$file"
says diff --lock mmap_lock "$file" "$file"
for only in '' --lock=rwsem; do
	# shellcheck disable=SC2086 # nothing, or a word
	"$kontend" diff -q -j $only "$file" -- "$src"/tests/golden/*-arm64.data >"$work/groups$only.json"
done
"$kontend" diff -q -j --weight wait "$file" -- "$src"/tests/golden/*-arm64.data >"$work/groups-chains.json"
says merge "$file" "$src"/tests/golden/*-arm64.data
says merge --by service --lock mmap_lock "$file"
"$kontend" export -i "$file" --format firefox -o "$work/firefox.json"
says bench suite -i "$src/tests/cli/suites/now.json"
says bench suite -i "$src/tests/cli/suites/now.json" --compare "$src/tests/cli/suites/before.json"
says story
says story faults --recorded
says doctor
says doctor --enospc
mkdir "$work/caught"
"$make_incident" "$work/caught"
printf PERFILE2 >"$work/caught/kontend-20261121-031408-wait.data"
says incidents "$work/caught"
says report -i "$work/caught/kontend-20261121-031407-wait.data" --view overview
# A damaged one, which has notes.
head -c 20000 "$file" >"$work/cut.data"
says report -i "$work/cut.data" --view overview
# Programs without build ids, taken by their paths alone.
PYTHONPATH="$src/tests/recordings" PYTHONDONTWRITEBYTECODE=1 python3 -c \
	'import cases, sys; cases.make(sys.argv[1])' "$work/recordings"
mkdir -p "$work/root/opt/none"
cp "$kontend" "$work/root/opt/none/liba.so"
# No waits can be compared: status 3.
one=$work/recordings/one-event.data
"$kontend" diff -q -j "$one" "$one" >"$work/nothing.json" || [ $? -eq 3 ]
says report -i "$work/recordings/libraries-without-symbols.data" --symfs "$work/root" --view hot
validate "$schema" --unseen "$tests_json/unseen" "$work"/*.json \
	"$src"/tests/golden/*json*.golden
