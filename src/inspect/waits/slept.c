// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has sleeps in state D summed up (slept.bpf.c) from the first snapshot on, and copies their sums
 * into each. Tasks that exist get their storage before sleeps are looked at; new ones from then on.
 */
#include "slept.h"
#include "bpf-run.h"
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/snapshot-slept.h"
#include "kontend/sysinfo.h"
#include "kontend/text.h"
#include "locks/asked.h"
#include "slept-price.h"
#include "user-events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = 256, COMM = 16 };

struct snapshot_slept {
	struct waitfeed_sleeps of;
	struct bpf_link *old_tasks, *sleeping_tasks;
	struct raw_slept_state *state; /* shared with the programs */
	struct asked asked;
	int slept, more, chains; /* descriptors of maps */
	int new_task, link;	 /* the program of new tasks; its link, -1: not attached */
	const struct target *target;
	int child;
	uint64_t from_ns; /* 0: never attached */
	bool attached, taken;
	struct slept_price price;
	struct user_events users;
	struct map64 rows;
	struct raw_slept_key keys[BATCH];
	struct raw_slept_sum sums[BATCH];
};

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof(*(ARRAY)))

int slept_leave(struct bpf_object *o, bool sums, bool users)
{
	static const char *const storage[] = {"new_task", "old_tasks"}, *const now[] = {
										"sleeping_tasks"};
	static const char *const all_maps[] = {".data.slept", ".data.asked", "asked_cpus",
					       "asked_ids"};
	static const char *const maps[] = {"sleep_of", "slept_chains", "slept_rooms", "slept",
					   "slept_more"};
	static const char *const user_maps[] = {"user_of",     "user_rooms", "user_locks",
						"user_new",    "user_sites", "user_counts",
						"user_stacks", ".data.user", ".data.usermarks"};
	bool any = sums || users;
	int code = any ? 0 : bpf_run_leave_programs(o, storage, COUNT(storage));

	code = code < 0 || any ? code : bpf_run_leave_maps(o, all_maps, COUNT(all_maps));
	code = code < 0 || sums ? code : bpf_run_leave_programs(o, now, COUNT(now));
	code = code < 0 || sums ? code : bpf_run_leave_maps(o, maps, COUNT(maps));
	return code < 0 || users ? code : bpf_run_leave_maps(o, user_maps, COUNT(user_maps));
}

static int find_maps(struct snapshot_slept *s, struct bpf_object *o, struct error *err)
{
	if (s->of.user_ns && user_events_open(&s->users, o, s->of.user_ns, err) < 0)
		return err->code;
	s->state = bpf_run_map(o, ".data.slept", sizeof(*s->state), PROT_READ | PROT_WRITE, err);
	if (!s->state || asked_open(&s->asked, o, err) < 0 || !s->of.sums)
		return err->code;
	s->slept = bpf_object__find_map_fd_by_name(o, "slept");
	s->more = bpf_object__find_map_fd_by_name(o, "slept_more");
	s->chains = bpf_object__find_map_fd_by_name(o, "slept_chains");
	if (s->slept < 0 || s->more < 0 || s->chains < 0)
		return error_set(err, -ENOENT, "The BPF object lacks a map of sleeps");
	return 0;
}

static int find_programs(struct snapshot_slept *s, struct bpf_object *o, struct error *err)
{
	s->new_task = bpf_run_program(o, "new_task", err);
	if (s->new_task < 0)
		return s->new_task;
	s->old_tasks = bpf_run_iterator(o, "old_tasks", err);
	if (s->old_tasks && s->of.sums)
		s->sleeping_tasks = bpf_run_iterator(o, "sleeping_tasks", err);
	return s->old_tasks && (s->sleeping_tasks || !s->of.sums) ? 0 : err->code;
}

int snapshot_slept_new(struct snapshot_slept **ret, struct waitfeed *w, const struct target *target,
		       uint32_t limit_ppm, struct error *err)
{
	struct snapshot_slept *s = mem_calloc(1, sizeof(*s));

	*ret = NULL;
	if (!s)
		return error_enomem(err, "sums of sleeps");
	s->link = -1;
	s->target = target;
	s->price.limit_ppm = s->users.price.limit_ppm = limit_ppm;
	int code = waitfeed_sleeps(w, &s->of, err);
	code = code < 0 ? code : find_maps(s, s->of.object, err);
	code = code < 0 ? code : find_programs(s, s->of.object, err);
	if (code < 0) {
		snapshot_slept_free(s);
		return code;
	}
	*ret = s;
	return 0;
}

