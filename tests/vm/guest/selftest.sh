#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Known waits, breakpoints and hits of this kernel, as kontend sees them; and all benchmarks, twice.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "what is made is seen"
gives 0 selftest kontend bench selftest
shows selftest '^mutex .* ok$'
shows selftest '^rwsem:W .* ok$'
cp selftest "$OUT/selftest.txt"
cat selftest

case_of "the suite runs all that there is"
gives 0 suite kontend bench suite -q -r 2 --json
for name in uprobe rotation page-fault mmap mutex rwsem spinlock futex; do
	shows suite "\"bench\": \"$name\", \"(case|reason)\""
done
cp suite "$OUT/suite.json"
finish
