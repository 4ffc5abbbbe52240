#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Recordings from one architecture to the other: one that is made here with its report from here,
# and the report from here of the recording that comes with kontend. host/recording.sh compares.
# Names of functions of programs are from the files of each machine: views of samples are left out
# of the latter.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# said FILE ARGUMENT...: kontend's output goes there, and not over the console.
said() {
	file=$1
	shift
	kontend "$@" >"$file" 2>errors || complain "kontend $*: $(cat errors)"
}

export LC_ALL=C

case_of "what is recorded can be read where it was made"
# Names in programs depend on the debugging information of each machine.
gives 0 recorded kontend record --user-locks off -o storm.data -a -- storm 6 40 go
cp /share/storm.data shipped.data
views=all
for name in storm shipped; do
	said "$name.json" report -j --view "$views" -i "$name.data"
	said "$name.text" report --view "$views" -n 100 -i "$name.data"
	said "$name.events" script -i "$name.data"
	shows "$name.json" '"lost": 0,'
	views=overview,locks,waiters,mmap,slots,holders,contexts,events,rotation,uprobes,xol,tree,hist
done
shows storm.json "\"machine\": \"$(uname -m)\""
cp storm.data ./*.json ./*.text ./*.events "$OUT"
finish
