// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the lock at an address is the same one. An mmap_lock is until its process ends or
 * executes another program, as their names and their own events tell whose they are; and from the
 * moment on at which the process that has it got its address space. Waits of before are another
 * lock's. The lock of a file, or of what else has an inode, is until a look sees the inode of
 * another one there. Waits that began since the look before are still counted for the first one,
 * as no event tells when it was freed; those that begin from then on are of a lock of its own.
 */
#include "internal.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"

void lock_lifetime_end(struct model *m, int32_t pid, uint64_t time_ns, const char *comm)
{
	const struct mmlocks *l = &m->mmlocks;
	struct lock_end end = {0};
	uint64_t addr;
	uint32_t at = 0;

	while (lockname_end(m->lock_names, pid, time_ns, &at, &addr))
		lock_end(&m->locks, addr, &end);
	for (size_t i = 1; l->lock_offset && i < l->n; i++) {
		const struct mmlock_mm *mm = &l->mms[i];
		if (mm->pid != pid || mm->over)
			continue;
		end = (struct lock_end){.pid = pid, .comm = comm, .memcg = mm->memcg};
		lock_end(&m->locks, mm->mm + l->lock_offset, &end);
	}
}

/* One that nobody has waited for has no begin: somebody was told to hold it in that mode. */
static bool began_before(const struct model *m, uint64_t addr, uint64_t ns)
{
	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		const uint32_t *at = map64_get(&m->locks.index, lock_key(addr, type));
		if (at && m->locks.locks[*at].begin_ns && m->locks.locks[*at].begin_ns < ns)
			return true;
	}
	return false;
}

void lock_lifetime_named(struct model *m, const struct locksnap *snap, uint64_t time_ns)
{
	const struct lock_end nobody = {0};

	for (size_t i = 0; i < snap->n_ended; i++)
		if (began_before(m, snap->ended[i], time_ns))
			lock_end(&m->locks, snap->ended[i], &nobody);
	for (size_t i = 0; i < snap->n_names; i++) {
		uint64_t addr = snap->names[i].addr;
		const struct lockname *n = lockname_at(m->lock_names, addr, time_ns);
		if (n && began_before(m, addr, n->from_ns))
			lock_end(&m->locks, addr, &nobody);
	}
}
