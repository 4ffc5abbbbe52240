// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filter of waits gives the same as if there had been no other waits: any query of a stream with
 * the filter equals that of a stream of those waits alone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/event-filter.h"
#include "kontend/filelock.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/query-hist.h"
#include "kontend/query-overview.h"
#include "kontend/query-tree.h"
#include "kontend/userlock.h"
#include "kontend/wait-filter.h"
#include "kontend/wait.h"

#define MS 1000000ull
enum { CPUS = 12, TASKS = CPUS, WAITS = 40, LOCKS = 7, TICKS = 30, LAST = 3000 };

/* One wait of many, each task on a CPU of its own; to_ns 0: it has not ended. */
struct made {
	int pid, tid;
	uint32_t cpu, flags, chain;
	uint64_t lock, from_ns, to_ns;
};

/* Flags of a mutex of a program, and of a write lock of flock(2). */
enum { USER = (USERLOCK_MUTEX + 1) << USERLOCK_SHIFT, OF_FILE = 1 << FILELOCK_SHIFT | LCB_F_WRITE };
static const uint32_t kinds[LOCKS] = {
	LCB_F_WRITE, LCB_F_READ, LCB_F_MUTEX, LCB_F_SPIN, LCB_F_PERCPU | LCB_F_READ, USER, OF_FILE};
static const enum synth_address chains[][4] = {
	{SYNTH_DOWN_WRITE_KILLABLE, SYNTH_VM_MMAP_PGOFF, SYNTH_X64_SYS_MMAP, SYNTH_DO_SYSCALL_64},
	{SYNTH_DOWN_READ, SYNTH_LOCK_MM_AND_FIND_VMA, SYNTH_DO_USER_ADDR_FAULT,
	 SYNTH_EXC_PAGE_FAULT},
	{SYNTH_MUTEX_LOCK, SYNTH_PIPE_READ, SYNTH_VFS_READ, SYNTH_DO_SYSCALL_64},
};

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static size_t make_moments(struct made *m, uint32_t seed)
{
	size_t n = 0;

	for (int t = 0; t < TASKS; t++) {
		uint64_t at = 10 * MS + rnd(&seed) % (20 * MS);
		int pid = 100 + t % 3 * 100;

		for (int i = 0; i < WAITS; i++, n++) {
			uint32_t lock = rnd(&seed) % LOCKS;
			uint64_t ns = rnd(&seed) % 8 ? rnd(&seed) % (4 * MS) : 9 * MS;

			m[n] = (struct made){
				pid,	     pid + t,	     (uint32_t)t % CPUS,
				kinds[lock], rnd(&seed) % 3, 0xffff888000001000 + lock * 64,
				at,	     at + ns + 1};
			at += ns + rnd(&seed) % (60 * MS) + 2;
		}
		if (t % 4 == 0 && kinds[t % LOCKS] != LCB_F_SPIN)
			m[n - 1].to_ns = 0;
	}
	return n;
}

struct moment {
	uint64_t t;
	const struct made *m;
	bool is_end;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return x->t < y->t ? -1 : x->t > y->t;
}

static void add_moment(struct synth *s, const struct moment *e)
{
	uint64_t frames[4];
	const struct made *m = e->m;

	for (unsigned i = 0; i < 4; i++)
		frames[i] = synth_addr(chains[m->chain][i]);
	if (e->is_end)
		synth_end(s, m->cpu, e->t, m->pid, m->tid, m->lock, 0);
	else
		synth_begin(s, m->cpu, e->t, m->pid, m->tid, m->lock, m->flags, frames, 4);
}

static void put_names(struct synth *s)
{
	struct record_fill fill = {64, 4096}; /* the CPU is there, whether anything waits or not */
	char comm[16];

	for (int t = 0; t < TASKS; t++) {
		synth_record(s, RECORD_FILL, (uint32_t)t, &fill, sizeof(fill));
		int pid = 100 + t % 3 * 100;

		snprintf(comm, sizeof(comm), "work-%d", t % 5);
		synth_comm(s, (uint32_t)t % CPUS, (uint64_t)t + 1, pid, pid + t, comm);
	}
	/* Names do not begin the measurement; this does, whichever waits follow. */
	synth_exit(s, 0, TASKS + 1, 99, 99);
}

