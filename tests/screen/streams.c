// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stream is a list of actors: tasks that wait for a lock, do something else, and wait again, with
 * means and a spread drawn from a generator of fixed seed. All waits of all actors are turned into
 * events, sorted by time and fed to synth with a tick a second, so that a screen shows the same
 * text on every machine. An actor with an age waits since then when the stream ends: that is what
 * the waiters view shows.
 */
#include "kontend/mem.h"
#include "perf-snaps.h"
#include "streams-int.h"
#include "uprobe-snaps.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Busy and quiet seconds: pauses are stretched by so many eighths. */
static const uint8_t rhythm[] = {24, 20, 16, 12, 9, 7, 6, 7, 9, 8, 7, 6, 6, 8, 10, 8, 7, 8, 8, 8};

static uint64_t draw(struct stage *st, uint64_t below)
{
	st->seed = st->seed * 6364136223846793005ull + 1442695040888963407ull;
	return below ? (st->seed >> 33) % below : 0;
}

/* From a sixteenth of @mean to four times it; about @mean on average. */
static uint64_t spread(struct stage *st, uint64_t mean)
{
	/* One draw a statement: within an expression compilers differ in which comes first. */
	uint64_t up = draw(st, 5);
	uint64_t down = draw(st, 3);
	uint64_t base = mean / 4 << up >> down;

	return base / 2 + draw(st, base + 1) + 1;
}

static void add_wait_event(struct stage *st, const struct actor *a, uint64_t time, uint64_t lock,
			   uint32_t cpu, uint32_t flags, bool begins)
{
	if (mem_grow(&st->list, &st->cap, st->n, sizeof(*st->list)))
		abort();
	st->list[st->n] = (struct happening){time, lock, a, cpu, flags, (uint32_t)st->n, begins};
	st->n++;
}

static uint64_t pick_lock(struct stage *st, const struct actor *a)
{
	uint64_t k = a->n_locks ? draw(st, draw(st, a->n_locks) + 1) : 0;
	return a->lock + k * 64;
}

static void add_wait(struct stage *st, const struct actor *a, uint64_t t, uint64_t wait_ns)
{
	uint64_t lock = pick_lock(st, a);
	bool spins = a->flags & LCB_F_SPIN;
	uint32_t end_cpu = spins ? a->cpu : (uint32_t)draw(st, st->n_cpus);
	bool slow = a->flags & LCB_F_MUTEX && wait_ns > 20 * US;

	if (slow)
		add_wait_event(st, a, t, lock, a->cpu, a->flags | LCB_F_SPIN, true);
	add_wait_event(st, a, slow ? t + 10 * US : t, lock, a->cpu, a->flags, true);
	if (wait_ns)
		add_wait_event(st, a, t + wait_ns, lock, end_cpu, a->flags, false);
}

void stage_act(struct stage *st, const struct actor *a)
{
	uint64_t end = START_NS + (uint64_t)st->seconds * SECOND - a->age_ns - 1;
	uint64_t t = START_NS + draw(st, a->pause_ns + 1) + 1;

	synth_comm(st->synth, 0, START_NS, a->pid, a->tid, a->comm);
	while (a->pause_ns) {
		uint64_t second = (t - START_NS) / SECOND % sizeof(rhythm);
		t += spread(st, a->pause_ns) * rhythm[second] / 8;
		uint64_t wait_ns = spread(st, a->wait_ns);
		if (t + wait_ns >= end)
			break;
		add_wait(st, a, t, wait_ns);
		t += wait_ns;
	}
	if (a->age_ns)
		add_wait(st, a, end + 1, 0);
}

static int by_time(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

static void emit(struct stage *st, const struct happening *h)
{
	const struct actor *a = h->actor;
	uint32_t n = 0;

	if (!h->begins) {
		synth_end(st->synth, h->cpu, h->time, a->pid, a->tid, h->lock, 0);
		return;
	}
	while (a->chain && n < FRAMES_MAX && a->chain[n])
		n++;
	synth_set_cgroup(st->synth, a->cgroup);
	synth_begin(st->synth, h->cpu, h->time, a->pid, a->tid, h->lock, h->flags, a->chain, n);
}

/* Emits everything up to @until and closes that second. */
size_t stage_second(struct stage *st, size_t i, uint64_t until)
{
	while (i < st->n && st->list[i].time <= until)
		emit(st, &st->list[i++]);
	synth_tick(st->synth, until);
	return i;
}

void stage_open(struct stage *st, uint32_t n_cpus, uint32_t seconds, const char *kallsyms)
{
	*st = (struct stage){.n_cpus = n_cpus, .seconds = seconds, .seed = 42};
	st->synth = synth_new(n_cpus);
	synth_prologue(st->synth, kallsyms);
	synth_cgroup(st->synth, 0, START_NS, 101, "/system.slice/storm.service");
	synth_cgroup(st->synth, 0, START_NS, 102, "/user.slice/user-0.slice/session-3.scope");
}

void stage_sort(struct stage *st)
{
	if (st->n)
		qsort(st->list, st->n, sizeof(*st->list), by_time);
}

struct synth *stage_close(struct stage *st)
{
	size_t i = 0;
	stage_sort(st);
	for (uint32_t s = 1; s <= st->seconds; s++)
		i = stage_second(st, i, START_NS + (uint64_t)s * SECOND);
	mem_free(st->list);
	return st->synth;
}

static void chain(uint64_t *ret, size_t n, const enum synth_address *a)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = synth_addr(a[i]);
}

