// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the program that counts the sleeping tasks among the measured ones. A map has the processes
 * and threads, a number the cgroup. In a PID namespace the iterator shows only its tasks.
 */
#include "bpf-run.h"
#include "internal.h"
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/target.h"
#include "sleepers-shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const char sleepers_object[], sleepers_object_end[];

/* A task that has slept in a futex for longer is idle; with a timeout, as in a loop that polls. */
#define LONG_NS 10000000000ull
#define TIMED_NS 10000000ull

/* Numbers that older headers lack; they are the same on all architectures. */
enum { FUTEX_WAITV = 449, FUTEX_WAIT = 455, NO_CALL = -1 };

struct sleepers {
	struct bpf_object *object;
	struct bpf_link *find;
	struct raw_sleepers_state *state;
	const struct raw_sleepers *rows;
	uint64_t *cpus;
	int ids; /* descriptor of the map */
	bool reported;
};

static int map_arrays(struct sleepers *s, struct error *err)
{
	const int rw = PROT_READ | PROT_WRITE;

	s->state = bpf_run_map(s->object, ".bss", sizeof(*s->state), rw, err);
	s->rows =
		bpf_run_map(s->object, "sleepers", RAW_SLEEPERS * sizeof(*s->rows), PROT_READ, err);
	s->cpus = bpf_run_map(s->object, "cpus", RAW_SLEEPER_CPUS * sizeof(*s->cpus), rw, err);
	s->ids = bpf_object__find_map_fd_by_name(s->object, "ids");
	if (s->ids < 0)
		return error_set(err, -ENOENT, "The BPF object has no map ids");
	return s->state && s->rows && s->cpus ? 0 : err->code;
}

