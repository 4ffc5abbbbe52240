#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Less than half a minute in which every view of kontend has something to show: make-sample.sh runs it, as
# root, in a folder with kontend, the probes to place, and workloads under these names:
#   demo     kontend     itself: kontend demo
#   watcher  bp-holder   holds breakpoints
#   traced   up-work     runs into uprobes
#   opener   bp-create   makes breakpoints that live for microseconds
#   readers  passed      readers who overtake a writer
#   logger   story-chain a chain of waits: one task writes, one moves data there, others feed that one
set -u
tracing=/sys/kernel/tracing

rm -f ./*.in
mkfifo watcher.in traced.in hitter.in
./watcher cpu:0 task task-cpu:1 read-write <watcher.in >/dev/null &
./traced <hitter.in >/dev/null &
hitter=$!
./traced <traced.in >/dev/null &
traced=$!
exec 3>watcher.in 4>hitter.in 5>traced.in

cat probes >>$tracing/uprobe_events
echo 1 >$tracing/events/storm/enable

# hit: probes and breakpoints are hit, as long as nothing else happens.
hit() {
	echo 'run up_push 2 2000' >&4
	echo 'run up_nop5 2 5000' >&4
	echo 'run up_ret 4 500' >&4
	echo 'hit 0' >&3
	echo 'hit 1' >&3
}

# 0 to 6 s: hardly anything waits.
./demo demo --quiet --duration 6 --kinds mmap --threads 2 &
for _ in 1 2 3 4 5; do
	hit
	sleep 1
done
wait $!
# 6 to 11 s: everything at once.
./opener 40 3 2 1 >/dev/null &
./demo demo --quiet --duration 5 --threads 3
# 11 to 13 s: one memory map, and a writer that readers overtake.
./kontend bench -q -t 3 -n 100 mmap >/dev/null 2>&1
./readers log >/dev/null
hit
sleep 1
# 13 to 17 s: chains, long ones of the demo's.
./demo demo --quiet --duration 4 --kinds chain,inode,mmap --threads 3
# To the end: slots for single steps are taken, and a chain stands still.
echo 'block 9' >&5
./logger log 1 3000 >/dev/null &
logger=$!
for _ in 1 2 3 4 5 6 7; do
	hit
	sleep 0.3
done
kill -INT "$PPID"
sleep 1
wait $logger
kill $traced $hitter
exec 3>&- 4>&- 5>&-
wait
