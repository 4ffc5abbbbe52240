// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of rows, tables and transactions of PostgreSQL, in shared memory. MyProc points to the
 * entry of the backend (PGPROC), whose layout differs between versions; so the fields are found by
 * what they point to. The entry of a backend that waits has three fields next to each other: the
 * lock (LOCK), the backend's claim to it (PROCLOCK) and the mode. The claim points back to the lock
 * and to the entry, and the lock has its kind: nothing else does. The layouts of lock and claim are
 * those of all versions from 13 to 18, for 64 bits.
 *
 * The claims to a lock are a circular list. The owner is the first whose modes conflict with the
 * one that is waited for; a server that is about to hand the lock over has none.
 */
#include "internal.h"
#include "kontend/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TAG_SIZE = 16 };
enum { MY_PROC, ENTRY = 512, MODES = 8, CLAIMS_MOST = 256 };

/* LOCK: what it is of, and the list of claims. */
struct lock {
	uint32_t field[3];
	uint16_t field4;
	uint8_t type, method;
	uint32_t granted, waited;
	uint64_t claims_before, claims;
};

/* PROCLOCK. */
struct claim {
	uint64_t lock, entry, leader;
	uint32_t modes, released;
	uint64_t before, next; /* claims to the same lock: to this field */
};

/* The entry of the backend, and what it waits for. */
struct waiting {
	uint32_t words[ENTRY / sizeof(uint32_t)];
	uint64_t entry, at;
	struct lock lock;
	struct claim claim;
	uint32_t mode;
};

enum {
	CLAIM_LINK = offsetof(struct claim, before),
	LOCK_LINK = offsetof(struct lock, claims_before)
};

static bool read_entry(const struct runtime_process *p, uint64_t at, uint32_t *ret)
{
	return !(at & 7) && at && p->read(p->arg, at, ret, ENTRY);
}

static uint64_t pointer_at(const uint32_t *words, size_t i)
{
	return (uint64_t)words[i + 1] << 32 | words[i];
}

/* Are these words lock, claim and mode? */
static bool is_wait(const struct runtime_process *p, struct waiting *w, size_t i, uint32_t type)
{
	uint64_t at = pointer_at(w->words, i), claim = pointer_at(w->words, i + 2);

	w->at = at;
	w->mode = w->words[i + 4];
	if (!at || !claim || (at | claim) & 7 || !w->mode || w->mode > MODES)
		return false;
	return p->read(p->arg, claim, &w->claim, sizeof(w->claim)) && w->claim.lock == at &&
	       w->claim.entry == w->entry && p->read(p->arg, at, &w->lock, sizeof(w->lock)) &&
	       w->lock.type == type;
}

static bool find_wait(const struct runtime_process *p, const struct runtime *t, uint32_t type,
		      struct waiting *ret)
{
	if (!runtime_read_u64(p, t->symbols[MY_PROC], &ret->entry) ||
	    !read_entry(p, ret->entry, ret->words))
		return false;
	for (size_t i = 0; i + 5 <= ENTRY / sizeof(uint32_t); i += 2)
		if (is_wait(p, ret, i, type))
			return true;
	return false;
}

/* Modes that conflict with one, by their bits: those of tables, which all others use, too. */
static uint32_t conflicts(uint32_t mode)
{
	static const uint32_t bits[MODES + 1] = {0,	0x100, 0x180, 0x1e0, 0x1f0,
						 0x1d8, 0x1f8, 0x1fc, 0x1fe};

	return bits[mode];
}

/* The number of the backend is in the entries of both at the same place. */
static int32_t owner_of(struct runtimes *r, const struct runtime_process *p,
			const struct runtime *t, const struct waiting *w, uint64_t entry)
{
	uint32_t words[ENTRY / sizeof(uint32_t)];
	int32_t pid = 0;

	if (!read_entry(p, entry, words))
		return 0;
	for (size_t i = 0; !pid && i < ENTRY / sizeof(uint32_t); i++)
		if (w->words[i] == (uint32_t)t->inner)
			pid = runtimes_sibling(r, p, t, (int32_t)words[i]);
	return pid;
}

static int32_t find_owner(struct runtimes *r, const struct runtime_process *p,
			  const struct runtime *t, const struct waiting *w)
{
	uint64_t link = w->lock.claims;
	struct claim c;

	for (size_t i = 0; i < CLAIMS_MOST && link != w->at + LOCK_LINK; i++, link = c.next) {
		if (link & 7 || !p->read(p->arg, link - CLAIM_LINK, &c, sizeof(c)) ||
		    c.lock != w->at)
			return 0;
		/* The processes of one query do not conflict. */
		if (c.modes & conflicts(w->mode) && c.leader != w->claim.leader)
			return owner_of(r, p, t, w, c.entry);
	}
	return 0;
}

static void name_advisory(const struct lock *l, struct runtime_lock *ret)
{
	uint64_t key = (uint64_t)l->field[1] << 32 | l->field[2];

	if (l->field4 == 1)
		snprintf(ret->name, sizeof(ret->name), "Lock:advisory %" PRId64, (int64_t)key);
	else
		snprintf(ret->name, sizeof(ret->name), "Lock:advisory %" PRId32 ",%" PRId32,
			 (int32_t)l->field[1], (int32_t)l->field[2]);
}

/* The numbers of database and table, and so on, as a view of the server, pg_locks, has them. */
static void name_lock(const struct lock *l, struct runtime_lock *ret)
{
	enum { RELATION, EXTEND, FROZEN, PAGE, TUPLE, TRANSACTION, VIRTUAL, ADVISORY = 10 };
	const char *name = postgres_lock(l->type);
	const uint32_t *f = l->field;
	char *to = ret->name;
	size_t size = sizeof(ret->name);

	if (!name)
		snprintf(to, size, "Lock:%u", l->type);
	else if (l->type == RELATION || l->type == EXTEND)
		snprintf(to, size, "Lock:%s %u/%u", name, f[0], f[1]);
	else if (l->type == PAGE)
		snprintf(to, size, "Lock:%s %u/%u (%u)", name, f[0], f[1], f[2]);
	else if (l->type == TUPLE)
		snprintf(to, size, "Lock:%s %u/%u (%u,%u)", name, f[0], f[1], f[2], l->field4);
	else if (l->type == TRANSACTION || l->type == FROZEN)
		snprintf(to, size, "Lock:%s %u", name, f[0]);
	else if (l->type == VIRTUAL)
		snprintf(to, size, "Lock:%s %u/%u", name, f[0], f[1]);
	else if (l->type == ADVISORY)
		name_advisory(l, ret);
	else
		snprintf(to, size, "Lock:%s %u/%u/%u", name, f[0], f[1], f[2]);
}

void postgres_name_lock(uint32_t type, struct runtime_lock *ret)
{
	const char *name = postgres_lock(type);

	snprintf(ret->name, sizeof(ret->name), "Lock:%s", name ? name : "?");
}

bool postgres_find_lock(struct runtimes *r, const struct runtime_process *p,
			const struct runtime *t, uint32_t type, struct runtime_lock *ret)
{
	struct waiting w;

	if (!find_wait(p, t, type, &w)) {
		postgres_name_lock(type, ret);
		return true;
	}
	name_lock(&w.lock, ret);
	/* The server uses the memory of a lock that is free again for the next one. */
	ret->at = hash_bytes(HASH_START, &w.lock, TAG_SIZE);
	ret->owner_pid = find_owner(r, p, t, &w);
	return true;
}
