#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Three stories of kernel locks, recorded with a profile: page faults of threads that share a mapping,
# breakpoints that are opened and closed, and a probe that is executed out of line. What takes the
# time, and at which instruction, is said by the recording alone: where there are no symbols of the
# kernel, the programs that ran are not, and nobody has any rights, reports are the same to the byte.
# Called as: test-elsewhere.sh KONTEND STORY
set -eu
export LC_ALL=C
kontend=$(realpath "$1")
story=$(realpath "$2")
# shellcheck source=tests/live/elsewhere.sh
. "$(dirname "$0")/elsewhere.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM
chmod 755 "$dir"
cd "$dir"
# The programs that run are hidden later, not the one that looks: a copy of its own.
mkdir progs viewer
cp "$kontend" progs/kontend
cp "$kontend" viewer/kontend
cp "$story" progs/story
# Lines of source are out of files alone.
strip -g progs/kontend progs/story || { echo "skipped: no strip"; exit 77; }
: >empty
failed=0

# What runs in both places; the outer shell has opened the files that it writes to.
cat >look.sh <<'LOOK'
file=$1
set -eu
./viewer/kontend report -q -i "$file" --view hot --format csv >&3
./viewer/kontend report -q -i "$file" --view hot --group locks --format csv >&3
for symbol in $2 $3; do
	./viewer/kontend report -q -i "$file" --annotate "$symbol" >&4
done
LOOK

# look PLACE FILE SYMBOLS: into PLACE.csv and PLACE.txt. Where names are from is not compared.
look() {
	place=$1
	shift
	case $place in
	here) sh look.sh "$@" 3>here.csv 4>here.txt ;;
	*) unshare -m sh -c 'mount --bind empty /proc/kallsyms && mount -t tmpfs none progs &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups sh look.sh "$@"' \
		look "$@" 3>away.csv 4>away.txt ;;
	esac
	sed -i 's/^# code: .*, \([0-9]* bytes\)$/# code: \1/' "$place.txt"
	awk -F, -v OFS=, '$1 == "pct" { for (i = 1; i <= NF; i++) if ($i == "names") at = i }
		{ $at = ""; print }' "$place.csv" >"$place.cut"
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

# tell NAME PATTERN COMMAND...: records it, looks at it here and elsewhere, compares.
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
	chmod 644 "$name.data"
	kernel=$(hottest kernel first.csv)
	for place in here away; do
		look "$place" "$name.data" "$kernel" "$program" || { echo "$name: no report $place"; failed=1; return; }
	done
	if ! cmp -s here.cut away.cut || ! cmp -s here.txt away.txt; then
		echo "$name: another machine sees something else:"
		diff here.cut away.cut | head -12 || :
		diff here.txt away.txt | head -12 || :
		failed=1
	fi
	if ! grep '/progs/' away.csv | grep -q ',recording,'; then
		echo "$name: elsewhere no name is from the recording"
		failed=1
	fi
	# Without a disassembler shares are by offset: then there is a line of it all the same.
	if [ -z "$(marked away.txt)" ]; then
		echo "$name: $kernel has no hottest instruction elsewhere:"
		head -12 away.txt
		failed=1
	fi
	echo "$name: $(where away.csv | head -3 | cut -d, -f1,2,4 | tr '\n' ' ')"
	echo "    $kernel: $(marked away.txt)"
}

tell page-fault 'fault|page|mmap|rwsem|vma' "$dir/progs/kontend" bench -q --size 64M -n 6 -t 4 page-fault
tell breakpoint 'perf|breakpoint|bp_|event' "$dir/progs/story" breakpoint
tell uprobe 'uprobe|xol|int3|debug|swbp|brk|ret' "$dir/progs/story" uprobe
exit "$failed"
