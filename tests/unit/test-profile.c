// SPDX-License-Identifier: GPL-2.0-only
/* The profile: sums of samples by each key, and the parts given up when there is no room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/query-hot.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "synth-profile.h"

#include <errno.h>
#include <string.h>

#define MS 1000000ull
#define START (1000 * MS)
#define CODE 0x400000ull

static struct table hot(struct asked *w, enum query_hot_by by, bool locks)
{
	struct query_hot_spec s = {.by = by, .locks = locks};
	struct error err = {0};
	struct table t;

	query_begin(&w->q);
	assert_int_equal(query_hot(&w->q, &s, &t, &err), 0);
	return t;
}

static size_t row_of(const struct table *t, const char *key, const char *text)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (!strcmp(cell_s(t, i, key), text))
			return i;
	fail_msg("no row with %s %s", key, text);
	return 0;
}

static void sample(struct asked *w, uint32_t cpu, uint64_t ms, int pid, int tid,
		   const uint64_t *kernel, uint32_t n, uint64_t user)
{
	struct synth_chain c = {.kernel = kernel, .n_kernel = n, .user = &user, .n_user = !!user};

	synth_sample(w->rig.synth, cpu, START + ms * MS, pid, tid, MS, c);
}

/* 6 samples in user code, 3 below an rwsem, 1 in a function of no lock. */
static void state_profile(struct asked *w)
{
	rig_init(&w->rig, 2);
	struct synth *s = w->rig.synth;
	const uint64_t lock[] = {synth_addr(SYNTH_QSPIN_SLOWPATH),
				 synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH),
				 synth_addr(SYNTH_VM_MMAP_PGOFF)};
	const uint64_t fault[] = {synth_addr(SYNTH_EXC_PAGE_FAULT)};

	synth_profile(s);
	synth_comm(s, 0, START, 50, 50, "app");
	synth_comm(s, 0, START, 50, 51, "worker");
	synth_mmap(s, 0, START, 50, CODE, 0x10000, 0x1000, "/bin/app");
	for (uint64_t i = 0; i < 6; i++)
		sample(w, 0, 10 + i, 50, 50, NULL, 0, CODE + 64 * i);
	for (uint64_t i = 0; i < 3; i++)
		sample(w, 1, 20 + i, 50, 51, lock, 3, CODE);
	sample(w, 0, 30, 50, 51, fault, 1, CODE + 5);
	synth_tick(s, START + 100 * MS);
}

static void samples_are_summed_by_anything(void **state)
{
	struct asked *w = *state;
	struct table t;

	state_profile(w);
	asked_play(w, NULL);
	t = hot(w, HOT_SYMBOL, false);
	assert_int_equal(t.n_rows, 3);
	assert_string_equal(cell_s(&t, 0, "object"), "/bin/app");
	assert_int_equal(cell_u(&t, 0, "samples"), 6);
	size_t spin = row_of(&t, "symbol", "native_queued_spin_lock_slowpath");
	assert_int_equal(cell_u(&t, spin, "samples"), 3);
	assert_string_equal(cell_s(&t, spin, "group"), "spinlock");
	assert_true(cell_at(&t, spin, "pct")->d > 29.9 && cell_at(&t, spin, "pct")->d < 30.1);

	t = hot(w, HOT_TASK, false);
	assert_int_equal(cell_u(&t, row_of(&t, "task", "worker"), "samples"), 4);
	t = hot(w, HOT_PROCESS, false);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "process"), "app");
	t = hot(w, HOT_OBJECT, false);
	assert_int_equal(cell_u(&t, row_of(&t, "object", "[kernel]"), "samples"), 4);
	t = hot(w, HOT_CPU, false);
	assert_int_equal(cell_u(&t, 0, "samples"), 7);
	t = hot(w, HOT_GROUP, false);
	assert_int_equal(cell_u(&t, row_of(&t, "group", "other"), "samples"), 7);
	t = hot(w, HOT_STACK, true);
	assert_int_equal(t.n_rows, 1);
	assert_non_null(strstr(cell_s(&t, 0, "stack"), "rwsem_down_write_slowpath\nvm_mmap_pgoff"));
	t = hot(w, HOT_SYMBOL, true);
	assert_int_equal(t.n_rows, 1);
	assert_true(cell_at(&t, 0, "pct")->d < 30.1);
}

