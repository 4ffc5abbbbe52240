#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A quarter of a minute in which every view of kontend has something to show: see README.md. As root,
# in a folder with kontend and the workloads bp-holder and up-work of the live tests.
set -u
tracing=/sys/kernel/tracing
mkfifo hold.in
sleep 60 >hold.in &
open=$!
./bp-holder cpu:0 task task-cpu:1 read-write <hold.in >/dev/null 2>&1 &
hold=$!
place() {
	echo "p:storm/$1 $PWD/up-work:0x$(nm up-work | awk -v name="up_$1" '$3 == name { print $1 }')"
}
for name in load push nop5; do
	place $name >>$tracing/uprobe_events
done
echo 1 >$tracing/events/storm/enable
{
	echo block 9
	sleep 12
	echo free
	for _ in 1 2 3 4; do
		echo run up_push 2 20000
		echo run up_nop5 2 50000
		echo run up_load 4 300
		sleep 1
	done
	echo block 5
	sleep 60
} | ./up-work >/dev/null 2>&1 &
work=$!
./kontend demo --quiet --duration 4 --kinds pipe,dir --threads 3
sleep 1
./kontend demo --quiet --duration 5 --threads 3
sleep 1
./kontend bench -q -t 4 -n 1500 mmap >/dev/null 2>&1 &
./kontend demo --quiet --duration 4 --kinds mmap,inode --threads 3 &
sleep 4
kill -INT "$PPID"
sleep 0.2
kill $work $open
wait $hold
rm -f hold.in
