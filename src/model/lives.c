// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long the lock at an address is the same one, which is known of mmap_locks: until its process
 * ends or executes another program, as their names and their own events tell whose they are; and
 * from the moment on at which the process that has it got its address space. Waits of before are
 * another lock's.
 */
#include "internal.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"

void lives_end(struct model *m, int32_t pid, uint64_t time_ns, const char *comm)
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
static bool began_before(const struct model *m, uint64_t addr, enum lock_type type, uint64_t ns)
{
	const uint32_t *at = map64_get(&m->locks.index, lock_key(addr, type));

	return at && m->locks.locks[*at].begin_ns && m->locks.locks[*at].begin_ns < ns;
}

void lives_named(struct model *m, const struct locksnap *snap, uint64_t time_ns)
{
	const struct lock_end nobody = {0};

	for (size_t i = 0; i < snap->n_names; i++) {
		uint64_t addr = snap->names[i].addr;
		const struct lockname *n = lockname_at(m->lock_names, addr, time_ns);
		if (n && n->kind == LOCKSNAP_MMAP &&
		    (began_before(m, addr, LOCK_RWSEM_R, n->from_ns) ||
		     began_before(m, addr, LOCK_RWSEM_W, n->from_ns)))
			lock_end(&m->locks, addr, &nobody);
	}
}