/* The table of functions grows while chains are compared: none is split or joined by that. */
static void chains_of_many_functions_stay_apart(void **state)
{
	enum { OBJECTS = 1200 };
	struct asked *w = *state;
	char name[32];

	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	for (uint64_t i = 0; i < OBJECTS; i++) {
		uint64_t at = CODE + i * 0x10000;

		snprintf(name, sizeof(name), "/lib/o%u", (unsigned)i);
		synth_mmap(w->rig.synth, 0, START, 50, at, 0x1000, 0, name);
		sample(w, 0, 10, 50, 50, NULL, 0, at + 16);
		sample(w, 0, 10, 50, 50, NULL, 0, at + 32);
	}
	synth_tick(w->rig.synth, START + 100 * MS);
	asked_play(w, NULL);
	struct table t = hot(w, HOT_STACK, false);
	assert_int_equal(t.n_rows, OBJECTS);
	for (size_t i = 0; i < t.n_rows; i++)
		assert_int_equal(cell_u(&t, i, "samples"), 2);
}

static struct table zoomed(struct asked *w, const struct query_zoom *z, enum query_hot_by by)
{
	struct query_hot_spec s = {.by = by, .zoom = z};
	struct table t;

	query_begin(&w->q);
	assert_int_equal(query_hot(&w->q, &s, &t, NULL), 0);
	return t;
}

/* The figures of a row are those of the view zoomed into it. */
static void a_row_can_be_zoomed_into(void **state)
{
	struct asked *w = *state;
	struct query_hot_sum sum;

	state_profile(w);
	asked_play(w, NULL);
	for (enum query_hot_by by = HOT_OBJECT; by < HOT_STACK; by++) {
		struct table t = hot(w, by, false);
		size_t n = t.n_rows;
		for (size_t i = 0; i < n; i++) {
			struct query_zoom z = {0};
			t = hot(w, by, false);
			uint64_t samples = cell_u(&t, i, "samples");
			assert_int_equal(query_hot_zoom(&w->q, by, t.ids[i], &z), 0);
			t = zoomed(w, &z, by);
			assert_int_equal(t.n_rows, 1);
			assert_int_equal(cell_u(&t, 0, "samples"), samples);
			assert_true(cell_at(&t, 0, "pct")->d > 99.9);
			assert_int_equal(query_hot_sum(&w->q, &z, &sum), 0);
			assert_int_equal(sum.part, samples);
			assert_int_equal(sum.samples, 10);
		}
	}
}

static void what_cannot_be_zoomed_into_is_said(void **state)
{
	struct asked *w = *state;
	struct query_zoom z = {0};

	state_profile(w);
	asked_play(w, NULL);
	struct table t = hot(w, HOT_STACK, false);
	assert_int_equal(query_hot_zoom(&w->q, HOT_STACK, t.ids[0], &z), -EINVAL);
	assert_int_equal(query_hot_zoom(&w->q, HOT_TASK, 12345, &z), -ENOENT);
	t = hot(w, HOT_SYMBOL, false);
	size_t row = row_of(&t, "symbol", "exc_page_fault");
	assert_int_equal(query_hot_zoom(&w->q, HOT_SYMBOL, t.ids[row], &z), 0);
	assert_string_equal(z.terms[0].name, "[kernel]");
	z.n = QUERY_ZOOM_TERMS;
	assert_int_equal(query_hot_zoom(&w->q, HOT_SYMBOL, 1, &z), -ENOSPC);
}

static void what_is_waited_below_stands_beside_it(void **state)
{
	struct asked *w = *state;
	const uint64_t wait[] = {synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH),
				 synth_addr(SYNTH_VM_MMAP_PGOFF), synth_addr(SYNTH_EXC_PAGE_FAULT)};

	state_profile(w);
	struct synth *s = w->rig.synth;
	synth_begin(s, 0, START + 200 * MS, 50, 51, 0xffff888011111100ull, LCB_F_WRITE, wait, 3);
	synth_end(s, 0, START + 205 * MS, 50, 51, 0xffff888011111100ull, 0);
	synth_tick(s, START + 300 * MS);
	asked_play(w, NULL);
	struct table t = hot(w, HOT_SYMBOL, false);
	assert_int_equal(cell_u(&t, row_of(&t, "symbol", "exc_page_fault"), "wait_ns"), 5 * MS);
	assert_true(cell_at(&t, row_of(&t, "symbol", "exc_page_fault"), "wait_pct")->d == 100);
	assert_int_equal(
		cell_u(&t, row_of(&t, "symbol", "native_queued_spin_lock_slowpath"), "wait_ns"), 0);
}

