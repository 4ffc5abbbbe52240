// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that are filtered one at a time, by the data known at the end of a recording, are those
 * that a query of all of it keeps: as many, and as long together, whatever column the filter is
 * about. In the stream names come late: of locks, of cgroups and of tasks, which are also renamed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/damage.h"
#include "kontend/event-filter.h"
#include "kontend/limits.h"
#include "kontend/query-overview.h"
#include "kontend/wait-filter.h"
#include "kontend/wait.h"
#include "lock-snaps.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000ull
#define BASE 0xffff888000001000ull
enum { CPUS = 4, WAITS = 600, LOCKS = 6, SMALL = 64 };

static const uint32_t kinds[LOCKS] = {LCB_F_WRITE, LCB_F_READ,	LCB_F_MUTEX,
				      LCB_F_MUTEX, LCB_F_WRITE, LCB_F_SPIN};
static const enum synth_address chains[][3] = {
	{SYNTH_MUTEX_LOCK, SYNTH_PIPE_READ, SYNTH_VFS_READ},
	{SYNTH_MUTEX_LOCK, SYNTH_PIPE_WRITE, SYNTH_VFS_WRITE},
	{SYNTH_DOWN_READ, SYNTH_LOCK_MM_AND_FIND_VMA, SYNTH_DO_USER_ADDR_FAULT},
};

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Both modes of one lock, then one lock each. */
static uint64_t lock_of(uint32_t which)
{
	return BASE + (which ? which - 1 : 0) * 256;
}

static void put_wait(struct synth *s, uint32_t *seed, uint64_t t)
{
	uint32_t which = rnd(seed) % LOCKS, cpu = rnd(seed) % CPUS, chain = rnd(seed) % 3;
	int pid = 100 + (int)(cpu / 2) * 100, tid = pid + (int)cpu;
	struct ownerrec owner = {.magic = OWNERREC_MAGIC, .lock = lock_of(which)};
	uint64_t frames[3], ns = rnd(seed) % (MS / 2) + 1;

	for (unsigned i = 0; i < 3; i++)
		frames[i] = synth_addr(chains[chain][i]);
	owner.pid = owner.tid = 900 + (int)(rnd(seed) % 2);
	owner.hint = kinds[which] == LCB_F_WRITE && rnd(seed) % 2;
	memcpy(owner.comm, "holder", 7);
	synth_set_cgroup(s, 50 + cpu % 2);
	synth_begin(s, cpu, t, pid, tid, lock_of(which), kinds[which], frames, 3);
	if (kinds[which] != LCB_F_SPIN)
		synth_owner(s, cpu, t, tid, &owner);
	synth_end(s, cpu, t + ns, pid, tid, lock_of(which), 0);
}

static void state_stream(struct rig *r)
{
	struct synth *s;
	struct locksnap snap = {0};
	uint32_t seed = 3;
	uint64_t t = MS;

	rig_init(r, CPUS);
	s = r->synth;
	synth_outputs(s);
	synth_comm(s, 0, t, 100, 100, "young");
	for (unsigned i = 0; i < WAITS; i++) {
		t += MS;
		put_wait(s, &seed, t);
		if (i == WAITS / 2)
			synth_exit(s, 3, t + MS / 2, 200, 203);
		if (i == WAITS / 2)
			synth_fork(s, 3, t + MS / 2 + 1, 200, 203, 200, 202);
		if (i % 100 == 99)
			synth_tick(s, t + MS / 2);
	}
	t += MS;
	lock_snap_name(&snap, lock_of(0), LOCKSNAP_INODE, -1, 100, "young", "/srv/late", 0);
	lock_snap_name(&snap, lock_of(2), LOCKSNAP_PIPE, -1, 200, "late", "", 0);
	lock_snap_name(&snap, lock_of(4), LOCKSNAP_SLAB, -1, 0, "", "shmem_inode_cache", 0);
	lock_snap_emit(s, &snap, t);
	synth_comm(s, 0, t, 100, 100, "old");
	synth_comm(s, 1, t, 100, 101, "late");
	synth_cgroup(s, 0, t, 51, "/late.slice");
	synth_tick(s, t + MS);
}