/* The programs at the scheduler's tracepoints may stay for others. */
static void detach(struct snapshot_slept *s)
{
	if (s->state)
		__atomic_store_n(&s->state->level, RAW_SLEPT_OFF, __ATOMIC_RELAXED);
	user_events_run(&s->users, false);
	if (s->attached)
		sched_leave(s->of.sched);
	s->attached = false;
	if (s->link >= 0)
		close(s->link);
	s->link = -1;
}

/* Of 64 bits that the programs write. */
static uint64_t counter(const unsigned long long *c)
{
	return __atomic_load_n(c, __ATOMIC_RELAXED);
}

int slept_storage(uint64_t given, uint64_t refused, struct error *err)
{
	if (given || !refused)
		return 0;
	return error_set(err, -ENOTSUP,
			 "The kernel gives BPF no memory for tasks, so sleeps cannot be measured: "
			 "Linux 7 needs a CPU with cmpxchg16b (x86-64) or LSE atomics (arm64) for "
			 "that");
}

static int give_storage(struct snapshot_slept *s, struct error *err)
{
	s->link = bpf_raw_tracepoint_open(NULL, s->new_task);
	if (s->link < 0)
		return error_errno(err, -errno, "Cannot attach the BPF program new_task");
	s->state->given = s->state->refused = 0;
	int code = bpf_run_iterate(s->old_tasks);
	if (code < 0)
		return error_errno(err, code, "Cannot give tasks the storage for their sleeps");
	return slept_storage(counter(&s->state->given), counter(&s->state->refused), err);
}

static int attach(struct snapshot_slept *s, struct error *err)
{
	int code = asked_report(&s->asked, s->target, s->child, err);

	code = code < 0 ? code : give_storage(s, err);
	if (code < 0)
		return code;
	code = sched_use(s->of.sched);
	s->attached = code == 0;
	return code < 0 ? error_errno(err, code, "Cannot attach the BPF programs of sleeps") : 0;
}

static int find_chain(void *arg, uint64_t hash, struct raw_slept_chain *ret)
{
	const struct snapshot_slept *s = arg;

	return bpf_map_lookup_elem(s->chains, &hash, ret) < 0 ? -errno : 0;
}

static uint32_t add_comm(struct sleptsnap *ret, const char *comm)
{
	char text[COMM + 1] = {0}, clean[COMM + 1];

	memcpy(text, comm, COMM);
	return sleptsnap_add_text(ret, text_clean(clean, sizeof(clean), text));
}

static int add_frames(struct slept_fill *f, uint64_t hash, struct sleptsnap_row *row)
{
	const uint32_t *known = hash ? map64_get(&f->rows, hash) : NULL;
	struct raw_slept_chain chain;
	int code = 0;

	if (known) {
		row->frame = f->ret->rows[*known].frame;
		row->n_frames = f->ret->rows[*known].n_frames;
		return 0;
	}
	if (!hash || f->chain(f->arg, hash, &chain) < 0)
		return 0;
	row->frame = (uint32_t)f->ret->n_frames;
	for (uint32_t i = 0; code == 0 && i < chain.n && i < RAW_SLEPT_FRAMES; i++)
		code = sleptsnap_add_frame(f->ret, chain.frames[i]);
	row->n_frames = (uint32_t)f->ret->n_frames - row->frame;
	return code < 0 ? code : map64_put(&f->rows, hash, (uint32_t)f->ret->n_rows);
}

int slept_fill(struct slept_fill *f, const struct raw_slept_key *key,
	       const struct raw_slept_sum *sum)
{
	struct sleptsnap_row row = {
		.pid = key->pid,
		.comm = add_comm(f->ret, sum->comm),
		.kind = key->kind == RAW_SLEPT_IO ? LOCKSNAP_IO : LOCKSNAP_DISK,
		.waker = sum->waker,
		.waker_comm = add_comm(f->ret, sum->waker_comm),
		.sleeps = sum->sleeps,
		.total_ns = sum->total_ns,
		.max_ns = sum->max_ns,
	};
	/* It is being made on another CPU. */
	int code = sum->sleeps ? add_frames(f, key->chain, &row) : 0;

	return code < 0 || !sum->sleeps ? code : sleptsnap_add_row(f->ret, &row);
}

static int read_sums(struct snapshot_slept *s, int map, struct slept_fill *f)
{
	uint32_t at, *before = NULL;
	int code = 0, last = 0;

	while (code == 0 && !last) {
		uint32_t n = BATCH;
		last = bpf_map_lookup_batch(map, before, &at, s->keys, s->sums, &n, NULL) < 0
			       ? errno
			       : 0;
		if (last && last != ENOENT) /* the end */
			return -last;
		for (uint32_t i = 0; code == 0 && i < n; i++)
			code = slept_fill(f, &s->keys[i], &s->sums[i]);
		before = &at;
	}
	return code;
}

