#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A machine of 64 CPUs: all are measured, nothing is lost or late, what the kernel keeps for it is
# bounded, and CPUs may go and come.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

CPUS=64

cpu() {
	echo "$2" >"/sys/devices/system/cpu/cpu$1/online" || complain "CPU $1 does not take $2"
}

# How many rows of CPUs there are in a report as JSON, of those that are in that state.
rows() {
	grep -o '{"cpu": [0-9]*, .*"state": "'"$2"'"' "$1" | wc -l
}

vmalloc_kib() {
	awk '/^VmallocUsed/ { print $2 }' /proc/meminfo
}

# Before anything was loaded: what kontend has had is given back some time after its end.
before=$(vmalloc_kib)

# measure OUTPUT COMMAND...: what kontend sees while the command runs.
measure() {
	output=$1
	shift
	gives 0 "$output" kontend report -v -j --view overview -a -- "$@"
	shows "$output" "with $CPUS rings"
	grep -E '"(method|duration_ns|events|lost|dropped|unmatched|doubtful|bad|late)":' "$output"
	shows "$output" '"method": "BPF ring"'
	shows "$output" '"lost": 0,'
	shows "$output" '"dropped": 0,'
	shows "$output" '"bad": 0,'
	shows "$output" '"late": 0,'
	shows "$output" '"doubtful": 0,'
}

# A CPU has a row when something has waited there.
case_of "all CPUs are measured"
measure all storm 32 4 go
[ "$(rows all online)" -ge 16 ] || complain "$(rows all online) rows of CPUs that are online"

case_of "what the kernel keeps for it is bounded"
# shellcheck disable=SC2317 # called by eventually
freed() {
	[ "$(vmalloc_kib)" -lt $((before + 4096)) ]
}
eventually freed
: >started
kontend report -v -j --view overview --duration 600 >kept 2>started &
report=$!
eventually grep -q measuring started
kib=$(($(vmalloc_kib) - before))
kill -TERM "$report"
wait "$report"
# Perf's rings are no part of that.
said=$(sed -n 's/.*"bpf_rings_bytes": \([0-9]*\), "bpf_maps_bytes": \([0-9]*\).*/\1 \2/p' kept |
	awk '{ print int(($1 + $2) / 1024) }')
echo "$kib KiB, and $said KiB said"
within 15 "$kib" "$said" || complain "$said KiB are said, $kib KiB were taken"
[ "$kib" -lt $((80 * 1024)) ] || complain "$kib KiB of kernel memory"

case_of "CPUs go and come"
(
	sleep 20
	for cpu in 3 9 17 33 48 63; do
		cpu $cpu 0
	done
	for cpu in 3 9 17 33; do
		cpu $cpu 1
	done
) &
blinks=$!
measure blinks storm 16 16 go
wait $blinks
CPUS=$((CPUS - 2))

case_of "a recording of it"
gives 0 none kontend record -v -a -o recording -- storm 16 4 go
shows none "with $CPUS rings"
gives 0 recorded kontend report -j --view overview -i recording
shows recorded '"lost": 0,'
shows recorded '"bad": 0,'
[ "$(rows recorded online)" -ge 8 ] || complain "$(rows recorded online) CPUs in the recording"

finish
