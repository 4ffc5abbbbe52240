#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What each view has of work that is known, on this kernel. The reports come out of the machine:
# host/views.sh derives from them what works here, and compares it with what is recorded.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# measure NAME VIEWS [OPTION...] [-- COMMAND...]: a report of these views. It need not work: how it
# ends is a part of what is derived.
measure() {
	name=$1 views=$2
	shift 2
	rc=0
	kontend report -q --no-config -j --rows 400 -o "$OUT/$name.json" --view "$views" "$@" \
		>output 2>"$OUT/$name.error" </dev/null || rc=$?
	echo "$name: status $rc $(head -n 2 "$OUT/$name.error")"
	[ "$rc" -eq 0 ] || echo "status $rc" >>"$OUT/$name.error"
}

# begun FILE PID: it says that it is ready, or has ended.
# shellcheck disable=SC2317 # called by eventually
begun() {
	grep -q ready "$1" || [ ! -d "/proc/$2" ]
}

cat >work <<'EOT'
rm -rf shared locked
mkdir shared locked
sleepers shared
storm 4 40 go
user-contend 20
sleep 1 | flocks locked 3
EOT

cat >probed <<'EOT'
{
	echo run up_nop 2 50
	echo block 3
	sleep 2
	echo free
} | up-work
EOT

cgroups_script groups

: >file
case_of "locks of the kernel, of files and of programs"
measure turns waiters,chains,blame,queues -- turns "$PWD/file"
measure work overview,locks,blame,heat,mmap --mmap all -- sh work
measure bare locks --no-bpf -- sh work
measure hot hot -F 999 -a -- storm 4 40 go

case_of "names of locks"
for kind in folder closed epoll pipe position; do
	mkdir "$kind"
	# The process may end before its objects are read.
	for _ in 1 2 3 4 5 6; do
		measure "name-$kind" locks -- sh -c "object-names $kind 2 '$PWD/$kind' >'$OUT/name-$kind.wanted'"
		grep -qE "\"name\": \"$(head -n 1 "$OUT/name-$kind.wanted")" "$OUT/name-$kind.json" && break
	done
done

case_of "how long locks are held"
measure holds-type holds --holds mutex -- known-holds 3 50
measure holds-write holds --holds rwsem:W -- known-holds 3 50
measure holds-read holds --holds rwsem:R -- known-holds 3 50
measure holds-name holds --holds cgroup_mutex -- sh groups

case_of "tasks that cannot run"
known-holds 1 60000 >/dev/null &
holder=$!
measure blocked blocked -a --duration 2
kill $holder
wait $holder || true
measure sleeps overview,blocked --sleeps -- turns "$PWD/file"
measure why why --why -- turns "$PWD/file"

case_of "perf events, slots and probes"
mkfifo keep
: >holder
bp-holder cpu exec <keep >holder &
holder=$!
exec 9>keep
eventually begun holder $holder
measure slots slots,holders,contexts,events -a --duration 1
exec 9>&-
wait $holder || true
measure creations slots,creations --creations -a -- bp-create 20 2 1 4
measure probes uprobes,xol -a --probe /bin/up-work:up_nop --probe /bin/up-work:up_load -- sh probed
: >loaded
mux-load 20 cpu 1000 >loaded 2>&1 &
load=$!
eventually begun loaded $load
measure rotation rotation --duration 2
kill $load 2>/dev/null || true
wait
kontend doctor -j >"$OUT/doctor.json" || true
finish