#define CHAIN(to, ...)                                                                             \
	chain(to, sizeof((enum synth_address[]){__VA_ARGS__}) / sizeof(enum synth_address),        \
	      (enum synth_address[]){__VA_ARGS__})

void chains_init(struct chains *c)
{
	*c = (struct chains){0};
	CHAIN(c->munmap, SYNTH_RWSEM_DOWN_WRITE_SLOWPATH, SYNTH_DOWN_WRITE_KILLABLE,
	      SYNTH_VM_MUNMAP, SYNTH_X64_SYS_MUNMAP, SYNTH_DO_SYSCALL_64, SYNTH_ENTRY_SYSCALL);
	CHAIN(c->mmap, SYNTH_RWSEM_DOWN_WRITE_SLOWPATH, SYNTH_DOWN_WRITE_KILLABLE,
	      SYNTH_VM_MMAP_PGOFF, SYNTH_X64_SYS_MMAP, SYNTH_DO_SYSCALL_64, SYNTH_ENTRY_SYSCALL);
	CHAIN(c->fault, SYNTH_RWSEM_DOWN_READ_SLOWPATH, SYNTH_DOWN_READ, SYNTH_LOCK_MM_AND_FIND_VMA,
	      SYNTH_DO_USER_ADDR_FAULT, SYNTH_EXC_PAGE_FAULT);
	CHAIN(c->read, SYNTH_MUTEX_LOCK_SLOWPATH, SYNTH_MUTEX_LOCK, SYNTH_PIPE_READ, SYNTH_VFS_READ,
	      SYNTH_KSYS_READ, SYNTH_DO_SYSCALL_64, SYNTH_ENTRY_SYSCALL);
	CHAIN(c->write, SYNTH_MUTEX_LOCK_SLOWPATH, SYNTH_MUTEX_LOCK, SYNTH_PIPE_WRITE,
	      SYNTH_VFS_WRITE, SYNTH_KSYS_WRITE, SYNTH_DO_SYSCALL_64, SYNTH_ENTRY_SYSCALL);
	CHAIN(c->zone, SYNTH_QSPIN_SLOWPATH, SYNTH_RAW_SPIN_LOCK, SYNTH_RMQUEUE_BULK,
	      SYNTH_GET_PAGE, SYNTH_LOCK_MM_AND_FIND_VMA, SYNTH_DO_USER_ADDR_FAULT,
	      SYNTH_EXC_PAGE_FAULT);
	c->unknown[0] = 0xffffffffdead1234;
	c->unknown[1] = 0xffffffffdead5678;
}

static const uint64_t zone_lock = 0xffff88807fffb640, cgroup_mutex = 0xffffffff82000040;

/* Eight threads of one process at its STREAM_MMAP_LOCK: every other one reads. */
static size_t mm_actors(struct actor *a, const struct chains *c)
{
	static const uint64_t age[8] = {
		41200 * US, 31800 * US, 12 * MS, 5100 * US, 1900 * US, 1700 * US,
	};
	for (int i = 0; i < 8; i++) {
		bool reads = i % 2;
		a[i] = (struct actor){
			.pid = 5214,
			.tid = 5215 + i,
			.comm = "mm",
			.cpu = (uint32_t)i % 2,
			.flags = reads ? LCB_F_READ : LCB_F_WRITE,
			.lock = STREAM_MMAP_LOCK,
			.wait_ns = 4 * MS,
			.pause_ns = 3 * MS,
			.age_ns = age[i],
			.cgroup = 101,
			.chain = reads	 ? c->fault
				 : i % 4 ? c->mmap
					 : c->munmap,
		};
	}
	return 8;
}

