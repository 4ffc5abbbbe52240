// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the programs that read locks, for each snapshot: first those that list the locks for which
 * tasks are blocked, then the walk along the queues, then the names. Walking through all
 * descriptors for names is expensive, so it is done for locks whose names were not searched before,
 * or long ago: readers of snapshots cache names. Before it each snapshot reads whether the named
 * locks of files still belong to those files (objects.c); if not, the name is searched again.
 */
#include "bpf-run.h"
#include "btf/types.h"
#include "fields.h"
#include "internal.h"
#include "kontend/cgroup.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/snapshot-locks.h"
#include "kontend/target.h"
#include "left.h"
#include "registers.h"
#include "runs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char locks_object[], locks_object_end[];
extern const char slabs_object[], slabs_object_end[];
extern const char maps_object[], maps_object_end[];

enum {
	ITERATORS = 4,
	ASK_AGAIN = 30, /* names are searched again after this number of snapshots */
	ARRIVALS = 5,
	NEW_MOST = 512, /* locks whose names are searched for one snapshot */
};

static const char *const iterators[ITERATORS] = {"find_blocked", "see_tasks", "name_tasks",
						 "name_files"};

enum { FIND_BLOCKED, SEE_TASKS, NAME_TASKS, NAME_FILES };

/* In a PID namespace, whose iterators show only its tasks: visit all, or, SEE_TASKS, the others. */
static const char *const walks[ITERATORS] = {"walk_blocked", "walk_others", "walk_names",
					     "walk_files"};

struct snapshot_locks {
	struct bpf_object *object, *slabs; /* slabs: NULL if the kernel has no such function */
	struct bpf_object *maps;	   /* NULL: BPF maps are not known */
	struct bpf_link *link[ITERATORS], *map_link;
	struct bpf_map *by_address, *by_thread;
	int read_queues, read_slabs, read_arrival, read_objects, check_names;
	bool is_inner;
	int walk[ITERATORS]; /* programs; 0 in the initial namespace */
	struct raw_locks_state *state;
	struct raw_lock *locks;
	struct bpf_run_part names_part, waiters_part;
	const struct raw_lock_name *names; /* this and the next one are of the latest snapshot */
	const struct raw_lock_waiter *waiters;
	struct raw_lock_task *tasks;
	const uint64_t *bases;
	struct raw_lock_object *read;
	struct locks_objects objects;
	struct fields *fields; /* NULL: see why */
	struct error no_fields;
	const uint64_t *moved; /* locks that are in another object now */
	int n_moved;
	struct left left; /* reading messages */
	struct percpu percpu;
	struct map64 looked; /* lock -> the life for which its name was searched */
	uint32_t n_taken;
	struct memcg_cache memcgs;
	struct locks_readers *readers; /* NULL: see why */
	struct error no_readers;
	struct sleepers *sleepers; /* NULL: see why */
	struct error no_sleepers;
	struct runs *runs; /* NULL: see why */
	struct error no_runs;
	struct registers *registers; /* NULL: see why */
	struct error no_registers;
	const struct target *target;
	_Atomic int child;
};

static int map_arrays(struct snapshot_locks *w, struct error *err)
{
	const int r = PROT_READ, rw = PROT_READ | PROT_WRITE;

	w->state = bpf_run_map(w->object, ".bss", sizeof(*w->state), rw, err);
	w->locks = bpf_run_map(w->object, "locks", RAW_LOCKS * sizeof(*w->locks), rw, err);
	w->tasks = bpf_run_map(w->object, "tasks", RAW_LOCK_TASKS * sizeof(*w->tasks), rw, err);
	w->bases = bpf_run_map(w->object, "bases", RAW_LOCK_CPUS * sizeof(*w->bases), r, err);
	w->read = bpf_run_map(w->object, "objects", RAW_LOCK_OBJECTS * sizeof(*w->read), rw, err);
	w->by_address = bpf_object__find_map_by_name(w->object, "by_address");
	w->by_thread = bpf_object__find_map_by_name(w->object, "by_thread");
	if (!w->state || !w->locks || !w->tasks || !w->bases || !w->read || !w->by_address ||
	    !w->by_thread)
		return err->code;
	int code = bpf_run_part_open(&w->names_part, w->object, "names", sizeof(*w->names),
				     RAW_LOCK_NAMES, err);
	return code < 0 ? code
			: bpf_run_part_open(&w->waiters_part, w->object, "waiters",
					    sizeof(*w->waiters), RAW_LOCK_WAITERS, err);
}

