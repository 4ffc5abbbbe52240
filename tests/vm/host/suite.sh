#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two suites of one machine, compared here: both are read, and each figure of one is in the other.
# shellcheck source=tests/vm/checks.sh
. "$(dirname "$0")/../checks.sh"
export LC_ALL=C

case_of "a suite of the machine is compared with a second one"
if "$KONTEND" bench suite -i first.json 2>&1 | grep -q libjansson; then
	skip "this build reads no suites"
	finish
fi
gives 0 suite.txt "$KONTEND" bench suite -i first.json
gives 0 changes.txt "$KONTEND" bench suite -i second.json --compare first.json
shows changes.txt '^# [0-9]+ better, [0-9]+ worse, [0-9]+ the same as far as 3 and 3 runs can show'
shows changes.txt ' 0 only before, 0 only now$'
finish