static void play(struct asked *w, const struct made *m, size_t n, bool (*is)(const struct made *m),
		 uint64_t min_wait_ns)
{
	struct moment *e = calloc(2 * n, sizeof(*e));
	size_t k = 0;

	rig_init(&w->rig, CPUS);
	put_names(w->rig.synth);
	for (size_t i = 0; i < n; i++) {
		if (is && !is(&m[i]))
			continue;
		e[k++] = (struct moment){m[i].from_ns, &m[i], false};
		if (m[i].to_ns)
			e[k++] = (struct moment){m[i].to_ns, &m[i], true};
	}
	qsort(e, k, sizeof(*e), by_time);
	for (size_t tick = 1, i = 0; tick <= TICKS; tick++) {
		for (; i < k && (e[i].t < tick * 100 * MS || tick == TICKS); i++)
			add_moment(w->rig.synth, &e[i]);
		synth_tick(w->rig.synth, tick == TICKS ? LAST * MS : tick * 100 * MS);
	}
	free(e);
	struct error err = {0};
	int a;
	const struct model_limits limits = model_limits_recent(0);
	assert_int_equal(engine_init(&w->rig.engine, synth_source(w->rig.synth), &limits, &err), 0);
	w->rig.playing = true;
	w->rig.engine.model->min_wait_ns = min_wait_ns;
	while ((a = engine_pump(&w->rig.engine, 0, &err)) != ENGINE_END)
		assert_true(a >= 0);
	for (uint32_t cpu = 0; cpu < w->rig.engine.model->n_cpus; cpu++)
		w->rig.engine.model->cpus[cpu].seen = true;
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
}

static void end(struct asked *w)
{
	query_deinit(&w->q);
	rig_deinit(&w->rig);
}

/* The owner of a lock is known by the waits of all. */
static bool is_of_all(const char *key)
{
	static const char *const words[] = {"ers_waiting", "holder", "owner_", "certainty",
					    "mostly_held"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(key, words[i]))
			return true;
	return false;
}

/* All that reports have, but for queues, which are as long as they are, and for series. */
static void assert_same_tables(const char *what, const struct table *a, const struct table *b)
{
	if (a->n_rows != b->n_rows)
		fail_msg("%s: %zu rows, wanted %zu", what, a->n_rows, b->n_rows);
	for (size_t i = 0; i < a->n_rows; i++) {
		for (size_t c = 0; c < a->n_columns; c++) {
			char x[512], y[512];
			if (a->columns[c].type == COLUMN_SERIES || is_of_all(a->columns[c].key))
				continue;
			table_format(&a->columns[c], table_value(a, i, c), false, x, sizeof(x));
			table_format(&b->columns[c], table_value(b, i, c), false, y, sizeof(y));
			if (strcmp(x, y) != 0)
				fail_msg("%s, %s, row %zu, %s: %s, wanted %s", what, a->name, i,
					 a->columns[c].key, x, y);
		}
	}
}

typedef int (*asks)(struct query *q, const struct query_spec *s, struct table *ret,
		    struct error *err);

static void check_table(struct asked *a, struct asked *b, asks ask, struct query_spec s,
			const char *what)
{
	struct table x, y;

	assert_int_equal(ask(&a->q, &s, &x, NULL), 0);
	assert_int_equal(ask(&b->q, &s, &y, NULL), 0);
	assert_same_tables(what, &x, &y);
}

static void check_tables(struct asked *a, struct asked *b, const char *filter, bool average)
{
	for (int by = 0; by < QUERY_BYS; by++)
		check_table(a, b, query_locks,
			    (struct query_spec){.by = (enum query_by)by, .average = average},
			    filter);
	check_table(a, b, query_types, (struct query_spec){.average = average}, filter);
	check_table(a, b, query_cpus, (struct query_spec){.average = average}, filter);
	check_table(a, b, query_waiters, (struct query_spec){.average = average}, filter);
}

