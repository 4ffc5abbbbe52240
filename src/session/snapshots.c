// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kinds of snapshots that the live source takes at its ticks, as a table: how often, and the
 * function that takes one by an inspector (src/inspect). The struct of each kind is encoded by its
 * sections (sections.h), and its bytes are kept until the next one.
 *
 * Breakpoint slots are read at each tick, and all perf events once a second at most, since that
 * goes through all tasks and their descriptors. Both use one inspector; without BPF it has but one
 * way. A recorder keeps no table of locks to ask about, so it asks for the mmap_lock of every
 * process; all other verbs ask for the locks in their tables. Phases of rotation and sums of sleeps
 * are only taken if an option asks for them: each probe costs the tasks that hit it.
 *
 * The kernel checks the programs of snapshots for as long as those that report waits, so a thread
 * loads the former. The screen does not wait for it: the thread begins when the programs of waits
 * are loaded. The first source of the list, the gate, makes the thread that takes snapshots wait
 * for it; until then tables have no data of snapshots. The loading thread lives as long as the
 * programs: the kernel keeps it as the owner of the perf events that it has opened, by which the
 * snapshots recognize kontend's own. When all is loaded, it gives up the same privileges as the
 * main thread. If no BPF program reads the blocked tasks it keeps the one that the calls of tasks
 * in /proc take, and reads these when it is asked.
 */
#include "kontend/clock.h"
#include "kontend/ending.h"
#include "kontend/inspect.h"
#include "kontend/kerntypes.h"
#include "kontend/live.h"
#include "kontend/mem.h"
#include "kontend/privs.h"
#include "kontend/record.h"
#include "kontend/sections.h"
#include "kontend/snapshot-files.h"
#include "kontend/snapshot-holders.h"
#include "kontend/snapshot-holds.h"
#include "kontend/snapshot-locks.h"
#include "kontend/snapshot-phases.h"
#include "kontend/snapshot-runs.h"
#include "kontend/snapshot-slept.h"
#include "kontend/snapshot-stacks.h"
#include "kontend/snapshot-tasks.h"
#include "kontend/snapshot-uprobes.h"
#include "kontend/snapshot-users.h"
#include "kontend/taskid.h"
#include "run-parts.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

enum { LATE_NICE = -10 }; /* after the threads that the first frame waits for */

static const uint64_t SECOND = 1000000000;

enum kind_id {
	KIND_PERF,
	KIND_SLOTS,
	KIND_UPROBES,
	KIND_LOCKS,
	KIND_SLEPT,
	KIND_USERS,
	KIND_PHASES,
	KIND_HOLDS,
	KINDS
};

/* One kind, with its last snapshot. */
struct one {
	struct snapshot_source source; /* first member: take_one() gets it */
	const struct kind *kind;
	struct run_snapshots *all;
	uint64_t least_ns;
	void *snap;  /* kind->size */
	char *bytes; /* a struct record_snapshot, and the payload */
	size_t cap;
};

struct run_snapshots {
	struct snapshot_source gate; /* first member: wait_at_gate() gets it */
	struct one ones[KINDS];	     /* kind NULL: not taken */
	struct inspect *inspect;
	struct snapshot_uprobes *uprobes;
	struct snapshot_locks *locks; /* NULL: see no_locks */
	struct error no_locks;
	struct snapshot_files *files;
	struct snapshot_users *users;	 /* NULL: off */
	struct snapshot_stacks *callers; /* NULL: off */
	struct usersite_stack stacks[SNAPSHOT_USERS_STACKS];
	struct snapshot_holders *holders;
	struct snapshot_runs *runs;
	struct snapshot_tasks *tasks; /* NULL: BPF reads them */
	struct waitfeed *waits;	      /* borrowed; NULL: there is none */
	struct lock_requests requests;
	struct lock_request_lock asked[LOCKASK_MOST];
	int32_t threads[LOCKASK_THREADS];
	struct snapshot_phases *phases; /* NULL: see no_phases */
	struct error no_phases;
	struct snapshot_holds *holds; /* NULL: see no_holds */
	struct error no_holds;
	struct snapshot_slept *slept; /* NULL: see no_slept */
	struct waitfeed *only_slept;  /* its programs, where `waits` is NULL */
	struct error no_slept;
	/* Of the thread that loads: */
	const struct opts *opts;     /* borrowed */
	const struct target *target; /* borrowed */
	struct kerntypes *types;
	struct source *live; /* that a late failure ends */
	bool is_late, started;
	pthread_t thread;
	pthread_mutex_t lock; /* of those below */
	pthread_cond_t changed;
	bool is_loaded, ending;
	struct locksnap *tasks_to; /* asked for: the blocked tasks, into this */
	int tasks_code;
	struct error why; /* code 0: nothing has failed */
};

