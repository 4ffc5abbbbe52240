#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What it costs that events take turns on counters, on a machine that has some: beside a measurement
# that was written for this test alone. More of it is in rotations.sh.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "a PMU that rotates is there, and has no need to"
gives 0 none kontend report --format json --duration 1 --view rotation
shows none '"pmus": 1'
shows none '"rotations": 0'
shows none 'the events fit into the counters'

case_of "7 events fit"
load loaded mux-load 7 cpu 1000
gives 0 few kontend report --format json --duration 1 --view rotation
shows few '"rotations": 0'
unload
shows loaded 'running_pct=100.000'

take_turns 20

case_of "20 events for each CPU of a process take turns"
load loaded mux-load 20 one 1000
truth truth.task
gives 0 task kontend report --format json --duration 1.5 --no-switches --view rotation
right_cost task
shows task '"events": 20,'
shows task '"owners": \["mux-load/.*"owner_kinds": \["per task"\]'
unload

case_of "a recording of it"
load loaded mux-load 20 cpu 1000
gives 0 record kontend record -o "$OUT/rotated.data" --duration 3
unload
kontend report -i "$OUT/rotated.data" --format json --view rotation >"$OUT/rotated.json"
shows "$OUT/rotated.json" '"owners": \["mux-load/'
shows "$OUT/rotated.json" '"of": "rotation", "cpu": 1, "events": 20,'
finish