/* A shell pipe, a static mutex, and the page allocator's lock. */
static size_t other_actors(struct actor *a, const struct chains *c)
{
	const struct actor others[] = {
		{612, 612, "sh", 0, LCB_F_MUTEX, STREAM_PIPE_MUTEX, 0, 75 * US, 20 * MS, 322 * US,
		 c->read, 102},
		{613, 613, "tee", 1, LCB_F_MUTEX, STREAM_PIPE_MUTEX, 0, 40 * US, 40 * MS, 0,
		 c->write, 102},
		{1, 1, "systemd", 1, LCB_F_MUTEX, cgroup_mutex, 0, 8 * US, 300 * MS, 0, c->write,
		 0},
		{5214, 5230, "mm", 0, LCB_F_SPIN, zone_lock, 0, 3 * US, 2 * MS, 0, c->zone, 101},
		{5214, 5231, "mm", 1, LCB_F_SPIN, zone_lock, 0, 3 * US, 2 * MS, 0, c->zone, 101},
	};
	memcpy(a, others, sizeof(others));
	return sizeof(others) / sizeof(*others);
}

size_t stage_storm(struct actor *a, const struct chains *c)
{
	size_t n = mm_actors(a, c);
	return n + other_actors(a + n, c);
}

static struct synth *make_storm(void)
{
	struct chains c;
	struct stage st;
	struct actor actors[16];

	chains_init(&c);
	stage_open(&st, 2, 20, synth_kallsyms);
	size_t n = stage_storm(actors, &c);
	for (size_t i = 0; i < n; i++)
		stage_act(&st, &actors[i]);
	return stage_close(&st);
}

/* Twelve that wait for one lock at the end, some to read, and two for others. */
static struct synth *make_queue(void)
{
	struct chains c;
	struct stage st;
	struct actor actors[16], queue[12];

	chains_init(&c);
	stage_open(&st, 2, 4, synth_kallsyms);
	size_t n = stage_storm(actors, &c);
	for (size_t i = 8; i < n; i++)
		stage_act(&st, &actors[i]);
	for (uint32_t i = 0; i < 12; i++) {
		queue[i] = actors[i % 8];
		queue[i].tid = 5215 + (int32_t)i;
		queue[i].pause_ns = 100 * MS;
		queue[i].age_ns = (i + 2) * 2 * MS;
		stage_act(&st, &queue[i]);
	}
	return stage_close(&st);
}

static struct synth *make_idle(void)
{
	struct stage st;
	stage_open(&st, 2, 3, synth_kallsyms);
	return stage_close(&st);
}

/* The storm on four CPUs with full rings: ends without begin, lost records, throttling. */
static struct synth *make_lossy(void)
{
	struct chains c;
	struct stage st;
	struct actor actors[16];
	size_t i = 0;

	chains_init(&c);
	stage_open(&st, 4, 6, synth_kallsyms);
	size_t n = stage_storm(actors, &c);
	for (size_t k = 0; k < n; k++)
		stage_act(&st, &actors[k]);
	stage_sort(&st);
	for (uint32_t s = 1; s <= st.seconds; s++) {
		uint64_t t = START_NS + (uint64_t)s * SECOND;
		struct record_fill fill = {.used_bytes = 900 << 10, .size_bytes = 1 << 20};
		uint64_t before = t - SECOND;
		synth_lost(st.synth, 1, before + 1, 12345 * s);
		synth_throttle(st.synth, 2, before + 1);
		synth_end(st.synth, 3, before + 2, 700, 700, STREAM_PIPE_MUTEX, 0);
		synth_record(st.synth, RECORD_FILL, 1, &fill, sizeof(fill));
		i = stage_second(&st, i, t);
	}
	mem_free(st.list);
	return st.synth;
}

/* Snapshots that were taken, of which the parts are not all there. */
static struct synth *make_snaplost(void)
{
	const struct record_snapshot lost = {.flags = RECORD_SNAPSHOT_LOST};
	struct stage st;

	stage_open(&st, 2, 3, synth_kallsyms);
	for (int i = 0; i < 3; i++)
		synth_record(st.synth, RECORD_SNAPSHOT, 0, &lost, sizeof(lost));
	return stage_close(&st);
}

/* 1000 locks of several types, 300 tasks, 64 CPUs. */
static struct synth *make_many(void)
{
	static const uint32_t flags[] = {LCB_F_WRITE, LCB_F_READ, LCB_F_MUTEX,
					 LCB_F_PERCPU | LCB_F_READ, LCB_F_RT | LCB_F_MUTEX};
	struct chains c;
	struct stage st;
	struct actor *actors = mem_calloc(300, sizeof(*actors));

