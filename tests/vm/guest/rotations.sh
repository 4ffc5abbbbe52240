#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What it costs that events take turns on counters, as in rotation.sh, for few and for many of them, and while it
# changes how many there are.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

for n in 8 20 100 272; do
	take_turns "$n"
done

case_of "the load changes while it is measured"
kontend report -v --format json --duration 9 --no-switches --view rotation >changing 2>said &
pid=$!
# With -v it prints "measuring" when all is open.
eventually grep -q 'measuring ' said
for n in 8 20 100; do
	load loaded mux-load "$n" cpu 1000
	sleep 2.3
	unload
done
wait "$pid"
grep '"of"' changing
for n in 8 20 100; do
	p50=$(sed -n "s/.*\"rotation\", \"cpu\": 1, \"events\": $n,.*\"p50_ns\": \([0-9]*\).*/\1/p" changing)
	truth=$(sed -n 's/.* p50_ns=\([0-9]*\).*/\1/p' "truth.$n")
	within 2 "$p50" "$truth" || complain "a rotation of $n events takes $p50 ns, not $truth"
done
[ "$(grep -c '"of": "rotation"' changing)" -eq 6 ] || complain "there are other numbers of events"
lacks changing '"changed": 0,'

finish