/* Of sleeps that began while nothing was measured, neither the begin nor the end is known. */
static void set_level(struct snapshot_slept *s, unsigned level)
{
	if (s->state->level == RAW_SLEPT_OFF)
		__atomic_store_n(&s->state->epoch, s->state->epoch + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&s->state->level, level, __ATOMIC_RELAXED);
}

/* Attached unless sleeps have cost too much since the snapshot before. */
static int govern(struct snapshot_slept *s, struct error *err)
{
	const struct slept_look look = {.time_ns = clock_now_ns(),
					.busy_ns = counter(&s->state->busy_ns),
					.switches = sysinfo_switches(),
					.cpus = sysconf(_SC_NPROCESSORS_ONLN)};
	unsigned level = s->of.sums ? slept_price_look(&s->price, &look) : RAW_SLEPT_OFF;
	unsigned users = user_events_govern(&s->users, look);
	int code = 0;

	if (level == RAW_SLEPT_OFF && users == RAW_SLEPT_OFF)
		detach(s);
	else if (!s->attached)
		code = attach(s, err);
	if (!s->attached)
		return code;
	set_level(s, level);
	user_events_run(&s->users, users != RAW_SLEPT_OFF);
	if (!s->from_ns)
		s->from_ns = clock_now_ns();
	return 0;
}

/* The first snapshot tries again what has failed, and reports it. */
void snapshot_slept_child(struct snapshot_slept *s, int pid)
{
	struct error err = {0};

	s->child = pid;
	if (govern(s, &err) < 0)
		detach(s);
}

/* Tasks that sleep now; of programs that are not attached there are none. */
static int count_sleeping(struct snapshot_slept *s)
{
	s->state->now = s->state->now_ns = 0;
	return s->attached ? bpf_run_iterate(s->sleeping_tasks) : 0;
}

static void fill_head(const struct snapshot_slept *s, struct sleptsnap_head *ret)
{
	ret->time_ns = clock_now_ns();
	ret->from_ns = s->from_ns;
	ret->dropped = counter(&s->state->dropped);
	ret->level = s->price.level;
	ret->min_ns = s->of.min_ns;
	ret->records = counter(&s->state->records);
	ret->missed = counter(&s->state->missed);
	ret->switch_ps = s->price.switch_ps;
	ret->off_ns = s->price.off_ns;
	ret->now = counter(&s->state->now);
	ret->now_ns = counter(&s->state->now_ns);
}

int snapshot_slept_take(struct snapshot_slept *s, struct sleptsnap *ret)
{
	struct slept_fill f = {.ret = ret, .rows = s->rows, .chain = find_chain, .arg = s};
	struct error err = {0};
	int code = 0;

	sleptsnap_clear(ret);
	if (govern(s, &err) < 0) {
		detach(s);
		ret->head.time_ns = clock_now_ns();
		ret->head.reason = sleptsnap_add_text(ret, err.text);
		return 0;
	}
	map64_clear(&f.rows);
	code = count_sleeping(s);
	code = code < 0 ? code : read_sums(s, s->slept, &f);
	code = code < 0 ? code : read_sums(s, s->more, &f);
	s->rows = f.rows;
	fill_head(s, &ret->head);
	ret->head.is_first = !s->taken;
	s->taken = true;
	return code;
}

int snapshot_slept_users(struct snapshot_slept *s, struct usersnap *ret)
{
	struct error err = {0};

	usersnap_clear(ret);
	ret->head.time_ns = clock_now_ns();
	if (govern(s, &err) < 0) {
		detach(s);
		ret->head.reason = usersnap_add_text(ret, err.text);
		return 0;
	}
	ret->head.from_ns = s->from_ns;
	return user_events_take(&s->users, ret);
}

size_t snapshot_slept_new_locks(struct snapshot_slept *s, struct snapshot_users_lock *ret,
				size_t most)
{
	return user_events_new(&s->users, ret, most);
}

size_t snapshot_slept_stacks(struct snapshot_slept *s, struct usersite_stack *ret, size_t most)
{
	return user_events_stacks(&s->users, ret, most);
}

int snapshot_slept_learn(struct snapshot_slept *s, const struct snapshot_users_path *paths,
			 size_t n)
{
	return user_events_learn(&s->users, paths, n);
}

void snapshot_slept_free(struct snapshot_slept *s)
{
	if (!s)
		return;
	detach(s);
	map64_deinit(&s->rows);
	asked_close(&s->asked);
	bpf_run_unmap(s->state, sizeof(*s->state));
	user_events_close(&s->users);
	bpf_link__destroy(s->old_tasks);
	bpf_link__destroy(s->sleeping_tasks);
	mem_free(s);
}
