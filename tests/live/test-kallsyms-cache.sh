#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's symbols from the cache: reports of a recording by perf are the same with and without
# it, both when the cache is written and when it is read. kontend reads a cache that is right and
# writes any other again; if it cannot write the cache, it prints nothing about that.
#
#     test-kallsyms-cache.sh KONTEND STORM
set -eu

kontend=$1
storm=$2

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_perf
grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* ' /proc/kallsyms || skip "the kernel withholds its symbols"
# perf keeps a copy of the symbols, too: not where we look.
HOME=$dir/perf-home perf record -q -a -g -m 1024 -e lock:contention_begin,lock:contention_end \
	-o "$dir/perf.data" -- "$storm" 12 1000 go >"$dir/out" 2>"$dir/err" ||
	skip "perf record: $(tail -n 1 "$dir/err")"
export HOME="$dir/none" KONTEND_CACHE=
unset XDG_CACHE_HOME

# check WHAT: the report is that without cache, and there is no message
check() {
	"$kontend" report -i "$dir/perf.data" >"$dir/report" 2>"$dir/err" || fail "$1: status $?"
	[ ! -s "$dir/err" ] || fail "$1: it says $(cat "$dir/err")"
	cmp "$dir/plain" "$dir/report" || fail "$1: not the same report"
}

"$kontend" report -i "$dir/perf.data" >"$dir/plain"
# Without names there would be nothing to compare.
grep -q '[a-z]_[a-z]' "$dir/plain" || fail "the report has no names"
check "off"
[ ! -e "$dir/none" ] || fail "the home of nobody was made"
KONTEND_CACHE=/proc/1/none check "not writable"

# Is the cache of this boot, and not the one that was damaged? kontend writes none while a BPF program or a module is being
# loaded, which other tests may do: hence several attempts.
is_made() {
	! cmp -s "$dir/damaged" "$dir/cache/kallsyms" &&
		head -c 160 "$dir/cache/kallsyms" 2>/dev/null |
		grep -aq "$(cat /proc/sys/kernel/random/boot_id)"
}
check_made() {
	for _ in $(seq 50); do
		check "$1"
		is_made && return
		sleep 0.1
	done
	return 1
}

export KONTEND_CACHE="$dir/cache"
check_made "made" || skip "the state of the kernel's modules and programs cannot be told"
check "read"

# A file that was read stays, any other is replaced: so is a good one if a BPF program or a module is
# loaded meanwhile; then repeat.
used=no
for _ in $(seq 50); do
	before=$(stat -c %i "$dir/cache/kallsyms")
	check "read again"
	[ "$before" = "$(stat -c %i "$dir/cache/kallsyms")" ] && used=yes && break
	sleep 0.1
done
[ $used = yes ] || skip "the kernel's modules and programs change all the time"

# Other names of the same length, of another boot, and with its end missing: in no report, and
# written again.
cp "$dir/cache/kallsyms" "$dir/good"
damaged() {
	cat "$dir/damaged" >"$dir/cache/kallsyms"
	check_made "$1" || fail "$1: kontend did not write it again"
}
LC_ALL=C sed 's/ \([tTwW]\) ./ \1 Q/' "$dir/good" >"$dir/damaged"
damaged "of other names"
LC_ALL=C sed "s/$(cut -c 1-8 /proc/sys/kernel/random/boot_id)/00000000/" "$dir/good" >"$dir/damaged"
damaged "of another boot"
head -c 1000000 "$dir/good" >"$dir/damaged"
damaged "cut"
