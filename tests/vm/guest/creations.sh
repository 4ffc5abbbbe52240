#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Creators of breakpoints, on another kernel: the figures of a program against those of kontend;
# the benchmark of breakpoints; and the names of the locks of their accounting.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# A figure in the row of bp-create: its KEY is the argument.
told() {
	sed -n 's/.*"comm": "bp-create".*"'"$1"'": \([0-9]*\).*/\1/p' each.json
}

# did KEY: a figure in the output of the program
did() {
	sed -n 's/.*'"$1"' \([0-9]*\).*/\1/p' truth
}

case_of "each breakpoint that is created is told"
bp-create 1 1 0 0 >truth 2>err || skip "no breakpoints here: $(cat err)"
# shellcheck disable=SC2016 # the inner shell expands it
gives 0 out kontend report -a -d 100ms --creations --view slots -j -o each.json -- \
	sh -c 'bp-create 200 2 5 20 >truth'
shows each.json '"how": "events"'
for key in opened inherited refused; do
	[ "$(told $key)" = "$(did $key)" ] ||
		complain "$key: $(told $key), and it says $(did $key)"
done
most=$(sed -n 's/.*"most_used": \([0-9]*\).*/\1/p' each.json | sort -n | tail -n 1)
[ "${most:-0}" -ge "$(did most)" ] || complain "most ${most:-not known}, and it had $(did most)"

case_of "without --creations they are lower bounds"
gives 0 out kontend report -a -d 100ms --view creations -j --duration 300ms -o looks.json
shows looks.json '"how": "looks"'
shows looks.json '"refused": null'

case_of "the benchmark of breakpoints runs, and names the lock"
gives 0 bench kontend bench breakpoint -b 1 -p 2 -t 8 -r 10
shows bench '^1 breakpoint '
shows bench '^of CPUs +[0-9]'
shows bench '^slots: at most [1-9]'
shows bench '^waits for bp_cpuinfo_sem \(pcpu-sem:[RW]\)'

case_of "the locks of the accounting are those that the names say"
case $(uname -r) in
5.* | 6.0.*) lock=nr_bp_mutex ;;
*) lock=bp_cpuinfo_sem ;;
esac
if grep ' bp_cpuinfo_sem$\| nr_bp_mutex$' /proc/kallsyms >symbols; then
	shows symbols " $lock\$"
else
	skip "this kernel has no data symbols"
fi
finish
