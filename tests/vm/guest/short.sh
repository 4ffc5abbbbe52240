#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Waits that are summed up in the kernel, on another kernel: its programs are taken, and nothing of
# the whole is missing.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "the kernel takes the programs that sum up short waits"
gives 0 output kontend report -q -j --view locks --min-wait 100s --duration 1 -- kontend bench -q mmap -t 4 -n 200
shows output '"level": "threshold"'
shows output '"name": "short"'
shows output '"unmatched": 0'

case_of "long ones are told, also while they go on"
gives 0 output kontend report -q -j --view locks --min-wait 100us -- kontend demo -q --duration 2
shows output '"unmatched": 0'
shows output '"late": 0'
shows output '"object": "mmap_lock"'

case_of "and recorded"
gives 0 said kontend record -q --min-wait 100us -o recording -- kontend demo -q --duration 1
gives 0 output kontend report -i recording -j --view locks
shows output '"level": "threshold"'
shows output '"unmatched": 0'

case_of "what is told is governed"
gives 0 output kontend report -q -j --view overview --max-overhead 0.1% -- kontend demo -q --duration 2
shows output '"max_overhead_pct": 0.1'
finish