static void a_chain_ends_before_address_zero(void **state)
{
	struct asked *w = *state;
	const uint64_t user[] = {CODE + 5, 0};

	state_profile(w);
	synth_sample(w->rig.synth, 0, START + 200 * MS, 50, 50, MS,
		     (struct synth_chain){.user = user, .n_user = 2});
	synth_tick(w->rig.synth, START + 300 * MS);
	asked_play(w, NULL);
	struct table t = hot(w, HOT_STACK, false);
	for (size_t i = 0; i < t.n_rows; i++)
		assert_null(strstr(cell_s(&t, i, "stack"), "(no mapping)"));
}

static void an_exec_begins_with_nothing_mapped(void **state)
{
	struct asked *w = *state;
	state_profile(w);
	struct synth *s = w->rig.synth;
	synth_exec(s, 0, START + 110 * MS, 50, "other");
	sample(w, 0, 120, 50, 50, NULL, 0, CODE + 1);
	synth_mmap(s, 0, START + 130 * MS, 50, CODE, 0x10000, 0, "/bin/other");
	sample(w, 0, 140, 50, 50, NULL, 0, CODE + 1);
	synth_fork(s, 0, START + 150 * MS, 60, 60, 50, 50);
	sample(w, 0, 160, 60, 60, NULL, 0, CODE + 1);
	synth_tick(s, START + 200 * MS);
	asked_play(w, NULL);
	struct table t = hot(w, HOT_OBJECT, false);
	assert_int_equal(cell_u(&t, row_of(&t, "object", "/bin/other"), "samples"), 2);
	assert_int_equal(cell_u(&t, row_of(&t, "object", "[unknown]"), "samples"), 1);
	assert_int_equal(cell_u(&t, row_of(&t, "object", "/bin/app"), "samples"), 6);
}

static void nothing_sampled_is_said(void **state)
{
	struct asked *w = *state;
	struct query_hot_sum sum;

	rig_init(&w->rig, 1);
	synth_tick(w->rig.synth, START);
	asked_play(w, NULL);
	query_begin(&w->q);
	assert_int_equal(query_hot_sum(&w->q, NULL, &sum), 0);
	assert_false(sum.known);
	assert_non_null(strstr(query_hot_none(&sum), "-F 499"));
}

/* Far more chains than there is room for: no sample is lost, and functions stay as they were. */
static void outer_frames_go_first(void **state)
{
	enum { CHAINS = 40, LEAVES = 4 };
	uint64_t frames[8], leaf[LEAVES] = {0};
	struct task_table tasks;
	struct profile p;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	assert_int_equal(task_table_init(&tasks, 16), 0);
	p.max = 16;
	for (uint64_t i = 0; i < CHAINS; i++) {
		struct event ev = {.kind = EVENT_SAMPLE, .pid = 1, .tid = 1};
		for (uint64_t k = 0; k < 8; k++)
			frames[k] = (1ull << 63) + 0x1000 * k + (k ? i : i % LEAVES);
		ev.sample.ip = frames[0];
		ev.sample.frames = frames;
		ev.sample.n_frames = 8;
		ev.sample.period = 10;
		assert_int_equal(profile_sample(&p, &ev, &tasks, 1), 0);
		p.next_shorten = 0;
	}
	assert_int_equal(p.samples, CHAINS);
	assert_true(p.n <= p.max && p.shortened > 0);
	assert_int_equal(p.other, 0);
	for (size_t i = 0; i < p.n; i++)
		leaf[stack_frames(&p.stacks, p.cells[i].stack)[0] - (1ull << 63)] += p.cells[i].n;
	for (int i = 0; i < LEAVES; i++)
		assert_int_equal(leaf[i], CHAINS / LEAVES);
	assert_int_equal(p.nameless, 0);
	profile_zero(&p);
	assert_int_equal(p.samples + p.n, 0);
	profile_deinit(&p);
	task_table_deinit(&tasks);
}