static bool has_tasks(const struct perfsnap *s)
{
	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		if (e->target_tid && e->state >= SNAP_INACTIVE && !(e->flags & SNAP_OWN))
			return true;
	}
	return false;
}

static int take_events(struct one *o, enum inspect_what what)
{
	int code = inspect_take(o->all->inspect, what, o->snap, NULL);

	if (code >= 0)
		o->source.has_tasks = has_tasks(o->snap);
	return code;
}

static int take_perf(struct one *o)
{
	return take_events(o, INSPECT_ALL);
}

static int take_slots(struct one *o)
{
	if (!o->all->inspect->has_parts)
		return -ENOTSUP;
	return take_events(o, INSPECT_SLOTS);
}

static int take_uprobes(struct one *o)
{
	return snapshot_uprobes_take(o->all->uprobes, o->snap, NULL);
}

/* Adds threads that have ended. Tasks outside of our PID namespace have no PID here, so they cannot
 * be tried. */
static int add_gone(struct run_snapshots *r, struct locksnap *snap)
{
	size_t n = lock_request_get_threads(&r->requests, r->threads);
	int code = 0;

	for (size_t i = 0; i < n && code == 0; i++)
		if (r->threads[i] > 0 && !taskid_is_outside(r->threads[i]) &&
		    kill(r->threads[i], 0) < 0 && errno == ESRCH)
			code = locksnap_add_gone(snap, r->threads[i]);
	return code;
}

/* Of waits that began before the programs were attached the first snapshot has to be asked. */
static int add_files(struct run_snapshots *r, struct locksnap *snap)
{
	return snapshot_files_add(r->files, waitfeed_files_wait(r->waits), r->target, snap);
}

/* Locks that events have reported need names, and sleeps of which they report nothing a path. */
static void ask_users(struct run_snapshots *r)
{
	struct snapshot_users_lock new[SNAPSHOT_USERS_NEW];
	size_t n = snapshot_slept_new_locks(r->slept, new, SNAPSHOT_USERS_NEW);

	snapshot_users_name(r->users, new, n);
	n = snapshot_slept_stacks(r->slept, r->stacks, snapshot_users_room(r->users));
	snapshot_users_ask(r->users, r->stacks, n);
}

static int add_users(struct run_snapshots *r, struct locksnap *snap)
{
	size_t n;

	if (!r->users)
		return 0;
	if (r->slept)
		ask_users(r);
	int code = snapshot_users_add(r->users, r->target, snap);
	if (code < 0 || !r->slept)
		return code;
	const struct snapshot_users_path *paths = snapshot_users_paths(r->users, &n);
	return snapshot_slept_learn(r->slept, paths, n);
}

static int read_tasks(struct run_snapshots *r, struct locksnap *to)
{
	const char *why =
		r->no_locks.code < 0 ? r->no_locks.text : locksnap_text(to, to->head.no_sleepers);

	return snapshot_tasks_add(r->tasks, r->target, why, to);
}