/* Terms about each column; none keeps nothing or all. */
static const char *const filters[] = {
	"lock=0xffff888000001000",
	"kind:rwsem:W",
	"type=mutex",
	"mode=R",
	"name:/srv/late",
	"name:\"pipe->mutex late/200\"",
	"name:pipe_",
	"name:shmem",
	"object=i_rwsem",
	"path=/srv/late",
	"caller=pipe_read",
	"stack:vfs_write",
	"task=old/100",
	"process:old/100",
	"pid=200",
	"tid=203",
	"comm=late",
	"cgroup=/late.slice",
	"cpu=1",
	"owner=holder/901",
	"owner~R",
	"name:late (caller:read | comm=old) !cpu=0",
};

struct counter {
	struct engine_watch watch;
	const struct engine *engine;
	struct event_filter *gate;
	uint64_t n, ns;
};

static int count(struct engine_watch *w, const struct event *ev, struct error *err)
{
	struct counter *c = (struct counter *)w;
	const struct model *m = c->engine->model;
	const struct wait *wait = &m->waits->waits[m->last_wait];

	(void)err;
	if (!m->last_wait || ev->kind != EVENT_CONTENTION_END ||
	    !event_filter_passes(c->gate, wait))
		return 0;
	c->n++;
	c->ns += wait_part_ns(wait, 0, ev->time);
	return 0;
}

/* Plays the stream of @known once more. */
static void judge(struct rig *known, const struct model_limits *limits, const char *filter,
		  struct counter *c)
{
	struct engine e;
	struct error err = {0};
	int r;

	assert_int_equal(engine_init(&e, synth_source(known->synth), limits, &err), 0);
	*c = (struct counter){.watch.event = count, .engine = &e};
	assert_int_equal(event_filter_new(&c->gate, &e, &known->engine, filter, &err), 0);
	e.watch = &c->watch;
	while ((r = engine_pump(&e, 0, &err)) != ENGINE_END)
		assert_true(r >= 0);
	event_filter_free(c->gate);
	engine_deinit(&e);
}

static void check(const struct model_limits *limits, bool folds)
{
	struct rig r;
	struct query q;
	struct counter c;
	struct error err = {0};

	state_stream(&r);
	rig_play(&r, limits);
	assert_int_equal(r.engine.model->damage->folded > 0, folds);
	assert_int_equal(query_init(&q, &r.engine), 0);
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		struct query_overview o;

		query_begin(&q);
		if (wait_filter_set(&q, filters[i], &err) < 0)
			fail_msg("%s: %s", filters[i], err.text);
		assert_int_equal(query_overview(&q, &o), 0);
		judge(&r, limits, filters[i], &c);
		if (!folds && (c.n != o.contended || c.ns != o.total_ns || !c.n || c.n == WAITS))
			fail_msg("%s: %lu waits of %lu ns, all together %lu of %lu ns", filters[i],
				 c.n, c.ns, o.contended, o.total_ns);
		/* A folded row does not have its tasks any more; the table invents none. */
		if (c.n < o.contended || c.n > WAITS)
			fail_msg("%s: %lu waits, less than %lu", filters[i], c.n, o.contended);
	}
	query_deinit(&q);
	rig_deinit(&r);
}

static void the_same_waits_are_meant(void **state)
{
	(void)state;
	check(NULL, false);
}

static void numbers_may_be_given_anew(void **state)
{
	struct model_limits limits = model_limits_of(0);

	(void)state;
	limits.cells = SMALL;
	check(&limits, true);
}

static void names_alone_become_known(void **state)
{
	(void)state;
	assert_false(event_filter_needs_names("pid=5 | cpu=1 !type=mutex"));
	assert_true(event_filter_needs_names("pid=5 name:late"));
	assert_true(event_filter_needs_names("owner:holder"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_waits_are_meant),
		cmocka_unit_test(numbers_may_be_given_anew),
		cmocka_unit_test(names_alone_become_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
