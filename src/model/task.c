// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks. by_tid knows the living task of each tid; a FORK of a tid that is still there means that
 * its EXIT was missed: the old task is taken as dead and a new one begins, with a serial number of
 * its own, so that waits of the two never mix. A child starts with its parent's comm and cgroup.
 * Exited tasks stay as long as cells name them; task_sweep() frees the rest. The kernel writes EXIT
 * before the task has left it: samples and waits may come after that, until the tid is used again.
 */
#include "kontend/task.h"
#include "kontend/mem.h"
#include "kontend/oldest.h"
#include "kontend/taskid.h"
#include <errno.h>

struct task_names *task_names_new(void)
{
	struct task_names *names = mem_calloc(1, sizeof(*names));

	if (names)
		names->refs = 1;
	return names;
}

struct task_names *task_names_ref(struct task_names *names)
{
	names->refs++;
	return names;
}

void task_names_unref(struct task_names *names)
{
	while (names && !--names->refs) {
		struct task_names *before = names->before;

		strpool_deinit(&names->pool);
		mem_free(names);
		names = before;
	}
}

int task_table_init(struct task_table *t, uint32_t max)
{
	*t = (struct task_table){.max = max, .n = 1, .cap = 64, .next_serial = 1};
	t->tasks = mem_calloc(t->cap, sizeof(*t->tasks));
	t->names = task_names_new();
	if (!t->tasks || !t->names) {
		mem_free(t->tasks);
		mem_free(t->names);
		*t = (struct task_table){0};
		return -ENOMEM;
	}
	t->tasks[TASK_OTHER] = (struct task){.pid = -1, .tid = -1, .comm = "other"};
	return 0;
}

int task_table_copy(struct task_table *dst, const struct task_table *src)
{
	*dst = *src;
	task_names_ref(dst->names);
	dst->by_tid = dst->exited = dst->threads = dst->cgroups = (struct map64){0};
	dst->cap = src->n;
	dst->tasks = mem_dup(src->tasks, src->n, sizeof(*src->tasks));
	dst->cap_cgroups = src->n_cgroups;
	dst->cgroup_paths = mem_dup(src->cgroup_paths, src->n_cgroups, sizeof(*src->cgroup_paths));
	int r = map64_copy(&dst->by_tid, &src->by_tid);
	if (!r)
		r = map64_copy(&dst->exited, &src->exited);
	if (!r)
		r = map64_copy(&dst->threads, &src->threads);
	if (!r)
		r = map64_copy(&dst->cgroups, &src->cgroups);
	if (!r && dst->tasks && (dst->cgroup_paths || !src->cgroup_paths))
		return 0;
	task_table_deinit(dst);
	return -ENOMEM;
}

void task_table_deinit(struct task_table *t)
{
	mem_free(t->tasks);
	mem_free(t->cgroup_paths);
	map64_deinit(&t->by_tid);
	map64_deinit(&t->exited);
	map64_deinit(&t->threads);
	map64_deinit(&t->cgroups);
	task_names_unref(t->names);
	*t = (struct task_table){0};
}

static uint32_t free_index(struct task_table *t)
{
	if (t->free) {
		uint32_t index = t->free;
		t->free = t->tasks[index].serial;
		return index;
	}
	if (t->n >= t->max || mem_grow(&t->tasks, &t->cap, t->n, sizeof(*t->tasks)))
		return TASK_OTHER;
	return (uint32_t)t->n++;
}

static int32_t *ended_at(struct task_table *t, int32_t tid)
{
	return &t->ended[(uint32_t)tid % TASK_ENDED_KEPT];
}

/* Without memory, a process counts as ended when its leader has. */
static void count_thread(struct task_table *t, const struct task *task, int by)
{
	const uint32_t *known = map64_get(&t->threads, (uint32_t)task->pid);
	uint32_t n = known ? *known : 0;

	if (task->pid <= 0 || task->tid <= 0 || task->tid == task->pid || task->alive != 1)
		return;
	if (by < 0 && n <= 1)
		map64_del(&t->threads, (uint32_t)task->pid);
	else
		(void)map64_put(&t->threads, (uint32_t)task->pid, by < 0 ? n - 1 : n + 1);
}

