#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Three stories of kernel locks, recorded with a profile: page faults of threads that share a mapping,
# breakpoints that are opened and closed, and a probe that is executed out of line. The report of what
# takes the time, and at which instruction, needs only the recording: without symbols of the kernel,
# without the programs that ran, and without privileges, reports are the same to the byte.
# Called as: test-elsewhere.sh KONTEND STORY
set -eu
kontend=$(realpath "$1")
story=$(realpath "$2")
# shellcheck source=tests/live/elsewhere.sh
. "$(dirname "$0")/elsewhere.sh"

# The programs that run are hidden later. kontend is not: it is a copy.
cp "$kontend" progs/kontend
cp "$story" progs/story
# Lines of source are out of files alone.
strip -g progs/kontend progs/story
failed=0

cat >look.sh <<'LOOK'
file=$1
set -eu
./viewer/kontend report -q -i "$file" --view hot --format csv >&3
./viewer/kontend report -q -i "$file" --view hot --group locks --format csv >&3
for symbol in $2 $3; do
	./viewer/kontend report -q -i "$file" --annotate "$symbol" >&4
done
LOOK

# Where names are from is not compared.
cut_origins() { # PLACE
	without_origin "$1.txt"
	awk -F, -v OFS=, '$1 == "pct" { for (i = 1; i <= NF; i++) if ($i == "names") at = i }
		{ $at = ""; print }' "$1.out" >"$1.cut"
}

# where FILE: share, group, object and function of each row.
where() {
	awk -F, -v OFS=, '$1 == "pct" { for (i = 1; i <= NF; i++) at[$i] = i }
		$1 != "pct" { print $1, $at["group"], $at["object"], $at["symbol"] }' "$1"
}

# hottest kernel|program FILE: the first function there.
hottest() {
	case $1 in
	kernel) where "$2" | awk -F, '$3 ~ /^\[kernel\]/ && $2 != "idle" { print $4; exit }' ;;
	*) where "$2" | awk -F, '$3 ~ /\/progs\// && $4 !~ /^\(/ { print $4; exit }' ;;
	esac
}

# marked FILE: the hottest instruction of the first function in it.
marked() {
	awk '/ > / { sub(/^ +/, ""); print; exit }' "$1"
}

# record NAME PATTERN COMMAND...: until functions of the kernel that PATTERN matches were sampled.
record() {
	name=$1
	pattern=$2
	shift 2
	for attempt in 1 2 3 4 5; do
		rc=0
		"$kontend" record -q -F 997 -e cpu-clock -o "$name.data" -- "$@" >out 2>err || rc=$?
		[ "$rc" != 77 ] || return 77
		[ "$rc" = 0 ] || { echo "$name: recording failed: $(cat err)"; return 1; }
		"$kontend" report -q -i "$name.data" --view hot --format csv >first.csv
		program=$(hottest program first.csv)
		kernel=$(where first.csv | awk -F, '$3 == "[kernel]" { print $4 }' | grep -E "$pattern" | head -1)
		[ -z "$kernel" ] || [ -z "$program" ] || return 0
		echo "$name: attempt $attempt: nothing of '$pattern', or of the program" >&2
	done
	return 1
}

# Called with NAME PATTERN COMMAND...: records the story, reads it here and elsewhere, compares.
tell() {
	name=$1
	rc=0
	record "$@" || rc=$?
	if [ "$rc" = 77 ]; then
		echo "$name: not possible here: $(cat out err)"
		return
	fi
	if [ "$rc" != 0 ]; then
		head -12 first.csv
		failed=1
		return
	fi
	kernel=$(hottest kernel first.csv)
	for place in here away; do
		"$place" look.sh "$name.data" "$kernel" "$program" || { echo "$name: no report $place"; failed=1; return; }
		cut_origins "$place"
	done
	equal "$name" cut txt || failed=1
	if ! grep '/progs/' away.out | grep -q ',recording,'; then
		echo "$name: elsewhere no name is from the recording"
		failed=1
	fi
	# Without a disassembler shares are by offset: then there is a line of it all the same.
	if [ -z "$(marked away.txt)" ]; then
		echo "$name: $kernel has no hottest instruction elsewhere:"
		head -12 away.txt
		failed=1
	fi
	echo "$name: $(where away.out | head -3 | cut -d, -f1,2,4 | tr '\n' ' ')"
	echo "    $kernel: $(marked away.txt)"
}

tell page-fault 'fault|page|mmap|rwsem|vma' "$dir/progs/kontend" bench -q --size 64M -n 6 -t 4 page-fault
tell breakpoint 'perf|breakpoint|bp_|event' "$dir/progs/story" breakpoint
tell uprobe 'uprobe|xol|int3|debug|swbp|brk|ret' "$dir/progs/story" uprobe
exit "$failed"