static int attach(struct snapshot_locks *w, struct error *err)
{
	for (int i = 0; i < ITERATORS; i++) {
		w->link[i] = bpf_run_iterator(w->object, iterators[i], err);
		if (!w->link[i])
			return err->code;
		w->walk[i] = w->is_inner ? bpf_run_program(w->object, walks[i], err) : 0;
		if (w->walk[i] < 0)
			return w->walk[i];
	}
	w->read_queues = bpf_run_program(w->object, "read_queues", err);
	if (w->read_queues < 0)
		return w->read_queues;
	w->read_objects = bpf_run_program(w->object, "read_objects", err);
	if (w->read_objects < 0)
		return w->read_objects;
	w->check_names = bpf_run_program(w->object, "check_names", err);
	if (w->check_names < 0)
		return w->check_names;
	w->read_arrival = bpf_run_program(w->object, "read_arrival", err);
	return w->read_arrival < 0 ? w->read_arrival : 0;
}

/*
 * The difference between the scheduler's clock and ours. The scheduler's is read when a thread that
 * slept gets its CPU, and ours a moment later, so the greatest of several differences is the most
 * exact. The clocks drift, so each snapshot measures it. False: not known on this kernel.
 */
static bool clocks_differ(const struct snapshot_locks *w, int64_t *ret_ns)
{
	const struct timespec moment = {.tv_nsec = 1000};
	bool known = false;

	for (int i = 0; i < ARRIVALS; i++) {
		w->state->arrived = 0;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
		uint64_t now = clock_now_ns();
		if (bpf_run_once(w->read_arrival, -1) < 0 || !w->state->arrived)
			return false;
		int64_t ahead = (int64_t)(w->state->arrived - now);
		*ret_ns = known && *ret_ns > ahead ? *ret_ns : ahead;
		known = true;
	}
	return known;
}

