// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session beside ever new processes: the memory for ended ones is bounded, the oldest go first,
 * sums stay what they were, and living tasks keep everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/profile.h"
#include "kontend/query-hot.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "synth-profile.h"

#include <stdio.h>
#include <string.h>

enum { TASKS = 512, CPUS = 4, IMMORTAL = 7, FIRST = 1000, PAGE = 4096 };
#define CODE 0x400000ull
#define MEMORY 0x700000000000ull
#define KERNEL (1ull << 63)
#define LOCK 0xffff888000001000ull

/* The input of the model. */
struct world {
	struct model m;
	uint64_t t, waits, wait_ns, samples, of_cpu[CPUS];
};

static int apply(struct world *w, struct event ev)
{
	ev.time = w->t += 10;
	return model_apply(&w->m, &ev);
}

static int wait_once(struct world *w, int tid, uint32_t cpu, uint64_t lock, uint64_t ns)
{
	const uint64_t chain[] = {KERNEL | 0x1000, KERNEL | 0x2000};
	struct event ev = {.kind = EVENT_CONTENTION_BEGIN, .pid = tid, .tid = tid, .cpu = cpu};

	ev.begin.lock = lock;
	ev.begin.frames = chain;
	ev.begin.n_frames = 2;
	ev.begin.flags = 1 << 3; /* a sleeping one: mutex-like */
	int r = apply(w, ev);
	ev = (struct event){.kind = EVENT_CONTENTION_END, .pid = tid, .tid = tid, .cpu = cpu};
	ev.end.lock = lock;
	w->t += ns - 10;
	w->waits++;
	w->wait_ns += ns;
	w->of_cpu[cpu]++;
	return r ? r : apply(w, ev);
}

static int map_at(struct world *w, int pid, uint64_t start, const char *path, uint64_t ino)
{
	struct event ev = {.kind = EVENT_MMAP, .pid = pid, .tid = pid};

	ev.mmap.start = start;
	ev.mmap.len = PAGE;
	ev.mmap.path = path;
	ev.mmap.ino = ino;
	return apply(w, ev);
}

/* Below one of three kernel functions, so that its sum can be identified. */
static int sample(struct world *w, int pid, uint32_t cpu, uint64_t user)
{
	const uint64_t frames[] = {KERNEL | (0x5000 + w->samples % 3), PERF_CONTEXT_USER, user,
				   CODE + 16};
	struct event ev = {.kind = EVENT_SAMPLE, .pid = pid, .tid = pid, .cpu = cpu};

	ev.sample.ip = frames[0];
	ev.sample.frames = frames;
	ev.sample.n_frames = 4;
	ev.sample.period = 1;
	w->samples++;
	return apply(w, ev);
}

static int be_born(struct world *w, int pid, const char *name)
{
	struct event ev = {.kind = EVENT_FORK, .pid = pid, .tid = pid};

	ev.fork.ppid = ev.fork.ptid = 1;
	int r = apply(w, ev);
	ev = (struct event){.kind = EVENT_COMM, .pid = pid, .tid = pid};
	ev.comm.name = name;
	ev.comm.exec = true;
	return r ? r : apply(w, ev);
}

static int die(struct world *w, int pid)
{
	return apply(w, (struct event){.kind = EVENT_EXIT, .pid = pid, .tid = pid});
}

/* Number @n of them: a name, a program and memory of its own, a lock of its own and a shared one.
 */
static int live_and_die(struct world *w, int n)
{
	int pid = FIRST + n;
	char name[24], path[32];

	snprintf(name, sizeof(name), "mortal-%d", n);
	snprintf(path, sizeof(path), "/tmp/mortal-%d", n);
	int r = be_born(w, pid, name);
	r = r ? r : map_at(w, pid, CODE, path, 100 + (uint64_t)n);
	r = r ? r : map_at(w, pid, MEMORY, "//anon", 0);
	r = r ? r : sample(w, pid, (uint32_t)n % CPUS, MEMORY + 64);
	r = r ? r : wait_once(w, pid, (uint32_t)n % CPUS, LOCK, 1000);
	r = r ? r : wait_once(w, pid, (uint32_t)n % CPUS, LOCK + 0x1000 + 64 * (uint64_t)n, 500);
	r = r ? r : wait_once(w, IMMORTAL, 0, LOCK, 2000);
	r = r ? r : sample(w, IMMORTAL, 1, CODE + 32);
	return r ? r : die(w, pid);
}

