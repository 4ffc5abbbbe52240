#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Recordings from one architecture to the other: one that is made here and what is said of it here,
# and what is said here of the one that comes with kontend. host/recording.sh compares, but for what
# debug information of one machine alone says is inlined.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# said FILE ARGUMENT...: what kontend says goes there, and not over the console.
said() {
	file=$1
	shift
	kontend "$@" >"$file" 2>errors || complain "kontend $*: $(cat errors)"
}

export LC_ALL=C

case_of "what is recorded can be read where it was made"
gives 0 recorded kontend record -o storm.data -a -- storm 6 40 go
cp /share/storm.data shipped.data
for name in storm shipped; do
	said "$name.json" report -j --no-inline --view all -i "$name.data"
	said "$name.text" report --no-inline --view all -n 100 -i "$name.data"
	said "$name.events" script -i "$name.data"
	shows "$name.json" '"lost": 0,'
done
shows storm.json "\"machine\": \"$(uname -m)\""
cp storm.data ./*.json ./*.text ./*.events "$OUT"
finish