	if (!actors)
		abort();
	chains_init(&c);
	const uint64_t *const chain_of[] = {c.munmap, c.fault, c.read, c.write, c.mmap};
	stage_open(&st, 64, 5, synth_kallsyms);
	for (int i = 0; i < 300; i++) {
		actors[i] =
			(struct actor){.pid = 2000 + i / 4,
				       .tid = 2000 + i,
				       .comm = "worker",
				       .cpu = (uint32_t)i % 64,
				       .flags = flags[i % 5],
				       .lock = 0xffff888100000000 + (uint64_t)(i % 5) * 0x1000000,
				       .n_locks = 330,
				       .wait_ns = 900 * US,
				       .pause_ns = 90 * MS,
				       .chain = chain_of[i % 5],
				       .age_ns = i % 3 ? 0 : (uint64_t)(i + 1) * MS,
				       .cgroup = 101 + (i & 1u)};
		stage_act(&st, &actors[i]);
	}
	struct synth *s = stage_close(&st);
	mem_free(actors);
	return s;
}

/* A wait now and then on each of 1024 CPUs, and far more on a few. */
static struct synth *make_cpus(void)
{
	enum { CPUS = 1024 };
	struct chains c;
	struct stage st;
	struct actor *actors = mem_calloc(CPUS, sizeof(*actors));

	if (!actors)
		abort();
	chains_init(&c);
	stage_open(&st, CPUS, 3, synth_kallsyms);
	for (int i = 0; i < CPUS; i++) {
		bool busy = i % 200 == 150;
		actors[i] = (struct actor){.pid = 3000 + i,
					   .tid = 3000 + i,
					   .comm = "worker",
					   .cpu = (uint32_t)i,
					   .flags = LCB_F_SPIN,
					   .lock = 0xffff888100000000 + (uint64_t)(i % 5) * 64,
					   .wait_ns = busy ? 9 * MS : 100 * US,
					   .pause_ns = busy ? 20 * MS : 400 * MS,
					   .chain = i % 2 ? c.zone : c.munmap,
					   .cgroup = 101 + (i & 1u)};
		stage_act(&st, &actors[i]);
	}
	struct synth *s = stage_close(&st);
	mem_free(actors);
	return s;
}

/* Names of two columns a character, no stacks, unknown symbols, a comm full of escapes. */
static struct synth *make_odd(void)
{
	struct chains c;
	struct stage st;

	chains_init(&c);
	struct actor actors[] = {
		{.pid = 901,
		 .tid = 901,
		 .comm = "日本語作業",
		 .cpu = 0,
		 .flags = LCB_F_WRITE,
		 .lock = STREAM_MMAP_LOCK,
		 .wait_ns = 2 * MS,
		 .pause_ns = 9 * MS,
		 .age_ns = 2 * SECOND,
		 .chain = c.unknown},
		{.pid = 902,
		 .tid = 902,
		 .comm = "\033[31mred\n",
		 .cpu = 1,
		 .flags = LCB_F_READ,
		 .lock = STREAM_MMAP_LOCK,
		 .wait_ns = 1 * MS,
		 .pause_ns = 9 * MS,
		 .age_ns = 3 * MS},
		{.pid = 903,
		 .tid = 903,
		 .comm = "kworker/u8:3-ev",
		 .cpu = 1,
		 .flags = LCB_F_MUTEX,
		 .lock = STREAM_PIPE_MUTEX,
		 .wait_ns = 300 * US,
		 .pause_ns = 30 * MS,
		 .chain = c.unknown},
	};
	stage_open(&st, 2, 5, NULL);
	for (size_t i = 0; i < sizeof(actors) / sizeof(*actors); i++)
		stage_act(&st, &actors[i]);
	return stage_close(&st);
}

/* Breakpoints opened side by side: who takes a slot waits for who takes another. */
static size_t slot_actors(struct actor *a, const uint64_t *takes)
{
	for (int i = 0; i < 3; i++)
		a[i] = (struct actor){.pid = 931,
				      .tid = 931 + i,
				      .comm = "app",
				      .cpu = (uint32_t)i % 2,
				      .flags = LCB_F_MUTEX,
				      .lock = 0xffff888105a06e38,
				      .wait_ns = 300 * US,
				      .pause_ns = 60 * MS,
				      .chain = takes};
	return 3;
}

/* A machine of perf-snaps.h, looked at once a second; on one of them slots are fought for. */
static struct synth *make_slots(const char *machine)
{
	uint64_t takes[FRAMES_MAX] = {synth_addr(SYNTH_MUTEX_LOCK_SLOWPATH),
				      synth_addr(SYNTH_MUTEX_LOCK), 0xffffffff81f00010,
				      synth_addr(SYNTH_DO_SYSCALL_64)};
	struct actor actors[3];
	struct stage st;
	char symbols[8192];
	size_t i = 0;

