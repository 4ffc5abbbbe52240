#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Workloads that know what they did, against kontend's figures.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "workloads that know what they did"
gives 0 truth test-live-truth /bin/kontend /bin/truth
for kind in mm dir pipe; do
	shows truth "^$kind +(rwsem:W|$MUTEX) +truth"
	# On PREEMPT_RT no reader waits for another reader: there are two writers.
	case $kind in
	pipe) last=4 ;;
	*) last=$(is_rt && echo 1 || echo 4) ;;
	esac
	shows truth "^$kind +waiter $last: "
done
finish