/* The address of each CPU's section; if it is not known, the locks in it have no names. */
static void learn_bases(struct snapshot_locks *w)
{
	int prog = bpf_run_program(w->object, "learn_base", NULL);
	uint32_t *cpus;
	size_t n;

	if (prog < 0 || !percpu_named(&w->percpu, "runqueues") ||
	    cpulist_read("online", &cpus, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		(void)bpf_run_once(prog, (int)cpus[i]);
	mem_free(cpus);
}

/* Kernels since 6.13 have it; on others no caches are known. */
static void load_slabs(struct snapshot_locks *w, struct kerntypes *types)
{
	struct bpf_run_file f = {
		.bytes = slabs_object,
		.len = (size_t)(slabs_object_end - slabs_object),
		.types = types,
		.shared = "locks",
		.shared_map = bpf_object__find_map_by_name(w->object, "locks"),
	};

	if (kerntypes_find(types, "bpf_get_kmem_cache", BTF_KIND_FUNC) < 0)
		return;
	if (bpf_run_load(&w->slabs, &f, NULL) == 0)
		w->read_slabs = bpf_run_program(w->slabs, "read_slabs", NULL);
}

/* Without it, locks of BPF maps have the names of their callers. */
static void load_maps(struct snapshot_locks *w, struct kerntypes *types)
{
	struct bpf_run_file f = {
		.bytes = maps_object,
		.len = (size_t)(maps_object_end - maps_object),
		.types = types,
		.shared = "locks",
		.shared_map = bpf_object__find_map_by_name(w->object, "locks"),
	};

	if (bpf_run_load(&w->maps, &f, NULL) == 0)
		w->map_link = bpf_run_iterator(w->maps, "name_maps", NULL);
}

static int load(struct snapshot_locks *w, struct kerntypes *types, struct error *err)
{
	const struct percpu_var *runqueues = percpu_named(&w->percpu, "runqueues");
	struct raw_locks_config config = {
		.off_runqueues = runqueues ? runqueues->offset : 0,
		.self = (unsigned int)getpid(),
	};
	struct bpf_run_file f = {
		.bytes = locks_object,
		.len = (size_t)(locks_object_end - locks_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};
	int code = ns_own(&config.ns, types, err);

	w->is_inner = config.ns.level > 0;
	code = code < 0 ? code : bpf_run_load(&w->object, &f, err);
	code = code < 0 ? code : map_arrays(w, err);
	code = code < 0 ? code : attach(w, err);
	if (code < 0)
		return code;
	learn_bases(w);
	load_slabs(w, types);
	load_maps(w, types);
	(void)fields_new(&w->fields, types, w->slabs && w->read_slabs >= 0, &w->no_fields);
	(void)locks_readers_new(&w->readers, types, &w->no_readers);
	(void)sleepers_new(&w->sleepers, types, &w->no_sleepers);
	(void)runs_new(&w->runs, types, &w->no_runs);
	(void)registers_new(&w->registers, types, &w->no_registers);
	return 0;
}

int snapshot_locks_new(struct snapshot_locks **ret, bool all_mms, struct kerntypes *shared,
		       struct error *err)
{
	struct snapshot_locks *w = mem_calloc(1, sizeof(*w));
	struct kerntypes *own;

	if (!w)
		return error_enomem(err, "snapshots of locks");
	struct kerntypes *types = kerntypes_or(shared, &own, err);
	int code = types ? percpu_read(&w->percpu, types, err) : -ENOMEM;
	code = code < 0 ? code : load(w, types, err);
	kerntypes_free(own);
	if (code < 0) {
		snapshot_locks_free(w);
		return code;
	}
	w->state->all_mms = all_mms;
	*ret = w;
	return 0;
}

static void clear_tasks(struct snapshot_locks *w)
{
	struct raw_locks_state *s = w->state;

	for (uint32_t i = 0; i < s->n_tasks && i < RAW_LOCK_TASKS; i++)
		bpf_map__delete_elem(w->by_thread, &w->tasks[i].tid, sizeof(w->tasks[i].tid), 0);
	s->n_tasks = 0;
}

/* Begins the list of locks again; that of the programs by address follows it. */
static void clear(struct snapshot_locks *w)
{
	struct raw_locks_state *s = w->state;

	for (uint32_t i = 0; i < s->n_locks && i < RAW_LOCKS; i++)
		bpf_map__delete_elem(w->by_address, &w->locks[i].addr, sizeof(uint64_t), 0);
	clear_tasks(w);
	memset(w->locks, 0,
	       (s->n_locks + 1 < RAW_LOCKS ? s->n_locks + 1 : RAW_LOCKS) * sizeof(*w->locks));
	s->n_locks = s->n_names = s->n_waiters = s->dropped = 0;
}

static void ask_for_lock(struct snapshot_locks *w, const struct lock_request_lock *a)
{
	const uint32_t *looked = map64_get(&w->looked, a->addr);
	struct raw_locks_state *s = w->state;
	uint32_t i = s->n_locks;

	if (looked && *looked != a->life)
		map64_del(&w->looked, a->addr);

	if (i >= RAW_LOCKS) {
		s->dropped++;
		return;
	}
	/* It is in the list already. */
	if (bpf_map__update_elem(w->by_address, &a->addr, sizeof(a->addr), &i, sizeof(i),
				 BPF_NOEXIST) < 0)
		return;
	w->locks[i] = (struct raw_lock){.addr = a->addr, .type = a->type};
	s->n_locks = i + 1;
}

static uint32_t life_of(const struct lock_request_lock *asks, size_t n, uint64_t addr)
{
	for (size_t i = 0; i < n; i++)
		if (asks[i].addr == addr)
			return asks[i].life;
	return 0;
}

/* Is there a lock whose name was not searched lately? Then it is searched now. */
static bool names_wanted(struct snapshot_locks *w, const struct lock_request_lock *asks, size_t n)
{
	size_t n_new = 0;

	if (w->n_taken % ASK_AGAIN == 0) {
		map64_clear(&w->looked);
		memcg_forget(&w->memcgs);
	}
	for (uint32_t i = 0; i < w->state->n_locks && i < RAW_LOCKS; i++) {
		w->locks[i].searched = map64_get(&w->looked, w->locks[i].addr) || n_new == NEW_MOST;
		if (w->locks[i].searched)
			continue;
		n_new++;
		(void)map64_put(&w->looked, w->locks[i].addr, life_of(asks, n, w->locks[i].addr));
	}
	w->n_taken++;
	return n_new;
}

/* Locks of files that were freed since: their names are searched again. */
static int look_at_objects(struct snapshot_locks *w)
{
	w->state->n_objects = (uint32_t)locks_objects_ask(&w->objects, w->read);
	int code = w->objects.n ? bpf_run_once(w->read_objects, -1) : 0;

	if (code < 0)
		return code;
	locks_objects_take(&w->objects, w->read);
	for (size_t i = 0; i < w->objects.n_ended; i++)
		map64_del(&w->looked, w->objects.ended[i]);
	w->n_moved = w->fields ? fields_check(w->fields, &w->moved) : 0;
	for (int i = 0; i < w->n_moved; i++)
		map64_del(&w->looked, w->moved[i]);
	return w->n_moved < 0 ? w->n_moved : 0;
}

static int go_through(const struct snapshot_locks *w, int which)
{
	int code = w->is_inner && which != SEE_TASKS ? 0 : bpf_run_iterate(w->link[which]);

	return code == 0 && w->is_inner ? bpf_run_once(w->walk[which], -1) : code;
}

static int read_kernel(struct snapshot_locks *w, const struct lock_request_lock *asks, size_t n)
{
	int code = go_through(w, FIND_BLOCKED);

	code = code < 0 ? code : bpf_run_once(w->read_queues, -1);
	if (code == 0 && w->state->n_tasks)
		code = go_through(w, SEE_TASKS);
	code = code < 0 ? code : look_at_objects(w);
	bool wanted = names_wanted(w, asks, n);
	if (code == 0 && (wanted || w->state->all_mms))
		code = go_through(w, NAME_TASKS);
	if (code < 0 || !wanted)
		return code;
	if (w->slabs && w->read_slabs >= 0)
		(void)bpf_run_once(w->read_slabs, -1);
	if (w->map_link)
		(void)bpf_run_iterate(w->map_link);
	code = go_through(w, NAME_FILES);
	return code < 0 || !w->fields
		       ? code
		       : fields_find(w->fields, w->locks,
				     w->state->n_locks < RAW_LOCKS ? w->state->n_locks : RAW_LOCKS);
}

static int show_arrays(struct snapshot_locks *w)
{
	w->names = bpf_run_part_read(&w->names_part, w->state->n_names);
	if (!w->names)
		return -errno;
	w->waiters = bpf_run_part_read(&w->waiters_part, w->state->n_waiters);
	return w->waiters ? 0 : -errno;
}

/* Selects the locks whose readers are searched: those that readers hold while others wait. */
static size_t want_readers(const struct snapshot_locks *w, uint64_t *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < w->state->n_locks && i < RAW_LOCKS && n < RAW_READER_LOCKS; i++) {
		const struct raw_lock *l = &w->locks[i];
		if (l->waiters && snapshot_locks_readers(l))
			ret[n++] = l->addr;
	}
	return n;
}

static void find_readers(struct snapshot_locks *w, struct snapshot_locks_raw *raw)
{
	size_t n = want_readers(w, raw->wanted);

	if (!n)
		return;
	if (!w->readers) {
		raw->no_readers = w->no_readers.text;
		return;
	}
	int code = locks_readers_find(w->readers, raw->wanted, n, &raw->readers, &raw->n_readers);
	if (code == -EPERM)
		raw->no_readers = "the kernel withholds the addresses of its functions";
	else if (code < 0)
		raw->no_readers = strerror(-code);
	raw->many_tasks = n == RAW_READER_LOCKS || locks_readers_dropped(w->readers);
}

/*
 * A descriptor may have been closed since its path was read, and may be open on another file: then
 * the path is left out, and searched again.
 */
static int check_paths(struct snapshot_locks *w, struct locksnap *s)
{
	uint32_t n = w->state->n_names;
	int code = n ? bpf_run_once(w->check_names, -1) : 0;

	for (uint32_t i = 0; code == 0 && i < n && i < RAW_LOCK_NAMES && i < s->n_names; i++) {
		locks_objects_add(&w->objects, &w->names[i]);
		if (!w->names[i].stale)
			continue;
		s->names[i].text = 0;
		map64_del(&w->looked, w->names[i].addr);
	}
	for (size_t i = 0; code == 0 && i < w->objects.n_ended; i++)
		code = locksnap_add_ended(s, w->objects.ended[i]);
	for (int i = 0; code == 0 && i < w->n_moved; i++)
		code = locksnap_add_ended(s, w->moved[i]);
	return code;
}

static int put_sleepers(struct snapshot_locks *w, const struct snapshot_locks_raw *raw,
			struct locksnap *ret)
{
	if (w->sleepers)
		return sleepers_put(w->sleepers, w->readers, raw->ran_known ? &raw->ahead_ns : NULL,
				    ret);
	ret->head.no_sleepers = locksnap_add_text(ret, w->no_sleepers.text);
	return 0;
}

bool snapshot_locks_has_tasks(const struct snapshot_locks *w)
{
	return w->sleepers != NULL;
}

void snapshot_locks_of(struct snapshot_locks *w, const struct target *target)
{
	w->target = target;
	/* A cgroup that cannot be opened ends the session when perf's events are opened. */
	if (target && target->kind == TARGET_CGROUP)
		cgroup_id(target->cgroup, &w->state->cgroup, NULL);
}

void snapshot_locks_child(struct snapshot_locks *w, int pid)
{
	w->child = pid;
}

static struct snapshot_locks_raw raw_of(struct snapshot_locks *w)
{
	return (struct snapshot_locks_raw){
		w->state,   w->locks, w->names,	  w->waiters, w->tasks,		w->bases,
		&w->percpu, "/proc",  &w->memcgs, w->target,  .left = &w->left,
	};
}

int snapshot_locks_take(struct snapshot_locks *w, const struct lock_request_lock *asks, size_t n,
			struct locksnap *ret, struct error *err)
{
	bool reports_percpu = w->state->all_mms && w->n_taken % ASK_AGAIN == 0;
	uint64_t from = clock_now_ns();

	locksnap_clear(ret);
	clear(w);
	for (size_t i = 0; i < n; i++)
		ask_for_lock(w, &asks[i]);
	int code = read_kernel(w, asks, n);
	code = code < 0 ? code : show_arrays(w);
	if (code < 0)
		return error_errno(err, code,
				   "Cannot run the BPF programs that take snapshots of locks");
	struct snapshot_locks_raw raw = raw_of(w);
	find_readers(w, &raw);
	raw.reports_percpu = reports_percpu;
	raw.fields = w->fields;
	raw.no_fields = w->fields ? NULL : w->no_fields.text;
	size_t blocked = w->sleepers ? sleepers_read(w->sleepers, w->target, w->child) : 0;
	raw.ran_known = (w->state->n_waiters || blocked) && clocks_differ(w, &raw.ahead_ns);
	code = snapshot_locks_fill(&raw, ret);
	code = code < 0 ? code : check_paths(w, ret);
	code = code < 0 ? code : put_sleepers(w, &raw, ret);
	if (code == -ENOMEM)
		return error_enomem(err, "a snapshot of locks");
	if (code < 0)
		return error_errno(err, code,
				   "Cannot run the BPF programs that take snapshots of locks");
	ret->head.time_ns = from;
	ret->head.cost_ns = clock_now_ns() - from;
	return 0;
}

/* Locks of the kernel have been read with what their holders do. */
static bool is_asked(const struct locksnap_queue *q)
{
	return q->holder_tid > 0 && (locksnap_is_file(q) || q->type >= LOCKSNAP_USER_MUTEX);
}

/* The index + 1 of a task that see_tasks is to see; 0: no room. */
static uint32_t ask_for_task(struct snapshot_locks *w, uint32_t tid)
{
	uint32_t at = w->state->n_tasks + 1, known;

	if (bpf_map__lookup_elem(w->by_thread, &tid, sizeof(tid), &known, sizeof(known), 0) == 0)
		return known;
	if (at > RAW_LOCK_TASKS ||
	    bpf_map__update_elem(w->by_thread, &tid, sizeof(tid), &at, sizeof(at), 0) < 0)
		return 0;
	w->tasks[at - 1] = (struct raw_lock_task){.tid = (int)tid};
	w->state->n_tasks = at;
	return at;
}

int snapshot_locks_holders(struct snapshot_locks *w, struct locksnap *s)
{
	const struct snapshot_locks_raw raw = raw_of(w);
	int code = 0;

	clear_tasks(w);
	for (size_t i = 0; i < s->n_queues; i++)
		if (is_asked(&s->queues[i]))
			ask_for_task(w, (uint32_t)s->queues[i].holder_tid);
	if (w->state->n_tasks)
		code = go_through(w, SEE_TASKS);
	for (size_t i = 0; code == 0 && i < s->n_queues; i++) {
		struct locksnap_queue *q = &s->queues[i];
		if (is_asked(q))
			code = snapshot_locks_fill_does(
				&raw, ask_for_task(w, (uint32_t)q->holder_tid), s, q);
	}
	return code;
}

int snapshot_locks_add_runs(struct snapshot_locks *w, struct locksnap *s)
{
	if (w->runs)
		return runs_add(w->runs, s);
	s->head.no_runs = locksnap_add_text(s, w->no_runs.text);
	return 0;
}

int snapshot_locks_registers(struct snapshot_locks *w, struct snapshot_registers *v, size_t n)
{
	return w->registers ? registers_read(w->registers, v, n) : -ENOTSUP;
}

void snapshot_locks_free(struct snapshot_locks *w)
{
	if (!w)
		return;
	bpf_run_unmap(w->state, sizeof(*w->state));
	bpf_run_unmap(w->locks, RAW_LOCKS * sizeof(*w->locks));
	bpf_run_part_close(&w->names_part);
	bpf_run_part_close(&w->waiters_part);
	bpf_run_unmap(w->tasks, RAW_LOCK_TASKS * sizeof(*w->tasks));
	bpf_run_unmap(w->bases, RAW_LOCK_CPUS * sizeof(*w->bases));
	bpf_run_unmap(w->read, RAW_LOCK_OBJECTS * sizeof(*w->read));
	for (int i = 0; i < ITERATORS; i++)
		bpf_link__destroy(w->link[i]);
	locks_readers_free(w->readers);
	sleepers_free(w->sleepers);
	runs_free(w->runs);
	registers_free(w->registers);
	fields_free(w->fields);
	left_deinit(&w->left);
	bpf_object__close(w->slabs);
	bpf_link__destroy(w->map_link);
	bpf_object__close(w->maps);
	bpf_object__close(w->object);
	percpu_deinit(&w->percpu);
	map64_deinit(&w->looked);
	locks_objects_deinit(&w->objects);
	memcg_deinit(&w->memcgs);
	mem_free(w);
}
