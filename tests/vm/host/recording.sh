#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Files from the machine: the report of its recording here equals the report there, name by name and
# figure by figure, and the report there of the recording made on x86-64 equals the report here.
# shellcheck source=tests/vm/checks.sh
. "$(dirname "$0")/../checks.sh"
export LC_ALL=C
cp "$(dirname "$0")/../../../share/storm.data" shipped.data

# same NAME VIEWS: kontend's report is the same here and there.
same() {
	"$KONTEND" report -j --view "$2" -i "$1.data" >here.json || complain "report -j: $?"
	"$KONTEND" report --view "$2" -n 100 -i "$1.data" >here.text || complain "report: $?"
	"$KONTEND" script -i "$1.data" >here.events || complain "script: $?"
	# Names of programs are from their files there, and here from the recording.
	sed -i 's/"names": "recording"/"names": null/g' here.json "$1.json"
	for kind in json text events; do
		[ -s "$1.$kind" ] || complain "no $1.$kind came out"
		cmp "here.$kind" "$1.$kind" || complain "$1.$kind is not as here"
		diff "here.$kind" "$1.$kind" | head -n 6
	done
}

case_of "a recording of the machine replays here with the same numbers and names"
same storm all
# By the object around them, or by the function that waits.
shows storm.json '"name": "(pipe->mutex storm/[0-9]+|[a-zA-Z0-9_:.-]+ …[0-9a-f]{6})"'
[ "$(wc -l <storm.events)" -gt 100 ] || complain "it holds next to nothing"

case_of "a recording of x86-64 replays in the machine with the same numbers and names"
same shipped overview,locks,waiters,mmap,slots,holders,contexts,events,rotation,uprobes,xol,tree,hist
finish