static uint32_t add_task(struct task_table *t, int32_t pid, int32_t tid, uint64_t start_ns,
			 uint8_t alive)
{
	uint32_t index = free_index(t);

	if (index == TASK_OTHER)
		return TASK_OTHER;
	if (*ended_at(t, tid) == tid)
		*ended_at(t, tid) = 0;
	t->tasks[index] = (struct task){.pid = pid,
					.tid = tid,
					.alive = alive,
					.comm = "",
					.serial = t->next_serial++,
					.start_ns = start_ns};
	if (map64_put(&t->by_tid, (uint32_t)tid, index)) {
		t->tasks[index] = (struct task){.serial = t->free};
		t->free = index;
		return TASK_OTHER;
	}
	map64_del(&t->exited, (uint32_t)tid);
	count_thread(t, &t->tasks[index], 1);
	return index;
}

/* The last task with this number, which has exited; TASK_OTHER: none, or of another process. */
static uint32_t find_exited(const struct task_table *t, int32_t pid, int32_t tid)
{
	const uint32_t *known = map64_get(&t->exited, (uint32_t)tid);

	return known && (pid < 0 || t->tasks[*known].pid == pid) ? *known : TASK_OTHER;
}

/* A task that no record announced. One that has exited goes on under its name. */
static uint32_t add_unknown(struct task_table *t, int32_t pid, int32_t tid)
{
	uint32_t before = find_exited(t, pid, tid);
	uint32_t index = add_task(t, pid, tid, 0, before ? TASK_AGAIN : 1);

	if (index && before) {
		t->tasks[index].comm = t->tasks[before].comm;
		t->tasks[index].pid = t->tasks[before].pid;
		t->tasks[index].cgroup = t->tasks[before].cgroup;
	}
	return index;
}

uint32_t task_get(struct task_table *t, int32_t pid, int32_t tid)
{
	const uint32_t *known = map64_get(&t->by_tid, (uint32_t)tid);
	uint32_t index = known ? *known : add_unknown(t, pid, tid);

	if (index && t->tasks[index].pid < 0 && pid >= 0) {
		t->tasks[index].pid = pid;
		count_thread(t, &t->tasks[index], 1);
	}
	if (index && !*t->tasks[index].comm)
		t->tasks[index].comm = !tid		       ? "swapper"
				       : tid == TASKID_OUTSIDE ? "idle-or-outside"
							       : "";
	return index;
}

uint32_t task_get_sampled(struct task_table *t, int32_t pid, int32_t tid)
{
	const uint32_t *known = map64_get(&t->by_tid, (uint32_t)tid);
	uint32_t exited = known || !tid ? TASK_OTHER : find_exited(t, pid, tid);

	if (known && t->tasks[*known].pid >= 0 && tid)
		return *known;
	return exited ? exited : task_get(t, pid, tid);
}

bool task_has_ended(const struct task_table *t, int32_t tid)
{
	return tid && t->ended[(uint32_t)tid % TASK_ENDED_KEPT] == tid;
}

uint32_t task_get_holder(struct task_table *t, int32_t pid, int32_t tid)
{
	return task_has_ended(t, tid) ? TASK_OTHER : task_get_quickly(t, pid, tid);
}

int task_comm(struct task_table *t, const struct event *ev)
{
	uint32_t index = task_get(t, ev->pid, ev->tid);
	const char *name = strpool_intern(&t->names->pool, ev->comm.name);

	if (!name)
		return -ENOMEM;
	if (!index)
		return 0;
	t->tasks[index].comm = name;
	/* Samples do not name the process of a thread outside of the namespace. */
	if (taskid_is_outside(ev->tid))
		t->tasks[index].pid = ev->pid;
	if (ev->comm.exec)
		t->tasks[index].mm_ns = ev->time;
	return 0;
}

int task_name(struct task_table *t, uint32_t index, const char *comm)
{
	if (*t->tasks[index].comm)
		return 0;
	const char *name = strpool_intern(&t->names->pool, comm);

	if (!name)
		return -ENOMEM;
	t->tasks[index].comm = name;
	return 0;
}