/* Chains that are still seen stay whole while others come and go. */
static void chains_seen_last_stay_whole(void **state)
{
	enum { ROUNDS = 200, HOT = 4, FRAMES = 8 };
	uint64_t frames[FRAMES];
	struct task_table tasks;
	struct profile p;
	uint64_t hot = 0;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	assert_int_equal(task_table_init(&tasks, 16), 0);
	p.max = 64;
	for (uint64_t i = 0; i < ROUNDS * (HOT + 1); i++) {
		bool cold = i % (HOT + 1) == HOT;
		uint64_t n = cold ? 1000 + i : i % (HOT + 1);
		struct event ev = {.kind = EVENT_SAMPLE, .pid = 1, .tid = 1};
		for (uint64_t k = 0; k < FRAMES; k++)
			frames[k] = (1ull << 63) + 0x10000 * k + (k ? n : cold);
		ev.sample.frames = frames;
		ev.sample.ip = frames[0];
		ev.sample.n_frames = FRAMES;
		ev.sample.period = 1;
		assert_int_equal(profile_sample(&p, &ev, &tasks, 1), 0);
		p.next_shorten = 0;
		if (cold)
			profile_tick(&p, i, i + 1);
	}
	assert_true(p.n <= p.max && p.shortened > 0 && p.other == 0);
	assert_true(p.shortened < ROUNDS);
	for (size_t i = 0; i < p.n; i++) {
		const struct stack *s = &p.stacks.stacks[p.cells[i].stack];
		if (stack_frames(&p.stacks, p.cells[i].stack)[0] == 1ull << 63) {
			assert_int_equal(s->n, FRAMES);
			hot += p.cells[i].n;
		}
	}
	assert_int_equal(hot, ROUNDS * HOT);
	profile_deinit(&p);
	task_table_deinit(&tasks);
}

static void sample_of(struct profile *p, const struct task_table *tasks, uint32_t task)
{
	struct event ev = {.kind = EVENT_SAMPLE, .sample = {.ip = 1ull << 63, .period = 10}};

	assert_int_equal(profile_sample(p, &ev, tasks, task), 0);
	p->next_shorten = 0;
}

/* Where tasks come and go the living ones stay apart. */
static void names_of_ended_tasks_go_before_those_of_living_ones(void **state)
{
	enum { CELLS = 16, ENDED = 40 };
	struct task_table tasks;
	struct profile p;
	uint64_t living = 0;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	assert_int_equal(task_table_init(&tasks, 256), 0);
	p.max = CELLS;
	uint32_t stays = task_get(&tasks, 1, 1);
	for (int tid = 2; tid < 2 + ENDED; tid++) {
		uint32_t task = task_get(&tasks, tid, tid);
		sample_of(&p, &tasks, task);
		sample_of(&p, &tasks, stays);
		task_end(&tasks, task, (uint64_t)tid);
	}
	for (size_t i = 0; i < p.n; i++)
		living += p.cells[i].task == stays ? p.cells[i].n : 0;
	assert_int_equal(living, ENDED);
	assert_int_equal(p.samples, 2 * ENDED);
	assert_int_equal(p.nameless + p.other, 0);
	for (int tid = 100; tid < 100 + 2 * CELLS; tid++)
		sample_of(&p, &tasks, task_get(&tasks, tid, tid));
	assert_true(p.nameless > 0);
	profile_deinit(&p);
	task_table_deinit(&tasks);
}

/* Until another task gets its number a task that has exited keeps its name and its samples. */
static void samples_after_the_exit_are_the_task_s(void **state)
{
	struct asked *w = *state;
	struct synth *s;

	rig_init(&w->rig, 2);
	s = w->rig.synth;
	synth_profile(s);
	synth_comm(s, 0, START, 50, 50, "first");
	sample(w, 0, 1, 50, 50, NULL, 0, CODE);
	synth_exit(s, 0, START + 2 * MS, 50, 50);
	sample(w, 0, 3, 50, 50, NULL, 0, CODE);
	/* perf writes one for each event. */
	synth_exit(s, 0, START + 4 * MS, 50, 50);
	sample(w, 1, 5, 50, 50, NULL, 0, CODE);
	synth_fork(s, 0, START + 6 * MS, 50, 50, 60, 60);
	sample(w, 0, 7, 50, 50, NULL, 0, CODE);
	synth_comm(s, 0, START + 8 * MS, 50, 50, "second");
	synth_exit(s, 0, START + 9 * MS, 50, 50);
	sample(w, 0, 10, 50, 50, NULL, 0, CODE);
	/* Another process has the number: its FORK was lost, and its name is not known. */
	sample(w, 0, 11, 70, 50, NULL, 0, CODE);
	synth_tick(s, START + 100 * MS);
	asked_play(w, NULL);
	struct table t = hot(w, HOT_TASK, false);
	assert_int_equal(t.n_rows, 3);
	assert_int_equal(cell_u(&t, row_of(&t, "task", "first"), "samples"), 3);
	assert_int_equal(cell_u(&t, row_of(&t, "task", "second"), "samples"), 2);
	for (size_t i = 0; i < t.n_rows; i++)
		assert_int_equal(cell_u(&t, i, "pid") == 70, cell_u(&t, i, "samples") == 1);
}