/* The thread that has loaded the programs reads them, as it has the privilege. */
static int add_tasks(struct run_snapshots *r, struct locksnap *snap)
{
	if (!r->tasks || snap->head.knows_blocked)
		return 0;
	if (!r->started)
		return read_tasks(r, snap);
	pthread_mutex_lock(&r->lock);
	int code = r->ending ? -ECANCELED : 0;
	r->tasks_to = code == 0 ? snap : NULL;
	pthread_cond_broadcast(&r->changed);
	while (r->tasks_to)
		pthread_cond_wait(&r->changed, &r->lock);
	code = code == 0 ? r->tasks_code : code;
	pthread_mutex_unlock(&r->lock);
	return code;
}

/* By BPF, and where that does not see them by /proc. */
static int add_holders(struct run_snapshots *r, struct locksnap *snap)
{
	int code = r->locks ? snapshot_locks_holders(r->locks, snap) : 0;

	return code < 0 ? code : snapshot_holders_add(r->holders, snap);
}

/* How holders are scheduled, the same way. */
static int add_runs(struct run_snapshots *r, struct locksnap *snap)
{
	int code = 0;

	if (r->locks)
		code = snapshot_locks_add_runs(r->locks, snap);
	else
		snap->head.no_runs = locksnap_add_text(snap, "without BPF it is not known which "
							     "task has its CPU");
	return code < 0 ? code : snapshot_runs_add(r->runs, snap, !snap->head.no_runs);
}

static int take_locks(struct one *o)
{
	struct run_snapshots *r = o->all;
	struct locksnap *snap = o->snap;
	size_t n = lock_request_get(&r->requests, r->asked);
	int code = 0;

	if (r->locks) {
		code = snapshot_locks_take(r->locks, r->asked, n, snap, NULL);
	} else {
		locksnap_clear(snap);
		snap->head.reason = locksnap_add_text(snap, r->no_locks.text);
		snap->head.no_sleepers = snap->head.reason;
		snap->head.time_ns = clock_now_ns();
	}
	code = code < 0 ? code : add_tasks(r, snap);
	code = code < 0 ? code : add_files(r, snap);
	code = code < 0 ? code : add_users(r, snap);
	if (code == 0 && r->callers)
		code = snapshot_stacks_add(r->callers, r->locks, snap);
	code = code < 0 ? code : add_holders(r, snap);
	code = code < 0 ? code : add_runs(r, snap);
	return code < 0 ? code : add_gone(r, snap);
}

static int take_phases(struct one *o)
{
	struct run_snapshots *r = o->all;
	struct phasesnap *snap = o->snap;

	if (r->phases)
		return snapshot_phases_take(r->phases, snap);
	phasesnap_clear(snap);
	snap->head.time_ns = snap->head.from_ns = clock_now_ns();
	snap->head.missing = PHASESNAP_NO_ROTATION | PHASESNAP_NO_CGROUPS;
	snap->head.reason = snap->head.cgroup_reason = phasesnap_add_text(snap, r->no_phases.text);
	return 0;
}

static int take_holds(struct one *o)
{
	struct run_snapshots *r = o->all;
	struct holdsnap *snap = o->snap;

	if (r->holds)
		return snapshot_holds_take(r->holds, snap);
	holdsnap_clear(snap);
	snap->head.time_ns = snap->head.from_ns = clock_now_ns();
	snap->head.every = 1;
	snap->head.asked = holdsnap_add_text(snap, r->opts->holds);
	snap->head.reason = holdsnap_add_text(snap, r->no_holds.text);
	return 0;
}

static int take_slept(struct one *o)
{
	struct run_snapshots *r = o->all;
	struct sleptsnap *snap = o->snap;

	if (r->slept)
		return snapshot_slept_take(r->slept, snap);
	sleptsnap_clear(snap);
	snap->head.time_ns = clock_now_ns();
	snap->head.reason = sleptsnap_add_text(snap, r->no_slept.text);
	return 0;
}

