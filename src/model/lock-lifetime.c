// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides how long the lock at an address is the same lock. An mmap_lock lasts until the last
 * thread of its process exits, or executes another program, as the events of names and of the lock
 * itself report; it begins when its process got its address space. Earlier waits are for another
 * lock.
 *
 * The lock of a file, or of another object with an inode, lasts until an event reports the inode of
 * another one at its address: a task that waits at that moment waits for the new one, as an inode
 * with a waiting task is not freed. Without such an event, it lasts until a snapshot has another
 * inode: then waits that began since the previous snapshot are still counted for the first one.
 */
#include "internal.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/mmlock.h"
#include "kontend/model.h"
#include "kontend/userrec.h"
#include "kontend/wait.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void lock_lifetime_end(struct model *m, int32_t pid, uint64_t time_ns, const char *comm)
{
	const struct mmlocks *l = m->mmlocks;
	struct lock_end end = {0};
	uint64_t addr;
	uint32_t at = 0;

	while (lockname_end(m->lock_names, pid, time_ns, &at, &addr))
		lock_end(m->locks, addr, &end);
	for (size_t i = 1; l->lock_offset && i < l->n; i++) {
		const struct mmlock_mm *mm = &l->mms[i];
		if (mm->pid != pid || mm->over)
			continue;
		end = (struct lock_end){.pid = pid, .comm = comm, .memcg = mm->memcg};
		lock_end(m->locks, mm->mm + l->lock_offset, &end);
	}
}

/* Without a wait it has no begin: some task was reported to hold it in that mode. */
static bool began_before(const struct model *m, uint64_t addr, uint64_t ns)
{
	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		if (!lock_has_type(m->locks, type))
			continue;
		const uint32_t *at = map64_get(&m->locks->index, lock_key(addr, type));
		if (at && m->locks->locks[*at].begin_ns && m->locks->locks[*at].begin_ns < ns)
			return true;
	}
	return false;
}

void lock_lifetime_named(struct model *m, const struct locksnap *snap, uint64_t time_ns)
{
	const struct lock_end unknown_end = {0};

	for (size_t i = 0; i < snap->n_ended; i++)
		if (began_before(m, snap->ended[i], time_ns) &&
		    !lockname_is_followed(m->lock_names, snap->ended[i], time_ns))
			lock_end(m->locks, snap->ended[i], &unknown_end);
	for (size_t i = 0; i < snap->n_names; i++) {
		uint64_t addr = snap->names[i].addr;
		const struct lockname *n = lockname_at(m->lock_names, addr, time_ns);
		if (n && began_before(m, addr, n->from_ns))
			lock_end(m->locks, addr, &unknown_end);
	}
}

static bool is_waited_for(const struct model *m, uint64_t addr)
{
	for (unsigned type = 0; type < LOCK_TYPES; type++) {
		if (!lock_has_type(m->locks, type))
			continue;
		const uint32_t *at = map64_get(&m->locks->index, lock_key(addr, type));
		if (at && m->locks->locks[*at].waiting)
			return true;
	}
	return false;
}

/* Since when the tasks that wait for the lock at @addr now have waited; @now if there are none. */
static uint64_t waited_since(const struct model *m, uint64_t addr, uint64_t now)
{
	uint64_t since = now;

	if (!is_waited_for(m, addr))
		return now;
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && !w->doubtful && w->addr == addr && w->begin_ns < since)
			since = w->begin_ns;
	}
	return since;
}

enum { PATH = 512, PARTS = INODEREC_NAMES / 2 };

/* The names in the record begin with the file's own: from the last one on they are a path. */
static void put_path(const struct event *ev, char *ret, size_t size)
{
	const char *parts[PARTS];
	size_t n = 0, len;

	for (uint32_t at = 0; at < ev->inode.n_bytes && n < PARTS;
	     at += (uint32_t)strlen(parts[n++]) + 1)
		parts[n] = ev->inode.names + at;
	len = (size_t)snprintf(ret, size, "%s", ev->inode.flags & INODEREC_CUT ? "..." : "");
	if (!n && !len)
		snprintf(ret, size, "/");
	while (n-- && len < size)
		len += (size_t)snprintf(ret + len, size - len, "/%s", parts[n]);
}