static int begin(struct world *w)
{
	const struct model_limits limits = {4096, 4096, TASKS, 16384, 4096, .held = 512};
	int r = model_init(&w->m, &limits);

	if (r)
		return r;
	w->t = 1000000;
	w->m.profile->spaces.forget_at = 300;
	r = be_born(w, IMMORTAL, "immortal");
	return r ? r : map_at(w, IMMORTAL, CODE, "/bin/immortal", 5);
}

static void pass(struct world *w, int from, int to)
{
	for (int n = from; n < to; n++)
		assert_int_equal(live_and_die(w, n), 0);
}

static void check_sums(const struct world *w)
{
	uint64_t waits = 0, ns = 0, samples = 0, of_cpu[CPUS] = {0}, leaf[3] = {0};
	const struct profile *p = w->m.profile;

	for (size_t i = 0; i < w->m.cells->n; i++) {
		waits += cell_n(w->m.cells, &w->m.cells->cells[i]);
		ns += w->m.cells->cells[i].total_ns;
		of_cpu[w->m.cells->cells[i].cpu] += cell_n(w->m.cells, &w->m.cells->cells[i]);
	}
	assert_int_equal(waits, w->waits);
	assert_int_equal(ns, w->wait_ns);
	assert_memory_equal(of_cpu, w->of_cpu, sizeof(of_cpu));
	for (size_t i = 0; i < p->n; i++) {
		samples += p->cells[i].n;
		leaf[stack_frames(&p->stacks, p->cells[i].stack)[0] - (KERNEL | 0x5000)] +=
			p->cells[i].n;
	}
	assert_int_equal(samples, w->samples);
	for (unsigned i = 0; i < 3; i++)
		assert_in_range(leaf[i], w->samples / 3, w->samples / 3 + 1);
}

/* A living task, and the one that ended last. */
static void check_names(const struct world *w, int last, int n_kept)
{
	const struct task_table *t = w->m.tasks;
	const uint32_t *at = map64_get(&t->by_tid, IMMORTAL);
	uint64_t waits = 0, by_lock = 0;
	int kept = 0;

	uint32_t immortal = at ? *at : TASK_OTHER;
	assert_string_equal(t->tasks[immortal].comm, "immortal");
	for (size_t i = 0; i < w->m.cells->n; i++) {
		const struct cell *c = &w->m.cells->cells[i];
		uint64_t n = cell_n(w->m.cells, c);
		waits += c->task == immortal ? n : 0;
		/* The shared lock is named with each of them. */
		by_lock += w->m.locks->locks[c->lock].addr == LOCK ? n : 0;
	}
	assert_int_equal(waits, w->waits / 3);
	assert_int_equal(by_lock, w->waits / 3 * 2);
	for (uint32_t i = 1; i < t->n; i++) {
		char name[24];
		int n = t->tasks[i].tid - FIRST;
		snprintf(name, sizeof(name), "mortal-%d", n);
		if (!t->tasks[i].comm || n < 0)
			continue;
		assert_string_equal(t->tasks[i].comm, name);
		kept += n > last - n_kept;
	}
	assert_int_equal(kept, n_kept);
	const struct map_space *space = map_spaces_of(&w->m.profile->spaces, IMMORTAL);
	const struct map_object *o = map_object_get(w->m.profile->spaces.objects,
						    map_frame_object(map_space_frame(space, CODE)));
	assert_string_equal(o->path, "/bin/immortal");
}