	snprintf(symbols, sizeof(symbols),
		 "%sffffffff81f00000 t bp_constraints_lock.isra.0\nffffffff81f00100 t fput\n",
		 synth_kallsyms);
	stage_open(&st, 2, 4, symbols);
	size_t n = strcmp(machine, "x86") == 0 ? slot_actors(actors, takes) : 0;
	for (size_t k = 0; k < n; k++)
		stage_act(&st, &actors[k]);
	stage_sort(&st);
	for (uint32_t s = 1; s <= st.seconds; s++) {
		uint64_t t = START_NS + (uint64_t)s * SECOND;
		perf_snap_emit(st.synth, machine, t - 300 * MS);
		i = stage_second(&st, i, t);
	}
	mem_free(st.list);
	return st.synth;
}

/* Threads that are hit wait for one another: two for a slot, one before it knows the probe. */
static void act_in_hits(struct stage *st, struct actor a[3])
{
	static const uint64_t hits[FRAMES_MAX] = {0xffffffff81f00210, 0xffffffff81f00110,
						  0xffffffff81f00010};

	for (int i = 0; i < 3; i++) {
		a[i] = (struct actor){.pid = 7301,
				      .tid = 7301 + i,
				      .comm = "app",
				      .cpu = (uint32_t)i % 2,
				      .flags = LCB_F_MUTEX,
				      .lock = STREAM_PIPE_MUTEX,
				      .wait_ns = 300 * US,
				      .pause_ns = 60 * MS,
				      .chain = i ? hits : hits + 1};
		stage_act(st, &a[i]);
	}
}

/* Uprobes as uprobe-snaps.h has them, looked at once a second; "waits": busy, and locks are. */
static struct synth *make_uprobes(const char *name)
{
	bool waits = strcmp(name, "waits") == 0;
	struct actor actors[3];
	char symbols[8192];
	struct stage st;
	size_t i = 0;

	snprintf(symbols, sizeof(symbols),
		 "%sffffffff81f00000 T uprobe_notify_resume\n"
		 "ffffffff81f00100 t handle_swbp\n"
		 "ffffffff81f00200 t xol_take_insn_slot\nffffffff81f00300 t fput\n",
		 synth_kallsyms);
	stage_open(&st, 2, 4, waits ? symbols : synth_kallsyms);
	if (waits)
		act_in_hits(&st, actors);
	stage_sort(&st);
	for (uint32_t s = 1; s <= st.seconds; s++) {
		uint64_t t = START_NS + (uint64_t)s * SECOND;
		uprobe_snap_emit(st.synth, waits ? "busy" : name, t - 300 * MS);
		i = stage_second(&st, i, t);
	}
	mem_free(st.list);
	return st.synth;
}

static const struct {
	const char *name;
	struct synth *(*make)(void);
} streams[] = {
	{"storm", make_storm},
	{"idle", make_idle},
	{"queue", make_queue},
	{"lossy", make_lossy},
	{"many", make_many},
	{"cpus", make_cpus},
	{"odd", make_odd},
	{"snaplost", make_snaplost},
	{"mmap", stream_mmap},
	{"mmap-none", stream_mmap_none},
	{"blocked", stream_blocked},
	{"blocked-proc", stream_blocked_proc},
	{"blocked-slept", stream_blocked_slept},
	{"why", stream_why},
	{"no-bpf", stream_no_bpf},
	{"hot", stream_hot},
	{"hot-cpus", stream_hot_cpus},
	{"hot-named", stream_hot_named},
	{"hot-foreign", stream_hot_foreign},
	{"annotate", stream_annotate},
	{"annotate-arm64", stream_annotate_arm64},
	{"mmap-all", stream_mmap_all},
	{"mmap-sampled", stream_mmap_sampled},
	{"mmap-paths", stream_mmap_paths},
	{"trylock", stream_trylock},
	{"followed", stream_followed},
	{"users", stream_users},
	{"inversion", stream_inversion},
	{"lines", stream_lines},
	{"lines-over", stream_lines_over},
};

struct synth *stream_make(const char *name)
{
	if (!strncmp(name, "slots-", 6))
		return make_slots(name + 6);
	if (!strncmp(name, "uprobes-", 8))
		return make_uprobes(name + 8);
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		if (!strcmp(name, streams[i].name))
			return streams[i].make();
	return NULL;
}