static int take_users(struct one *o)
{
	struct run_snapshots *r = o->all;
	struct usersnap *snap = o->snap;

	if (r->slept)
		return snapshot_slept_users(r->slept, snap);
	usersnap_clear(snap);
	snap->head.time_ns = clock_now_ns();
	snap->head.reason = usersnap_add_text(snap, r->no_slept.text);
	return 0;
}

/* Rates over a shorter time than this would mean nothing. */
#define LAST_NS 50000000
/* Ticks are not of exactly the same length. */
#define ALL_NS (1000000000 - 1000000000 / 20)

#define SNAP_OF(S)                                                                                 \
	.sections = &S##_sections, .size = sizeof(struct S),                                       \
	.time_at = offsetof(struct S, head.time_ns)

/* In the order in which they are taken. */
static const struct kind {
	uint16_t number, version;
	bool each_tick, at_start;
	uint64_t least_ns, last_ns; /* since the one before: at a tick, and at the end */
	int (*take)(struct one *o); /* fills in o->snap: 0 or a negative errno */
	const struct sections *sections;
	size_t size, time_at; /* of the struct; where its time is */
} kinds[KINDS] = {
	[KIND_PERF] = {SNAPSHOT_PERF, SNAP_VERSION, .at_start = true, .least_ns = ALL_NS,
		       .last_ns = LAST_NS, .take = take_perf, SNAP_OF(perfsnap)},
	[KIND_SLOTS] = {SNAPSHOT_SLOTS, SNAP_VERSION, .each_tick = true, .last_ns = LAST_NS,
			.take = take_slots, SNAP_OF(perfsnap)},
	[KIND_UPROBES] = {SNAPSHOT_UPROBES, UPSNAP_VERSION, .last_ns = LAST_NS,
			  .take = take_uprobes, SNAP_OF(upsnap)},
	[KIND_LOCKS] = {SNAPSHOT_LOCKS, LOCKSNAP_VERSION, .at_start = true, .take = take_locks,
			SNAP_OF(locksnap)},
	[KIND_SLEPT] = {SNAPSHOT_SLEPT, SLEPTSNAP_VERSION, .at_start = true, .least_ns = ALL_NS,
			.take = take_slept, SNAP_OF(sleptsnap)},
	[KIND_USERS] = {SNAPSHOT_USERS, USERSNAP_VERSION, .at_start = true, .least_ns = ALL_NS,
			.last_ns = LAST_NS, .take = take_users, SNAP_OF(usersnap)},
	[KIND_PHASES] = {SNAPSHOT_PHASES, PHASESNAP_VERSION, .at_start = true, .take = take_phases,
			 SNAP_OF(phasesnap)},
	[KIND_HOLDS] = {SNAPSHOT_HOLDS, HOLDSNAP_VERSION, .at_start = true, .least_ns = ALL_NS,
			.last_ns = LAST_NS, .take = take_holds, SNAP_OF(holdsnap)},
};

static void *encode(struct one *o, size_t *ret_len)
{
	const size_t head = sizeof(struct record_snapshot);
	size_t len = sections_size(o->kind->sections, o->snap);

	if (head + len > o->cap) {
		char *bytes = mem_resize(o->bytes, head + len, 1);
		if (!bytes)
			return NULL;
		o->bytes = bytes;
		o->cap = head + len;
	}
	sections_encode(o->kind->sections, o->snap, o->bytes + head);
	*ret_len = head + len;
	return o->bytes;
}

static uint64_t time_of(const struct one *o)
{
	return *(const uint64_t *)((const char *)o->snap + o->kind->time_at);
}

static void *take_one(struct snapshot_source *source, bool last, size_t *ret_len)
{
	struct one *o = (struct one *)source;
	uint64_t least_ns = last ? o->kind->last_ns : o->least_ns;

	if (least_ns && clock_now_ns() - time_of(o) < least_ns)
		return NULL;
	/* After a failure the next tick tries again; views say how old their snapshot is. */
	return o->kind->take(o) < 0 ? NULL : encode(o, ret_len);
}

