#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The live screen on a serial line.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "the live screen on a serial line"
stty -F /dev/ttyS1 115200 clocal
stty -F /dev/ttyS2 115200 clocal raw -echo
stty -F /dev/ttyS1 -a >before
gives 0 serial serial-test /bin/kontend /dev/ttyS1 /dev/ttyS2
stty -F /dev/ttyS1 -a >after
cmp before after || complain "the line is not as it was"
finish
