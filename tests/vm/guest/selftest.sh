#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Known waits, breakpoints and hits of this kernel, as kontend sees them.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "what is made is seen"
gives 0 selftest.txt kontend bench selftest
shows selftest.txt '^mutex .* ok$'
shows selftest.txt '^rwsem:W .* ok$'
shows selftest.txt '^rwsem:R .* ok$'
shows selftest.txt '^breakpoints .* ok$'
finish