static int add_kind(struct run_snapshots *r, enum kind_id id, struct one **last)
{
	const struct kind *k = &kinds[id];
	struct one *o = &r->ones[id];

	o->snap = mem_calloc(1, k->size);
	if (!o->snap)
		return -ENOMEM;
	o->kind = k;
	o->all = r;
	o->least_ns = k->least_ns;
	o->source.kind = k->number;
	o->source.version = k->version;
	o->source.take = take_one;
	o->source.at_start = k->at_start;
	o->source.each_tick = k->each_tick;
	if (*last)
		(*last)->source.next = &o->source;
	*last = o;
	return 0;
}

static int wait_until_loaded(struct run_snapshots *r)
{
	pthread_mutex_lock(&r->lock);
	while (!r->is_loaded)
		pthread_cond_wait(&r->changed, &r->lock);
	int code = r->why.code;
	pthread_mutex_unlock(&r->lock);
	return code;
}

/* There is no snapshot of this source. */
static void *wait_at_gate(struct snapshot_source *source, bool last, size_t *ret_len)
{
	struct run_snapshots *r = (struct run_snapshots *)source;

	(void)last;
	*ret_len = 0;
	if (wait_until_loaded(r) < 0)
		live_fail(r->live, &r->why);
	return NULL;
}

static bool is_asked(const struct opts *o, enum kind_id id)
{
	return id == KIND_PHASES  ? o->phases
	       : id == KIND_HOLDS ? o->holds != NULL
	       : id == KIND_SLEPT ? o->sleeps
	       : id == KIND_USERS ? run_reports_users(o)
				  : true;
}

static int add_kinds(struct run_snapshots *r, const struct opts *o)
{
	struct one *last = NULL;
	int code = 0;

	for (int id = 0; code == 0 && id < KINDS; id++)
		if (is_asked(o, (enum kind_id)id))
			code = add_kind(r, (enum kind_id)id, &last);
	r->gate = (struct snapshot_source){.next = &r->ones[0].source,
					   .take = wait_at_gate,
					   .at_start = true,
					   .each_tick = true};
	return code;
}

static int open_tasks(struct run_snapshots *r, struct error *err)
{
	r->tasks = snapshot_tasks_new("/proc", "/proc/kallsyms");
	return r->tasks ? 0 : error_enomem(err, "reading blocked tasks");
}

static void open_holds(struct run_snapshots *r, const struct opts *o)
{
	struct snapshot_holds_options ho = {
		.lock = o->holds, .no_chains = o->no_stack, .types = r->types};

	if (opts_overhead(o, &ho.target_ppm, &r->no_holds) == 0)
		(void)snapshot_holds_new(&r->holds, &ho, &r->no_holds);
}

static int open_inspectors(struct run_snapshots *r, const struct opts *o, struct error *err)
{
	const struct inspect_options io = {
		.no_bpf = o->no_bpf,
		.creations = o->creations,
		.types = r->types,
		.probe_cpus = o->probe_cpus,
		.slots_ns = 2 * SECOND,
		.holders_ns = 5 * SECOND,
	};
	const struct snapshot_uprobes_options uo = {
		.no_bpf = o->no_bpf, .counts_own = o->probes[0] != NULL, .types = r->types};
	struct error no_bpf = {0};
	int code = inspect_new(&r->inspect, &io, err);

	code = code < 0 ? code : snapshot_uprobes_new(&r->uprobes, &uo, err);
	if (code < 0)
		return code;
	if (!r->inspect->has_parts) {
		r->ones[KIND_PERF].source.at_start = false;
		r->ones[KIND_PERF].least_ns = 0;
	}
	if (o->no_bpf) {
		error_set(&no_bpf, -ENOTSUP, "BPF is switched off (--no-bpf)");
		r->no_locks = r->no_phases = r->no_holds = no_bpf;
		return open_tasks(r, err);
	}
	/* Without these the rest is measured all the same. */
	(void)snapshot_locks_new(&r->locks, o->verb == VERB_RECORD, r->types, &r->no_locks);
	if (r->locks)
		snapshot_locks_of(r->locks, r->target);
	if (o->phases)
		(void)snapshot_phases_new(&r->phases, r->types, &r->no_phases);
	if (o->holds)
		open_holds(r, o);
	return r->locks && snapshot_locks_has_tasks(r->locks) ? 0 : open_tasks(r, err);
}