/* Where kontend does not see the file system, which one it is follows the path. */
static void put_name(const struct event *ev, char *ret, size_t size)
{
	uint32_t dev = ev->inode.dev, flags = ev->inode.flags;
	size_t len;

	*ret = 0;
	/* Sockets and pipes are in no folder, and what has no file shares one inode: as /proc names
	 * them. */
	if (!strcmp(ev->inode.fs, "sockfs") || !strcmp(ev->inode.fs, "pipefs"))
		snprintf(ret, size, "%s:[%" PRIu64 "]", *ev->inode.fs == 's' ? "socket" : "pipe",
			 ev->inode.ino);
	else if (!strcmp(ev->inode.fs, "anon_inodefs"))
		snprintf(ret, size, "anon_inode");
	if (*ret)
		return;
	if (flags & INODEREC_NAMED)
		put_path(ev, ret, size);
	else
		snprintf(ret, size, "inode %" PRIu64, ev->inode.ino);
	len = strlen(ret);
	if (flags & INODEREC_DELETED)
		len += (size_t)snprintf(ret + len, size - len, " (deleted)");
	if (len < size &&
	    (flags & (INODEREC_NAMED | INODEREC_SEEN)) != (INODEREC_NAMED | INODEREC_SEEN))
		snprintf(ret + len, size - len, " (%s %u:%u)", ev->inode.fs, dev >> 20,
			 dev & ((1u << 20) - 1));
}

int lock_lifetime_file(struct model *m, const struct event *ev)
{
	char text[PATH];
	struct lockname name = {.addr = ev->begin.lock,
				.kind = LOCKSNAP_FILE,
				.cpu = -1,
				.comm = "",
				.text = text,
				.from_ns = ev->time,
				.reported_ns = ev->time,
				.start = ev->begin.start,
				.past = ev->begin.past};

	if (lockname_get(m->lock_names, name.addr))
		return 0;
	snprintf(text, sizeof(text), "inode %" PRIu64 " (%u:%u)", ev->begin.ino,
		 ev->begin.dev >> 20, ev->begin.dev & ((1u << 20) - 1));
	return lockname_inode(m->lock_names, &name, false);
}

int lock_lifetime_user(struct model *m, const struct event *ev)
{
	struct locksnap s = {0};
	struct locksnap_name name = {.addr = ev->user.lock,
				     .kind = LOCKSNAP_USER,
				     .cpu = -1,
				     .pid = ev->pid,
				     .offset = ev->user.flags & USERREC_SHARED ? 1 : 0,
				     .start = ev->user.addr};

	if (lockname_get(m->lock_names, name.addr))
		return 0;
	name.comm = locksnap_add_text(&s, ev->user.comm);
	int code = locksnap_add_name(&s, &name);
	code = code < 0 ? code : lockname_take_names(m->lock_names, &s, ev->time, m->tasks);
	locksnap_deinit(&s);
	return code;
}

int lock_lifetime_inode(struct model *m, const struct event *ev)
{
	static const enum locksnap_kind kinds[INODEREC_LOCKS] = {
		[INODEREC_RWSEM] = LOCKSNAP_INODE,
		[INODEREC_MMAP_RWSEM] = LOCKSNAP_IMMAP,
		[INODEREC_INVALIDATE] = LOCKSNAP_INVALIDATE,
		[INODEREC_FILE] = LOCKSNAP_FILE,
		[INODEREC_XFS] = LOCKSNAP_XFS,
		[INODEREC_EXT4] = LOCKSNAP_EXT4,
		[INODEREC_ON] = LOCKSNAP_FILE,
	};
	const struct lock_end unknown_end = {0};
	uint64_t addr = ev->inode.lock, since = waited_since(m, addr, ev->time);
	char text[PATH];
	struct lockname name = {.addr = addr,
				.kind = kinds[ev->inode.which],
				.cpu = -1,
				.comm = "",
				.text = text,
				.from_ns = since,
				.reported_ns = ev->time,
				.event_ns = ev->time,
				.ino = ev->inode.ino,
				.generation = ev->inode.generation,
				.dev = ev->inode.dev,
				.start = ev->inode.start,
				.past = ev->inode.past};

	put_name(ev, text, sizeof(text));
	if (lockname_inode(m->lock_names, &name, ev->inode.flags & INODEREC_CHANGED) < 0)
		return -ENOMEM;
	const struct lockname *now = lockname_at(m->lock_names, addr, since);
	if (now && began_before(m, addr, now->from_ns)) {
		lock_end(m->locks, addr, &unknown_end);
		pair_renew(m, addr);
	}
	return 0;
}
