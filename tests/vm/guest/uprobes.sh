#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Uprobes on another kernel: classes are what it does with the instruction, hits are exact, and
# threads that cannot leave their slots have as many as there are, the others wait. Probes of our
# own go with us.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "classes, hits, owners and slots"
gives 0 uprobe test-live-uprobe /bin/up-work
lacks uprobe '^skipped'
case $(uname -m) in
x86_64) shows uprobe '^40 threads in slots .*: 31 of 31 used, 9 wait$' ;;
aarch64) shows uprobe '^40 threads in slots .*: 40 of 1023 used, 0 wait$' ;;
esac

case_of "probes of our own"
gives 0 placed test-live-placed /bin/kontend /bin/up-work short
lacks placed '^skipped'
finish