static int load(struct run_snapshots *r, struct error *err)
{
	int code = open_inspectors(r, r->opts, err);

	kerntypes_free(r->types);
	r->types = NULL;
	/* libbpf has allocated and freed megabytes. */
	mem_trim();
	return code;
}

/* Has the lock, but not while it reads. */
static void serve_tasks(struct run_snapshots *r)
{
	struct locksnap *to = r->tasks_to;

	pthread_mutex_unlock(&r->lock);
	int code = read_tasks(r, to);
	pthread_mutex_lock(&r->lock);
	r->tasks_to = NULL;
	r->tasks_code = code;
	pthread_cond_broadcast(&r->changed);
}

static void *load_apart(void *arg)
{
	struct run_snapshots *r = arg;
	struct error err = {0};

	/* Without the privilege it runs as it is. */
	if (r->is_late)
		(void)setpriority(PRIO_PROCESS, 0, LATE_NICE);
	if (load(r, &err) == 0)
		privs_drop_but(r->tasks ? privs_now() & 1ull << CAP_SYS_ADMIN : 0, &err);
	pthread_mutex_lock(&r->lock);
	r->why = err;
	r->is_loaded = true;
	pthread_cond_broadcast(&r->changed);
	while (!r->ending || r->tasks_to) {
		if (r->tasks_to)
			serve_tasks(r);
		else
			pthread_cond_wait(&r->changed, &r->lock);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

void run_snapshots_load(struct run_snapshots *r)
{
	if (!r || r->started || r->is_loaded)
		return;
	r->started = ending_thread(&r->thread, load_apart, r) == 0;
	if (r->started)
		return;
	/* Where no thread can be started, the caller loads. */
	load(r, &r->why);
	r->is_loaded = true;
}

bool run_reports_users(const struct opts *o)
{
	bool looks = o->verb == VERB_LIVE || o->verb == VERB_REPORT || o->verb == VERB_RECORD;

	return looks && !o->no_bpf && (!o->user_locks || !strcmp(o->user_locks, "events"));
}

bool run_takes_user_frames(const struct opts *o)
{
	return !o->user_frames || !strcmp(o->user_frames, "all") || !strcmp(o->user_frames, "fp");
}

bool run_unwinds_sleepers(const struct opts *o)
{
	return !o->no_stack && (!o->user_frames || !strcmp(o->user_frames, "all") ||
				!strcmp(o->user_frames, "sleepers"));
}

static bool searches_users(const struct opts *o)
{
	return !o->user_locks || strcmp(o->user_locks, "off") != 0;
}

int run_snapshots_new(struct run_snapshots **ret, const struct opts *o, const struct target *target,
		      struct kerntypes *types, bool late, struct error *err)
{
	struct run_snapshots *r = mem_calloc(1, sizeof(*r));
	const bool keep = !o->no_symbol_cache;

	if (!r)
		return error_enomem(err, "snapshots of the kernel");
	lock_request_init(&r->requests);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	r->opts = o;
	r->target = target;
	r->is_late = late;
	r->files = snapshot_files_new("/proc");
	r->users = searches_users(o) ? snapshot_users_new("/proc", keep) : NULL;
	r->callers = run_unwinds_sleepers(o) ? snapshot_stacks_new("/proc", keep) : NULL;
	r->holders = snapshot_holders_new("/proc", "/proc/kallsyms");
	r->runs = snapshot_runs_new("/proc");
	if (!r->files || !r->holders || !r->runs || (run_unwinds_sleepers(o) && !r->callers) ||
	    (searches_users(o) && !r->users) || add_kinds(r, o) < 0) {
		run_snapshots_free(r);
		return error_enomem(err, "snapshots of the kernel");
	}
	r->types = types ? kerntypes_share(types) : NULL;
	*ret = r;
	if (!late)
		run_snapshots_load(r);
	return 0;
}

int run_snapshots_wait(struct run_snapshots *r, struct source *live, struct error *err)
{
	if (!r)
		return 0;
	r->live = live;
	if (r->is_late || wait_until_loaded(r) == 0)
		return 0;
	*err = r->why;
	return err->code;
}

struct snapshot_source *run_snapshots_first(struct run_snapshots *r)
{
	return r ? &r->gate : NULL;
}

struct lock_requests *run_snapshots_requests(struct run_snapshots *r)
{
	return r ? &r->requests : NULL;
}

struct snapshot_uprobes *run_snapshots_uprobes(struct run_snapshots *r)
{
	return r ? r->uprobes : NULL;
}

/* Where BPF reports nothing else, sleeps are summed up all the same, without records. */
static void load_slept(struct run_snapshots *r, struct kerntypes *types)
{
	const struct waitfeed_options alone = {.target = r->target, .sleeps = r->opts->sleeps};
	int code = 0;

	if (r->opts->no_bpf)
		code = error_set(&r->no_slept, -ENOTSUP, "BPF is switched off (--no-bpf)");
	else if (!r->waits && !r->opts->sleeps)
		code = error_set(&r->no_slept, -ENOTSUP, "BPF reports nothing here");
	else if (!r->waits)
		code = waitfeed_new(&r->only_slept, &alone, types, &r->no_slept);
	if (code == 0)
		(void)snapshot_slept_new(&r->slept, r->waits ? r->waits : r->only_slept, r->target,
					 opts_sleeps_ppm(r->opts), &r->no_slept);
}

void run_snapshots_waits(struct run_snapshots *r, struct waitfeed *w, struct kerntypes *types)
{
	if (r)
		r->waits = w;
	if (r && (r->opts->sleeps || run_reports_users(r->opts)))
		load_slept(r, types);
}

void run_snapshots_child(struct run_snapshots *r, int pid)
{
	if (r && r->locks)
		snapshot_locks_child(r->locks, pid);
	if (r && r->slept)
		snapshot_slept_child(r->slept, pid);
}

static void end_thread(struct run_snapshots *r)
{
	pthread_mutex_lock(&r->lock);
	r->ending = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (r->started)
		pthread_join(r->thread, NULL);
}

void run_snapshots_free(struct run_snapshots *r)
{
	if (!r)
		return;
	end_thread(r);
	kerntypes_free(r->types);
	snapshot_uprobes_free(r->uprobes);
	if (r->inspect)
		inspect_free(r->inspect);
	snapshot_locks_free(r->locks);
	snapshot_files_free(r->files);
	snapshot_users_free(r->users);
	snapshot_stacks_free(r->callers);
	snapshot_holders_free(r->holders);
	snapshot_runs_free(r->runs);
	snapshot_tasks_free(r->tasks);
	snapshot_phases_free(r->phases);
	snapshot_holds_free(r->holds);
	snapshot_slept_free(r->slept);
	waitfeed_free(r->only_slept);
	lock_request_deinit(&r->requests);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->changed);
	for (struct one *o = r->ones; o < r->ones + KINDS; o++) {
		if (o->kind)
			sections_deinit(o->kind->sections, o->snap);
		mem_free(o->snap);
		mem_free(o->bytes);
	}
	mem_free(r);
}