enum { COOKIE = 77 };
#define DEFERRED ((uint64_t)-640) /* PERF_CONTEXT_USER_DEFERRED */
#define USER ((uint64_t)-512)	  /* PERF_CONTEXT_USER */
#define KERNEL (UINT64_MAX << 40)

static int sample_deferred(struct profile *p, int tid, uint64_t cookie, uint64_t function)
{
	const uint64_t frames[] = {(uint64_t)-128, function, DEFERRED, cookie};
	struct event ev = {.kind = EVENT_SAMPLE, .pid = 1, .tid = tid};

	ev.sample.ip = function;
	ev.sample.period = 10;
	ev.sample.frames = frames;
	ev.sample.n_frames = 4;
	return profile_sample(p, &ev, NULL, (uint32_t)tid);
}

static int give_user_part(struct profile *p, int tid, uint64_t cookie)
{
	const uint64_t frames[] = {USER, CODE, CODE + 9};
	struct event ev = {.kind = EVENT_DEFERRED, .pid = 1, .tid = tid};

	ev.deferred.cookie = cookie;
	ev.deferred.frames = frames;
	ev.deferred.n_frames = 3;
	return profile_deferred(p, &ev);
}

/* How many samples have chains of @n frames, by their cells. */
static uint64_t with_frames(const struct profile *p, uint32_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += p->stacks.stacks[p->cells[i].stack].n == n ? p->cells[i].n : 0;
	return sum;
}

/* Samples move to their whole chains; cells are used again, and the last minute has the same. */
static void user_parts_may_come_later(void **state)
{
	enum { ROUNDS = 1000 };
	struct profile p, copy;

	(void)state;
	assert_int_equal(profile_init(&p), 0);
	p.recent.max = 1 << 16;
	for (uint64_t i = 0; i < ROUNDS; i++) {
		assert_int_equal(sample_deferred(&p, 1, i + 1, KERNEL), 0);
		assert_int_equal(sample_deferred(&p, 2, i + 1, KERNEL + 8), 0);
		assert_int_equal(with_frames(&p, 2), 2);
		assert_int_equal(give_user_part(&p, 1, i + 1), 0);
		assert_int_equal(give_user_part(&p, 2, i + 1), 0);
		/* Nothing waits for these: another cookie, again, another task. */
		assert_int_equal(give_user_part(&p, 1, i + 1), 0);
		assert_int_equal(give_user_part(&p, 3, i + 1), 0);
	}
	assert_int_equal(p.samples, 2 * ROUNDS);
	assert_int_equal(with_frames(&p, 3), 2 * ROUNDS);
	assert_true(p.n <= 4);
	/* The copy goes on by itself. */
	assert_int_equal(sample_deferred(&p, 1, COOKIE, KERNEL), 0);
	assert_int_equal(profile_copy(&copy, &p), 0);
	assert_int_equal(give_user_part(&copy, 1, COOKIE), 0);
	assert_int_equal(with_frames(&copy, 3), 2 * ROUNDS + 1);
	assert_int_equal(with_frames(&p, 3), 2 * ROUNDS);
	profile_tick(&p, 0, 100);
	/* The record of a sample that was forgotten changes nothing. */
	profile_zero(&p);
	assert_int_equal(give_user_part(&p, 1, COOKIE), 0);
	assert_int_equal(p.n, 0);
	profile_deinit(&p);
	profile_deinit(&copy);
	assert_int_equal(mem_live(), 0);
}

static int deferred_and_copy(struct profile *p, struct profile *copy)
{
	int r = profile_init(p);

	r = r ? r : sample_deferred(p, 1, COOKIE, KERNEL);
	r = r ? r : sample_deferred(p, 1, COOKIE, KERNEL);
	r = r ? r : give_user_part(p, 1, COOKIE);
	r = r ? r : sample_deferred(p, 2, COOKIE, KERNEL);
	return r ? r : profile_copy(copy, p);
}

