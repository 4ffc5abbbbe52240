#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Owners of locks, their holders and their waiters, read from this kernel's structures.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "queues, holders and names of locks"
mkdir -p /tmp
KONTEND_SLOWNESS=4 gives 0 output test-live-snapshot-locks "$(command -v kontend)"
lacks output FAIL
shows output 'mmap_lock: 0x'

case_of "owners at the begin of waits"
gives 0 output test-live-owner "$(command -v kontend)"
lacks output FAIL
# An rt-mutex remembers no reader. Tasks also wait for the rt-mutex of the process's mmap_lock.
if is_rt; then
	shows output '^sure: 1[0-9] waits'
	shows output '^of each other: [1-9][0-9]* waits'
else
	shows output '^sure: 1[0-2] waits'
	shows output '^hint: 1[0-2] waits'
fi
finish
