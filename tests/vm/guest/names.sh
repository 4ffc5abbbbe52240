#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Names of locks by their objects, found by this kernel's own types, of the workload of
# tests/live/test-object-names.py. Spinlocks are waited for in a queue only where there is no hypervisor (VM_CPU in
# machine.sh) and more than two CPUs.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# name_of KIND: one of the locks waited for has the name that the workload prints. The tasks of a machine run in
# turns, so there are few waits for locks that are held shortly.
name_of() {
	mkdir -p "folder-$1"
	for _ in 1 2 3 4 5; do
		kontend report -q --no-config --view locks --format csv -n 10000 -o rows.csv -- \
			object-names "$1" 3 "$PWD/folder-$1" >name 2>error && status=0 || status=$?
		if [ "$status" = 77 ]; then
			skip "$(cat name)"
			return 0
		fi
		[ "$status" = 0 ] || complain "status $status: $(cat error)"
		! grep -qE "$(head -1 name)" rows.csv || return 0
	done
	complain "no lock $(head -1 name): $(cut -d, -f1-4 rows.csv | head -12)"
}

case_of "a machine with waits for locks"
gives 0 output kontend report -q --no-config --view locks -- true
for kind in folder closed library epoll pipe anon tasks netlink cgroup task signals descriptors flock map \
	network position disk events storage; do
	case_of "the name of a lock: $kind"
	name_of "$kind"
done
finish