static void what_has_ended_is_bounded(void **state)
{
	enum { SOME = 20000, MANY = 60000 };
	struct world w = {0};

	(void)state;
	assert_int_equal(begin(&w), 0);
	uint64_t frame = map_space_frame(map_spaces_of(&w.m.profile->spaces, IMMORTAL), CODE);
	pass(&w, 0, SOME);
	size_t some = model_bytes(&w.m), most = some;
	for (int n = SOME; n < MANY; n++) {
		assert_int_equal(live_and_die(&w, n), 0);
		most = model_bytes(&w.m) > most ? model_bytes(&w.m) : most;
	}
	check_sums(&w);
	check_names(&w, MANY - 1, TASKS / 4);
	assert_in_range(most, some / 2, some * 2);
	assert_true(w.m.tasks->n <= TASKS && w.m.damage->folded > 0 && w.m.profile->ended > 0);
	assert_int_equal(w.m.profile->spaces.dropped, 0);
	/* Numbers are given again, but not that of who lives. */
	assert_true(w.m.profile->spaces.objects->again > 0);
	assert_int_equal(map_space_frame(map_spaces_of(&w.m.profile->spaces, IMMORTAL), CODE),
			 frame);
	model_deinit(&w.m);
}

/* A checkpoint keeps what it has, and goes on to the same. */
/* A task without a name outlives others twice: names move to a new pool each time. */
static void an_empty_name_moves_like_others(void **state)
{
	struct world w = {0};
	const uint32_t *task;

	(void)state;
	assert_int_equal(begin(&w), 0);
	assert_int_equal(be_born(&w, 7, ""), 0);
	pass(&w, 0, 20000);
	task = map64_get(&w.m.tasks->by_tid, 7);
	assert_string_equal(task ? w.m.tasks->tasks[*task].comm : "no task", "");
	model_deinit(&w.m);
}

static void a_copy_has_its_own(void **state)
{
	struct world w = {0}, copy;
	enum { SOME = 1000, MANY = 5000 };

	(void)state;
	assert_int_equal(begin(&w), 0);
	pass(&w, 0, SOME);
	copy = w;
	assert_int_equal(model_copy(&copy.m, &w.m), 0);
	pass(&w, SOME, MANY);
	check_sums(&copy);
	check_names(&copy, SOME - 1, TASKS / 4);
	pass(&copy, SOME, MANY);
	check_sums(&copy);
	check_names(&copy, MANY - 1, TASKS / 4);
	assert_int_equal(copy.m.cells->n, w.m.cells->n);
	assert_int_equal(copy.m.profile->n, w.m.profile->n);
	assert_int_equal(copy.m.damage->folded, w.m.damage->folded);
	model_deinit(&w.m);
	check_names(&copy, MANY - 1, TASKS / 4);
	model_deinit(&copy.m);
}

/* Names of an answer are held until the next frame, whatever the model forgets meanwhile. */
static void answers_outlive_names(void **state)
{
	struct query_hot_spec by = {.by = HOT_TASK};
	struct asked *a = *state;
	struct world w = {0};
	struct error err = {0};
	struct table tasks, objects;
	size_t mortals = 0;

	assert_int_equal(begin(&w), 0);
	pass(&w, 0, 100);
	a->q.model = &w.m;
	query_begin(&a->q);
	assert_int_equal(query_hot(&a->q, &by, &tasks, &err), 0);
	by.by = HOT_OBJECT;
	assert_int_equal(query_hot(&a->q, &by, &objects, &err), 0);
	pass(&w, 100, 3000);
	for (size_t i = 0; i < tasks.n_rows; i++)
		mortals += strncmp(cell_s(&tasks, i, "task"), "mortal-", 7) == 0;
	assert_int_equal(mortals, 100);
	assert_string_equal(cell_s(&objects, 0, "object"), "[kernel]");
	query_begin(&a->q);
	assert_int_equal(query_hot(&a->q, &by, &objects, &err), 0);
	query_deinit(&a->q);
	a->q.model = NULL;
	model_deinit(&w.m);
}

static void every_allocation_may_fail(void **state)
{
	enum { MANY = 400 };
	long live = mem_live();
	int r = -1;

	(void)state;
	for (long n = 0; r != 0; n += n < 200 ? 1 : 37) {
		struct world w = {0};
		mem_fail_after(n);
		r = begin(&w);
		for (int i = 0; r == 0 && i < MANY; i++)
			r = live_and_die(&w, i);
		mem_fail_after(-1);
		if (w.m.tasks)
			model_deinit(&w.m);
		assert_int_equal(mem_live(), live);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_ended_is_bounded),
		cmocka_unit_test(an_empty_name_moves_like_others),
		cmocka_unit_test(a_copy_has_its_own),
		cmocka_unit_test_setup_teardown(answers_outlive_names, asked_setup, asked_teardown),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