static void check_pictures(struct asked *a, struct asked *b)
{
	struct query_overview o, p;
	struct query_hist h, i;
	struct query_tree t, u;

	assert_int_equal(query_overview(&a->q, &o), 0);
	assert_int_equal(query_overview(&b->q, &p), 0);
	assert_int_equal(o.contended, p.contended);
	assert_int_equal(o.total_ns, p.total_ns);
	assert_int_equal(o.waited_ns, p.waited_ns);
	assert_int_equal(o.waiting, p.waiting);
	assert_int_equal(o.longest_ns, p.longest_ns);
	assert_int_equal(query_hist(&a->q, NULL, &h), 0);
	assert_int_equal(query_hist(&b->q, NULL, &i), 0);
	assert_int_equal(h.n_waits, i.n_waits);
	assert_int_equal(h.p99_ns, i.p99_ns);
	assert_int_equal(h.inflight_ns, i.inflight_ns);
	assert_int_equal(query_tree(&a->q, NULL, false, false, &t), 0);
	assert_int_equal(query_tree(&b->q, NULL, false, false, &u), 0);
	assert_int_equal(t.n, u.n);
	for (size_t k = 0; k < t.n; k++)
		assert_int_equal(t.nodes[k].total_ns, u.nodes[k].total_ns);
}

static bool is_pid(const struct made *m)
{
	return m->pid == 200;
}

static bool is_two_cpus(const struct made *m)
{
	return m->cpu == 1 || m->cpu == 2;
}

static bool is_mutex(const struct made *m)
{
	return m->flags == LCB_F_MUTEX;
}

static bool is_user(const struct made *m)
{
	return m->flags == USER;
}

static bool is_neither(const struct made *m)
{
	return m->flags != USER && m->flags != OF_FILE;
}

static bool is_mmap_or_spin(const struct made *m)
{
	return m->chain == 0 || m->flags == LCB_F_SPIN;
}

static bool is_syscall_of_others(const struct made *m)
{
	return m->chain != 1 && m->pid != 300;
}

static bool is_first_lock(const struct made *m)
{
	return m->lock == 0xffff888000001000;
}

static bool is_long(const struct made *m)
{
	uint64_t to = m->to_ns ? m->to_ns : LAST * MS;

	return to - m->from_ns >= 2 * MS;
}

static bool is_long_mutex(const struct made *m)
{
	return is_long(m) && is_mutex(m);
}

static const struct {
	const char *filter;
	bool (*is)(const struct made *m);
	uint64_t min_wait_ns;
} cases[] = {
	{"pid=200", is_pid, 0},
	{"(!cpu<1 !cpu>2)", is_two_cpus, 0},
	{"kind=mutex", is_mutex, 0},
	{"world:user", is_user, 0},
	{"world=kernel", is_neither, 0},
	{"!world:user !world:file", is_neither, 0},
	{"caller:vm_mmap | type=spinlock", is_mmap_or_spin, 0},
	{"stack~^do_syscall !pid=300", is_syscall_of_others, 0},
	{"lock=0xffff888000001000", is_first_lock, 0},
	{"", is_long, 2 * MS},
	{"type=mutex", is_long_mutex, 2 * MS},
};

static void the_rest_is_as_if_alone(void **state)
{
	struct made *m = calloc(TASKS * WAITS, sizeof(*m));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = make_moments(m, (uint32_t)i + 1);
		struct asked a = {0}, b = {0};
		struct error err = {0};

		play(&a, m, n, NULL, cases[i].min_wait_ns);
		play(&b, m, n, cases[i].is, 0);
		a.q.keeps = i % 2;
		for (unsigned frame = 0; frame < 3; frame++) {
			/* Of all, of the last tick, of some. */
			a.q.window_ns = b.q.window_ns =
				cases[i].min_wait_ns ? 0 : frame * frame * 100 * MS;
			query_begin(&a.q);
			query_begin(&b.q);
			if (wait_filter_set(&a.q, cases[i].filter, &err) < 0)
				fail_msg("%s", err.text);
			check_tables(&a, &b, cases[i].filter, true);
			if (!cases[i].min_wait_ns)
				check_tables(&a, &b, cases[i].filter, false);
			check_pictures(&a, &b);
		}
		const struct wait_filter_sum s = wait_filter_sum(&a.q);
		assert_true(s.waits > 10 && s.waits < s.of_waits);
		/* The next frame is about all again. */
		query_begin(&a.q);
		assert_true(wait_filter_sum(&a.q).waits + a.rig.engine.model->n_short ==
			    s.of_waits + a.rig.engine.model->n_short);
		end(&a);
		end(&b);
	}
	free(m);
}

