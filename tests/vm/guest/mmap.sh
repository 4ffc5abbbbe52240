#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# mmap_locks on this kernel: which page faults take one, and its holders. Before Linux 6.4 all of them
# do; the event of an acquisition has the memory cgroup's path before 6.14, and its number then.
# shellcheck source=tests/vm/guest/lib.sh
. /lib/lib.sh

# taken MODE: "READ WRITE", times a page.
taken() {
	kontend bench page-fault --mode "$1" -t 1 --size 4M | sed -n \
		's/^mmap_lock: .* takes it \([0-9.]*\) times for reading and \([0-9.]*\) for writing.*/\1 \2/p'
}

case_of "every fault of the kernel's own access takes the mmap_lock once"
[ -d /sys/kernel/tracing/events/mmap_lock ] || mount -t tracefs none /sys/kernel/tracing || true
[ -d /sys/kernel/tracing/events/mmap_lock ] || skip "this kernel has no events of mmap_locks"
[ "$(taken kernel)" = "1.00 0.00" ] || complain "it takes it $(taken kernel) times a page"

case_of "so does the first fault of a mapping"
[ "$(taken fresh)" = "1.00 0.00" ] || complain "it takes it $(taken fresh) times a page"

case_of "a fault of a program's own access takes it where mappings have no locks"
want="0.00 0.00"
expr "$(uname -r)" : '[0-5]\.\|6\.[0-3]\.' >/dev/null && want="1.00 0.00"
[ "$(taken anon)" = "$want" ] || complain "it takes it $(taken anon) times a page, not $want"

case_of "call paths tell of who holds it, once a page"
gives 0 paths kontend report --mmap all,paths --view mmap --by stack -m 2048 --format csv -o held.csv -- \
	kontend bench page-fault --mode kernel -t 1 --size 4M
# Kernels with frame pointers, as Ubuntu's, leave the caller of __put_user_4() out, which has no frame.
held=$(awk -F, '/getcpu|put_user/ && $1 == "R" { n += $3 } END { print n + 0 }' held.csv)
# 1024 timed ones, 2048 counted ones; a record in a hundred may be dropped unseen.
if [ "$held" -lt 3000 ] || [ "$held" -gt 3100 ]; then
	complain "$held faults of 3072: $(head -n 5 held.csv)"
fi

case_of "the memory cgroup is in the histograms"
gives 0 memcg kontend report --mmap all --view mmap --by memcg -- kontend bench mmap -t 2 -n 200
shows memcg 'mmap_locks of .* W, time held: '
finish
