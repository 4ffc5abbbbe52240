#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The machine's recording of rotation gives the same report here.
# shellcheck source=tests/vm/checks.sh
. "$(dirname "$0")/../checks.sh"

case_of "a recording of rotation replays here"
gives 0 here.json "$KONTEND" report -i rotated.data --format json --view rotation
cmp here.json rotated.json || complain "the report is another one here"
finish
