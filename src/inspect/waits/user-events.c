// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads what user.bpf.c has summed up. The sums of a lock only grow, and each snapshot has what is
 * new. When half of the rows are used, those whose process has ended give way.
 */
#include "user-events.h"
#include "bpf-run.h"
#include "kontend/mem.h"
#include "kontend/taskid.h"
#include "kontend/userlock.h"
#include "kontend/userrec.h"
#include "kontend/waitrec.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

enum { BATCH = 256 };

static const uint64_t DEAR_NS = 1000000; /* where the rest would cost too much */

int user_events_open(struct user_events *u, struct bpf_object *o, uint64_t min_ns,
		     struct error *err)
{
	u->min_ns = min_ns;
	u->locks = bpf_object__find_map_fd_by_name(o, "user_locks");
	u->new_locks = bpf_object__find_map_fd_by_name(o, "user_new");
	u->sites = bpf_object__find_map_fd_by_name(o, "user_sites");
	u->stacks = bpf_object__find_map_fd_by_name(o, "user_stacks");
	u->by_cpu = bpf_object__find_map_fd_by_name(o, "user_counts");
	if (u->locks < 0 || u->new_locks < 0 || u->sites < 0 || u->stacks < 0 || u->by_cpu < 0)
		return error_set(err, -ENOENT, "The BPF object lacks a map of locks of programs");
	int n = libbpf_num_possible_cpus();
	u->n_cpus = n < 0 ? 0 : (size_t)n;
	u->counts = mem_calloc(u->n_cpus, sizeof(*u->counts));
	if (!u->counts)
		return error_enomem(err, "counts of sleeps");
	u->state = bpf_run_map(o, ".data.user", sizeof(*u->state), PROT_READ | PROT_WRITE, err);
	if (!u->state)
		return err->code;
	u->state->min_ns = min_ns;
	u->state->stacks = RAW_USER_STACKS;
	return 0;
}

void user_events_close(struct user_events *u)
{
	bpf_run_unmap(u->state, sizeof(*u->state));
	mem_free(u->seen);
	mem_free(u->counts);
	map64_deinit(&u->by_lock);
	*u = (struct user_events){0};
}

static void set(unsigned long long *c, uint64_t value)
{
	__atomic_store_n(c, value, __ATOMIC_RELAXED);
}

/* Counts that cannot be read stay as they were. */
static void read_counts(struct user_events *u)
{
	unsigned long long *to = (unsigned long long *)&u->sum;
	const uint32_t first = 0;

	if (bpf_map_lookup_elem(u->by_cpu, &first, u->counts) < 0)
		return;
	u->sum = (struct raw_user_counts){0};
	for (size_t i = 0; i < u->n_cpus; i++) {
		const unsigned long long *from = (const unsigned long long *)&u->counts[i];
		for (size_t k = 0; k < sizeof(u->sum) / sizeof(*to); k++)
			to[k] += from[k];
	}
}

/* Of sleeps that began while they did not, the begin is not known. */
void user_events_run(struct user_events *u, bool on)
{
	if (!u->state || on == !u->state->off)
		return;
	if (on)
		__atomic_store_n(&u->state->epoch, u->state->epoch + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&u->state->off, !on, __ATOMIC_RELAXED);
}

unsigned user_events_govern(struct user_events *u, struct slept_look look)
{
	if (!u->state)
		return RAW_SLEPT_OFF;
	read_counts(u);
	look.busy_ns = u->sum.busy_ns;
	unsigned level = slept_price_look(&u->price, &look);

	__atomic_store_n(&u->state->saves, level != RAW_SLEPT_ALL, __ATOMIC_RELAXED);
	set(&u->state->min_ns, level != RAW_SLEPT_ALL && u->min_ns < DEAR_NS ? DEAR_NS : u->min_ns);
	return level;
}

static struct user_seen *seen_of(struct user_events *u, uint64_t lock)
{
	const uint32_t *known = map64_get(&u->by_lock, lock);

	if (known)
		return &u->seen[*known];
	if (mem_grow(&u->seen, &u->cap_seen, u->n_seen, sizeof(*u->seen)) ||
	    map64_put(&u->by_lock, lock, (uint32_t)u->n_seen))
		return NULL;
	u->seen[u->n_seen] = (struct user_seen){0};
	return &u->seen[u->n_seen++];
}

/* The part of the @ns of a row: as that has it. */
static uint32_t lost_since(struct user_seen *s, const struct raw_user_lock *l, int mode,
			   uint64_t ns)
{
	uint64_t lost = l->lost_ns[mode] - s->lost_ns[mode],
		 of = l->lost_of_ns[mode] - s->lost_of_ns[mode];

	s->lost_ns[mode] = l->lost_ns[mode];
	s->lost_of_ns[mode] = l->lost_of_ns[mode];
	/* They are read while they grow. */
	return of + ns / 64 >= ns ? waitrec_age(lost < ns ? lost : ns) : 0;
}

int user_events_add(struct user_events *u, uint64_t lock, const struct raw_user_lock *l,
		    struct usersnap *ret)
{
	struct user_seen *s = seen_of(u, lock);
	int code = 0;