/* The waits that pass one at a time are those that pass together. */
static void one_at_a_time_it_is_the_same(void **state)
{
	struct made *m = calloc(TASKS * WAITS, sizeof(*m));
	size_t n = make_moments(m, 77);
	struct event_filter *g;
	struct asked a = {0};

	(void)state;
	play(&a, m, n, NULL, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct wait_pool *p = a.rig.engine.model->waits;
		unsigned passed = 0;

		if (cases[i].min_wait_ns)
			continue;
		assert_int_equal(event_filter_new(&g, &a.rig.engine, NULL, cases[i].filter, NULL),
				 0);
		for (uint32_t k = 1; k < p->high; k++)
			passed += p->waits[k].used && event_filter_passes(g, &p->waits[k]);
		event_filter_free(g);
		query_begin(&a.q);
		assert_int_equal(wait_filter_set(&a.q, cases[i].filter, NULL), 0);
		assert_int_equal(a.q.model->waits->in_flight, passed);
	}
	end(&a);
	free(m);
}

static void refuse(const char *filter, const char *word)
{
	struct error err = {0};

	assert_int_equal(wait_filter_check(filter, &err), -EINVAL);
	if (!strstr(err.text, word))
		fail_msg("%s: '%s' does not name %s", filter, err.text, word);
}

static void a_term_says_what_it_is_of(void **state)
{
	(void)state;
	assert_int_equal(wait_filter_check(NULL, NULL), 0);
	assert_int_equal(wait_filter_check("pid=5 lock:inode", NULL), 0);
	refuse("mutex", "caller:mutex");
	refuse("max_ns>5ms", "columns: ");
	refuse("pid=x", "number");
}

static void split(const char *filter, const char *only, const char *rows)
{
	char a[200], b[200];

	wait_filter_split(filter, a, b);
	assert_string_equal(a, only);
	assert_string_equal(b, rows);
}

/* Terms about waits are separated from terms about rows, where both must hold. */
static void filters_are_taken_apart(void **state)
{
	(void)state;
	split("", "", "");
	split("  mm  pid=5  max_ns>5ms ", "pid=5", "mm max_ns>5ms");
	split("caller:vm_mmap !comm=make", "caller:vm_mmap !comm=make", "");
	split("(pid=5 | pid=6) avg>1ms", "(pid=5 | pid=6)", "avg>1ms");
	split("pid=5 | caller:x", "pid=5 | caller:x", "");
	split("pid=5 | avg>1ms", "", "pid=5 | avg>1ms");
	split("pid=5 or mm", "", "pid=5 or mm");
	split("pid=5|pid=6 cpu=1", "pid=5|pid=6 cpu=1", "");
	split("comm:\"a b\" \"x | y\"", "comm:\"a b\"", "\"x | y\"");
	split("order stack~a", "stack~a", "order");
	split("caller~[ x", "caller~[", "x"); /* whose parser reports the error */
	split("cpu=z", "cpu=z", "");
	split("(pid=5", "", "(pid=5");
}

static void memory_may_run_out(void **state)
{
	struct made *m = calloc(TASKS * WAITS, sizeof(*m));
	size_t n = make_moments(m, 5);
	struct asked a = {0};
	int r = -ENOMEM;

	(void)state;
	play(&a, m, n, NULL, 0);
	for (long k = 0; r != 0; k++) {
		struct error err = {0};

		query_deinit(&a.q);
		assert_int_equal(query_init(&a.q, &a.rig.engine), 0);
		mem_fail_after(k);
		query_begin(&a.q);
		r = wait_filter_set(&a.q, "stack:vm_mmap name~ff", &err);
		mem_fail_after(-1);
		assert_true(r == 0 || (r == -ENOMEM && err.text[0] && !a.q.only));
		assert_true(k < 1000);
	}
	end(&a);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rest_is_as_if_alone),
		cmocka_unit_test(one_at_a_time_it_is_the_same),
		cmocka_unit_test(a_term_says_what_it_is_of),
		cmocka_unit_test(filters_are_taken_apart),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