static void user_parts_may_lack_memory(void **state)
{
	long live = mem_live();
	int r = -1;

	(void)state;
	for (long n = 0; r; n++) {
		struct profile p = {0}, copy = {0};
		mem_fail_after(n);
		r = deferred_and_copy(&p, &copy);
		mem_fail_after(-1);
		uint64_t sum = 0;
		for (size_t i = 0; i < p.n; i++)
			sum += p.cells[i].n;
		assert_true(sum <= 3 && (r || sum == 3));
		profile_deinit(&p);
		profile_deinit(&copy);
		assert_int_equal(mem_live(), live);
	}
}

static int sample_and_copy(struct profile *p, struct profile *copy)
{
	uint64_t frames[] = {1ull << 63, (1ull << 63) + 9};
	struct event ev = {.kind = EVENT_SAMPLE, .pid = 1, .tid = 1};
	int r = profile_init(p);

	ev.sample.frames = frames;
	ev.sample.n_frames = 2;
	r = r ? r : profile_sample(p, &ev, NULL, 1);
	return r ? r : profile_copy(copy, p);
}

static void every_allocation_may_fail(void **state)
{
	long live = mem_live();

	(void)state;
	for (long n = 0;; n++) {
		struct profile p = {0}, copy = {0};
		mem_fail_after(n);
		int r = sample_and_copy(&p, &copy);
		mem_fail_after(-1);
		if (r == 0) {
			assert_int_equal(copy.samples, 1);
			assert_int_equal(copy.cells[0].n, 1);
		}
		profile_deinit(&p);
		profile_deinit(&copy);
		assert_int_equal(mem_live(), live);
		if (r == 0 && n > 20)
			break;
	}
}

static void groups_are_those_of_the_kernel_s_parts(void **state)
{
	enum path_group g;

	(void)state;
	assert_int_equal(pathgroup_of("osq_lock"), PATH_LOCK);
	assert_int_equal(pathgroup_of("__pv_queued_spin_lock_slowpath"), PATH_SPINLOCK);
	assert_int_equal(pathgroup_of("down_read_trylock"), PATH_RWSEM);
	assert_int_equal(pathgroup_of("percpu_down_write"), PATH_PERCPU_RWSEM);
	assert_int_equal(pathgroup_of("__perf_event_task_sched_out"), PATH_PERF);
	assert_int_equal(pathgroup_of("task_bp_pinned.isra.0"), PATH_BREAKPOINT);
	assert_int_equal(pathgroup_of("xol_take_insn_slot"), PATH_UPROBE);
	assert_int_equal(pathgroup_of("vfs_read"), PATH_NONE);
	for (int i = PATH_IRQ_OFF; i < PATH_GROUPS; i++) {
		assert_int_equal(pathgroup_parse(pathgroup_name((enum path_group)i), &g), 0);
		assert_int_equal(g, i);
	}
	assert_true(pathgroup_parse("nothing", &g) < 0);
	assert_true(pathgroup_allows_irqs("_raw_spin_unlock_irqrestore"));
	assert_true(pathgroup_allows_irqs("_raw_write_unlock_irq"));
	assert_false(pathgroup_allows_irqs("_raw_spin_unlock"));
}

#define ON_STREAM(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STREAM(samples_are_summed_by_anything),
		ON_STREAM(chains_of_many_functions_stay_apart),
		ON_STREAM(a_row_can_be_zoomed_into),
		ON_STREAM(what_cannot_be_zoomed_into_is_said),
		ON_STREAM(what_is_waited_below_stands_beside_it),
		ON_STREAM(a_chain_ends_before_address_zero),
		ON_STREAM(an_exec_begins_with_nothing_mapped),
		ON_STREAM(nothing_sampled_is_said),
		ON_STREAM(samples_after_the_exit_are_the_task_s),
		cmocka_unit_test(outer_frames_go_first),
		cmocka_unit_test(chains_seen_last_stay_whole),
		cmocka_unit_test(names_of_ended_tasks_go_before_those_of_living_ones),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(user_parts_may_come_later),
		cmocka_unit_test(user_parts_may_lack_memory),
		cmocka_unit_test(groups_are_those_of_the_kernel_s_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
