#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Waits for the locks of BPF maps: since Linux 6.15 these are resilient spinlocks, of their own type. More than
# two CPUs are needed, as the first one that waits is not reported, and no hypervisor (VM_CPU in machine.sh).
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

case_of "resilient spinlocks are a type, live and recorded"
grep -q resilient_queued_spin_lock_slowpath /proc/kallsyms || {
	skip "this kernel has no resilient spinlocks"
	finish
}
kontend record -q -o maps.data -- map-update hash 3 >made || complain "not recorded"
cat made
gives 0 recorded kontend report -i maps.data --by type --view locks
gives 0 callers kontend report -i maps.data --lock rqspinlock --by caller --view locks
gives 0 live kontend report --by type --view locks -- map-update hash 3
for text in recorded live; do
	shows $text '^  rqspinlock '
done
shows callers 'htab_map_update_elem'
gives 0 events kontend script -q -i maps.data
shows events ' begin +rqspinlock .* SPIN .*htab_map_update_elem'
lacks events ' begin +spinlock .*htab_map_update_elem'

case_of "the lock of a bucket of a BPF map has the map's name"
# The CPUs of the machine run in turns: a few seconds may have no wait for it.
for _ in 1 2 3 4 5; do
	gives 0 live kontend report -o named --by lock --view locks -- map-update hash 4
	row="^  rqspinlock +BPF map one_hash \\(id $(cut -d ' ' -f 2 live)\\) bucket [0-9]+ "
	! grep -qE "$row" named || break
done
shows named "$row"
finish