int task_fork(struct task_table *t, const struct event *ev)
{
	const uint32_t *old = map64_get(&t->by_tid, (uint32_t)ev->tid);

	if (old)
		task_end(t, *old, ev->time);
	uint32_t index = add_task(t, ev->pid, ev->tid, ev->time, 1);
	/* 0: one outside of our PID namespace has begun it. */
	const uint32_t *parent =
		ev->fork.ptid ? map64_get(&t->by_tid, (uint32_t)ev->fork.ptid) : NULL;
	if (!index)
		return 0;
	t->tasks[index].mm_ns = ev->time;
	if (parent) {
		t->tasks[index].comm = t->tasks[*parent].comm;
		t->tasks[index].cgroup = t->tasks[*parent].cgroup;
	}
	return 0;
}

void task_end(struct task_table *t, uint32_t index, uint64_t time_ns)
{
	struct task *task = &t->tasks[index];

	map64_del(&t->by_tid, (uint32_t)task->tid);
	count_thread(t, task, -1);
	task->alive = 0;
	task->exit_ns = time_ns;
	*ended_at(t, task->tid) = task->tid;
	/* Without memory, later samples of it are of a task without a name. */
	map64_put(&t->exited, (uint32_t)task->tid, index);
	t->n_ended++;
}

void task_lost(struct task_table *t)
{
	if (t->threads.count)
		map64_clear(&t->threads);
}

bool task_process_has_ended(const struct task_table *t, int32_t pid)
{
	return map64_get(&t->exited, (uint32_t)pid) && !map64_get(&t->threads, (uint32_t)pid);
}

const char *task_exited_comm(const struct task_table *t, int32_t tid)
{
	uint32_t index = find_exited(t, -1, tid);

	return index ? t->tasks[index].comm : NULL;
}

static void forget_exited(struct task_table *t, uint32_t index)
{
	const uint32_t *known = map64_get(&t->exited, (uint32_t)t->tasks[index].tid);

	if (known && *known == index)
		map64_del(&t->exited, (uint32_t)t->tasks[index].tid);
}

void task_sweep(struct task_table *t)
{
	for (uint32_t i = 1; i < t->n; i++) {
		struct task *task = &t->tasks[i];
		if (!task->alive && !task->marked && task->comm) {
			forget_exited(t, i);
			*task = (struct task){.serial = t->free};
			t->free = i;
			t->n_ended--;
		}
		task->marked = 0;
	}
}

static uint64_t age(const void *ctx, const void *item)
{
	const struct task *t = item;

	(void)ctx;
	return !t->alive && t->comm ? t->exit_ns : 0;
}

uint64_t task_older_half(const struct task_table *t)
{
	return oldest_until(t->tasks, t->n, sizeof(*t->tasks), age, NULL, (t->n_ended + 1) / 2);
}

static int move(struct task_names *to, const char **text)
{
	/* An empty one may be of the pool, too. */
	const char *new = !*text ? NULL : **text ? strpool_intern(&to->pool, *text) : "";

	if (*text && !new)
		return -ENOMEM;
	*text = new;
	return 0;
}

int task_names_move(struct task_names *to, const char **texts[], size_t n)
{
	int code = 0;

	for (size_t i = 0; i < n; i++)
		code = move(to, texts[i]) < 0 ? -ENOMEM : code;
	return code;
}

int task_names_renew(struct task_table *t, struct task_names *to)
{
	int code = 0;

	for (uint32_t i = 1; i < t->n; i++)
		code = move(to, &t->tasks[i].comm) < 0 ? -ENOMEM : code;
	for (size_t i = 0; i < t->n_cgroups; i++)
		code = move(to, &t->cgroup_paths[i]) < 0 ? -ENOMEM : code;
	return code;
}

int task_cgroup_name(struct task_table *t, uint64_t id, const char *path)
{
	const uint32_t *known = map64_get(&t->cgroups, id);
	const char *name = strpool_intern(&t->names->pool, path);

	if (!name)
		return -ENOMEM;
	if (known) {
		t->cgroup_paths[*known] = name;
		return 0;
	}
	if (mem_grow(&t->cgroup_paths, &t->cap_cgroups, t->n_cgroups, sizeof(*t->cgroup_paths)) ||
	    map64_put(&t->cgroups, id, (uint32_t)t->n_cgroups))
		return -ENOMEM;
	t->cgroup_paths[t->n_cgroups++] = name;
	return 0;
}

const char *task_cgroup_path(const struct task_table *t, uint64_t id)
{
	const uint32_t *index = map64_get(&t->cgroups, id);

	return index ? t->cgroup_paths[*index] : NULL;
}