	if (!s)
		return -ENOMEM;
	for (int mode = 0; code == 0 && mode < RAW_USER_MODES && l->kind < USERLOCK_KINDS; mode++) {
		struct usersnap_row row = {
			.lock = userlock_is(lock) ? lock : 0,
			.n = l->n[mode] - s->n[mode],
			.ns = l->ns[mode] - s->ns[mode],
			.flags = userlock_flags((enum userlock_kind)l->kind, mode)};
		row.lost = lost_since(s, l, mode, row.ns);
		s->n[mode] = l->n[mode];
		s->ns[mode] = l->ns[mode];
		code = row.n ? usersnap_add_row(ret, &row) : 0;
	}
	return code;
}

static bool is_over(const struct raw_user_lock *l)
{
	return l->pid > 0 && !taskid_is_outside(l->pid) && kill(l->pid, 0) < 0 && errno == ESRCH;
}

/* The lock of a file may be another process's by now, and is found again if it is. */
static void forget(struct user_events *u, uint64_t lock)
{
	if (bpf_map_delete_elem(u->locks, &lock) == 0)
		*seen_of(u, lock) = (struct user_seen){0};
}

static int read_locks(struct user_events *u, struct usersnap *ret, size_t *ret_n, bool forgets)
{
	struct raw_user_lock locks[BATCH];
	uint64_t keys[BATCH];
	uint32_t at, *before = NULL;
	int code = 0, last = 0;

	while (code == 0 && !last) {
		uint32_t n = BATCH;
		last = bpf_map_lookup_batch(u->locks, before, &at, keys, locks, &n, NULL) < 0
			       ? errno
			       : 0;
		if (last && last != ENOENT) /* the end */
			return -last;
		for (uint32_t i = 0; code == 0 && i < n; i++) {
			code = user_events_add(u, keys[i], &locks[i], ret);
			if (code == 0 && forgets && is_over(&locks[i]))
				forget(u, keys[i]);
		}
		*ret_n += n;
		before = &at;
	}
	return code;
}

int user_events_take(struct user_events *u, struct usersnap *ret)
{
	struct usersnap_head *h = &ret->head;
	size_t n = 0;

	h->sleeps = u->sum.sleeps;
	h->unproven = u->sum.unproven;
	h->unproven_ns = u->sum.unproven_ns;
	h->unknown = u->sum.unknown;
	h->foreign = u->sum.foreign;
	h->dropped = u->sum.dropped;
	h->records = u->sum.records;
	h->missed = u->sum.missed;
	h->min_ns = u->state->min_ns;
	h->switch_ps = u->price.switch_ps;
	h->off_ns = u->price.off_ns;
	h->level = u->price.level;
	h->is_first = !u->taken;
	u->taken = true;
	return read_locks(u, ret, &n, u->n_seen > RAW_USER_LOCKS / 2);
}

size_t user_events_new(struct user_events *u, struct snapshot_users_lock *ret, size_t most)
{
	struct raw_user_new new;
	size_t n = 0;

	while (u->state && n < most &&
	       bpf_map_lookup_and_delete_elem(u->new_locks, NULL, &new) == 0)
		ret[n++] = (struct snapshot_users_lock){.lock = new.lock,
							.addr = new.addr,
							.number = new.number,
							.pid = new.pid,
							.shared = new.flags &USERREC_SHARED};
	return n;
}

size_t user_events_stacks(struct user_events *u, struct usersite_stack *ret, size_t most)
{
	size_t n = 0;

	while (u->state && n < most &&
	       bpf_map_lookup_and_delete_elem(u->stacks, NULL, &ret[n]) == 0)
		n++;
	if (u->state)
		set(&u->state->stacks, RAW_USER_STACKS);
	return n;
}

static bool has_returns(const struct usersite_path *a, const struct usersite_path *b)
{
	return a->n_returns == b->n_returns &&
	       !memcmp(a->at, b->at, a->n_returns * sizeof(*a->at)) &&
	       !memcmp(a->returns, b->returns, a->n_returns * sizeof(*a->returns));
}

/*
 * Replaces the same calls if they are there, or the oldest path if there is no room. False: it is
 * known, as that of a process which is read again.
 */
static bool add_path(struct usersite *s, const struct usersite_path *p)
{
	size_t at = 0;

	while (at < s->n && !has_returns(&s->paths[at], p))
		at++;
	if (at < s->n && !s->asked && !memcmp(&s->paths[at], p, sizeof(*p)))
		return false;
	unsigned by_use = at < s->n ? s->paths[at].flags & USERSITE_LOCK : 0;
	if (at == USERSITE_PATHS) {
		memmove(s->paths, s->paths + 1, (USERSITE_PATHS - 1) * sizeof(*s->paths));
		at--;
	}
	s->paths[at] = *p;
	s->paths[at].flags |= p->flags & USERSITE_COUNT ? by_use : 0;
	s->n = at < s->n ? s->n : (unsigned)at + 1;
	s->asked = 0;
	return true;
}

int user_events_learn(struct user_events *u, const struct snapshot_users_path *paths, size_t n)
{
	for (size_t i = 0; u->state && i < n; i++) {
		const struct usersite_path *p = &paths[i].path;
		const unsigned long long key = paths[i].key;
		struct usersite site;

		if (bpf_map_lookup_elem(u->sites, &key, &site) < 0)
			site = (struct usersite){0};
		if (!add_path(&site, p))
			continue;
		if (bpf_map_update_elem(u->sites, &key, &site, BPF_ANY) < 0)
			return -errno;
		/* Tasks keep such a path, or that there is none. */
		if (p->info.at && !p->lock)
			__atomic_store_n(&u->state->has_epoll, u->state->has_epoll + 1,
					 __ATOMIC_RELAXED);
	}
	return 0;
}