static int load(struct sleepers *s, struct kerntypes *types, struct error *err)
{
	struct raw_sleepers_config config = {
		.futex = SYS_futex,
		.futex_wait = FUTEX_WAIT,
		.futex_waitv = FUTEX_WAITV,
		.flock = SYS_flock,
		.fcntl = SYS_fcntl,
		.self = (unsigned int)getpid(),
	};
	struct bpf_run_file f = {
		.bytes = sleepers_object,
		.len = (size_t)(sleepers_object_end - sleepers_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};
	int code = ns_own(&config.ns, types, err);

	code = code < 0 ? code : bpf_run_load(&s->object, &f, err);
	code = code < 0 ? code : map_arrays(s, err);
	if (code < 0)
		return code;
	s->state->long_ns = LONG_NS;
	s->state->timed_ns = TIMED_NS;
	s->find = bpf_run_iterator(s->object, "find_sleepers", err);
	return s->find ? 0 : err->code;
}

int sleepers_new(struct sleepers **ret, struct kerntypes *types, struct error *err)
{
	struct sleepers *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return error_enomem(err, "counting sleeping tasks");
	int code = load(s, types, err);
	if (code < 0) {
		sleepers_free(s);
		return code;
	}
	*ret = s;
	return 0;
}

static int report_id(struct sleepers *s, uint32_t id, struct error *err)
{
	const uint32_t yes = 1;

	return bpf_map_update_elem(s->ids, &id, &yes, BPF_ANY) < 0
		       ? error_errno(err, -errno, "Cannot pass task %u to BPF", id)
		       : 0;
}

static int report_ids(struct sleepers *s, const struct target *t, int child, struct error *err)
{
	int code = 0;

	if (t->kind == TARGET_COMMAND)
		return child ? report_id(s, (uint32_t)child, err)
			     : error_set(err, -EAGAIN, "the command has not begun yet");
	if (t->n_ids > RAW_SLEEPER_IDS)
		return error_set(err, -E2BIG, "more than %d processes or threads are measured",
				 RAW_SLEEPER_IDS);
	for (size_t i = 0; code == 0 && i < t->n_ids; i++)
		code = report_id(s, (uint32_t)t->ids[i], err);
	return code;
}

static int report_cpus(struct sleepers *s, const struct target *t, struct error *err)
{
	s->state->by_cpu = t->n_cpus > 0;
	for (size_t i = 0; i < t->n_cpus; i++) {
		if (t->cpus[i] >= RAW_SLEEPER_CPUS)
			return error_set(err, -E2BIG, "CPU %u is beyond the first %d", t->cpus[i],
					 RAW_SLEEPER_CPUS);
		s->cpus[t->cpus[i]] = 1;
	}
	return 0;
}

/* Once: the target does not change. */
static int report_target(struct sleepers *s, const struct target *t, int child, struct error *err)
{
	static const enum raw_sleeper_scope scopes[] = {
		[TARGET_SYSTEM] = RAW_SCOPE_ALL,   [TARGET_PIDS] = RAW_SCOPE_PIDS,
		[TARGET_TIDS] = RAW_SCOPE_TIDS,	   [TARGET_CGROUP] = RAW_SCOPE_CGROUP,
		[TARGET_COMMAND] = RAW_SCOPE_PIDS,
	};
	int code = 0;

	if (s->reported || !t)
		return 0;
	if (t->kind == TARGET_CGROUP)
		code = cgroup_id(t->cgroup, &s->state->cgroup, err);
	else
		code = report_ids(s, t, child, err);
	code = code < 0 ? code : report_cpus(s, t, err);
	s->state->scope = scopes[t->kind];
	s->state->since_ns = clock_now_ns();
	s->reported = code == 0;
	return code;
}

static int by_process(const void *a, const void *b)
{
	const struct raw_sleepers *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int by_tasks(const void *a, const void *b)
{
	const struct locksnap_sleepers *x = a, *y = b;

	if (x->tasks != y->tasks)
		return x->tasks > y->tasks ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int add_sleepers(struct locksnap *ret, const struct raw_sleepers *r)
{
	struct locksnap_sleepers *last =
		ret->n_sleepers ? &ret->sleepers[ret->n_sleepers - 1] : NULL;

	if (last && last->pid == r->pid && last->kind == r->kind) {
		last->tasks += r->tasks;
		last->idle += r->idle;
		return 0;
	}
	const struct locksnap_sleepers item = {
		.pid = r->pid,
		.comm = snapshot_locks_add_text(ret, r->comm, sizeof(r->comm)),
		.kind = r->kind,
		.tasks = r->tasks,
		.idle = r->idle,
	};
	return locksnap_add_sleepers(ret, &item);
}

int sleepers_fill(const struct raw_sleepers *rows, size_t n, struct locksnap *ret)
{
	struct raw_sleepers *sorted = mem_calloc(n + 1, sizeof(*sorted));
	int code = sorted ? 0 : -ENOMEM;

	if (sorted && n) {
		memcpy(sorted, rows, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_process);
	}
	for (size_t i = 0; code == 0 && i < n; i++)
		code = add_sleepers(ret, &sorted[i]);
	if (code == 0 && ret->n_sleepers)
		qsort(ret->sleepers, ret->n_sleepers, sizeof(*ret->sleepers), by_tasks);
	mem_free(sorted);
	return code;
}

int sleepers_take(struct sleepers *s, const struct target *target, int child, struct locksnap *ret)
{
	struct error err = {0};
	int code = report_target(s, target, child, &err);

	s->state->n = s->state->dropped = 0;
	if (code == 0) {
		code = bpf_run_iterate(s->find);
		if (code < 0)
			error_errno(&err, code, "Cannot run the BPF program that counts sleepers");
	}
	if (code < 0) {
		ret->head.no_sleepers = locksnap_add_text(ret, err.text);
		return 0;
	}
	uint32_t n = *(volatile uint32_t *)&s->state->n;
	ret->head.counts_sleepers = 1;
	ret->head.sleepers_dropped = s->state->dropped;
	return sleepers_fill(s->rows, n < RAW_SLEEPERS ? n : RAW_SLEEPERS, ret);
}

void sleepers_free(struct sleepers *s)
{
	if (!s)
		return;
	bpf_run_unmap(s->state, sizeof(*s->state));
	bpf_run_unmap(s->rows, RAW_SLEEPERS * sizeof(*s->rows));
	bpf_run_unmap(s->cpus, RAW_SLEEPER_CPUS * sizeof(*s->cpus));
	bpf_link__destroy(s->find);
	bpf_object__close(s->object);
	mem_free(s);
}
