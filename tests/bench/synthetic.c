// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a recording of a machine that is not at hand: any number of CPUs, tasks, locks and
 * call chains, the same bytes for the same seed. Made and written piece by piece, so its length
 * costs no memory. It prints its content as JSON, by lock, by task and by chain, without folding:
 * the truth that a report of the file must show. perf reads the file, too.
 *
 * Waits are a writer's for a rwsem, so they pair by task and may end on another CPU. Losses, gaps
 * and reused tids come while no task waits, which the file proves: no wait is doubtful. Besides,
 * threads may sleep for locks of programs, and so many tasks wait for one lock at a time, which
 * hands it on in the order of their arrival.
 *
 *     synthetic OUT [KEY=NUMBER...]	keys and defaults: see `knobs`
 */
#include "kontend/userlock.h"
#include "kontend/writer.h"
#include "synth.h"
#include "synthetic-machine.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 20000, STEP_NS = 500, GAP_NS = 1000000000, FIRST_TID = 1000, FAN = 256 };
#define LOCK_SOME UINT32_MAX /* one at random */

enum knob {
	EVENTS,
	CPUS,
	TASKS,
	LOCKS,
	ZIPF,
	CHAINS,
	DEPTH,
	MIGRATE,
	LOST,
	REUSE,
	GAPS,
	SEED,
	STEP,
	START,
	HOST,
	DAY,
	KERNEL,
	WORSE,
	INCIDENT,
	AHEAD,
	NAMELESS,
	FOREIGN,
	ODD,
	USERS,
	WAITERS,
	KNOBS
};

static const struct {
	const char *key;
	double value, min, max;
} knobs[KNOBS] = {
	[EVENTS] = {"events", 100000, 2, 1e9},
	[CPUS] = {"cpus", 2, 1, 4096},
	[TASKS] = {"tasks", 100, 2, 4e6},
	[LOCKS] = {"locks", 100, 1, 1e7},
	[ZIPF] = {"zipf", 1, 0, 5}, /* exponent; 0: each lock as often */
	[CHAINS] = {"chains", 50, 1, 1e6},
	[DEPTH] = {"depth", 12, 1, 120},
	[MIGRATE] = {"migrate", 10, 0, 100}, /* percent of the waits */
	[LOST] = {"lost", 0, 0, 1e6},	     /* records, each of three events */
	[REUSE] = {"reuse", 0, 0, 1e6},	     /* tids that a new task gets */
	[GAPS] = {"gaps", 0, 0, 1e6},	     /* seconds without an event */
	[SEED] = {"seed", 1, 0, 4e9},
	[STEP] = {"step", STEP_NS, 1, 1e9}, /* ns between events */
	[START] = {"start", 1e9, 1, 1e15},  /* when it begins, by the session clock */
	/* Of a fleet: the number of the machine, 0: it is none; days and kernels by number. */
	[HOST] = {"host", 0, 0, 1e6},
	[DAY] = {"day", 0, 0, 10000},
	[KERNEL] = {"kernel", 0, 0, 100},
	[WORSE] = {"worse", 0, 0, 1e6},	      /* number + 1 of a chain that waits longer */
	[INCIDENT] = {"incident", 0, 0, 1e7}, /* number + 1 of a lock that a trigger has caught */
	[AHEAD] = {"ahead", 0, 0, 1e6},	      /* seconds that its clock of the wall is ahead */
	[NAMELESS] = {"nameless", 0, 0, 1},   /* neither machine nor boot id */
	[FOREIGN] = {"foreign", 0, 0, 1},     /* it has something of a later version */
	[ODD] = {"odd", 0, 0, 1},	      /* names of tasks are no words */
	[USERS] = {"users", 0, 0, 1e6},	      /* locks of programs: a quarter of the waits */
	[WAITERS] = {"waiters", 0, 0, 1e6},   /* for one lock more, at a time: half of the waits */
};

struct sum {
	uint64_t waits, ns;
};

struct task {
	struct sum sum;
	uint32_t generation;
	bool waits;
};

struct longest_recent {
	uint32_t task, generation;
	struct sum sum;
};

struct slot {
	uint64_t since;
	uint32_t task, lock, chain, cpu;
	bool taken, user; /* the lock is one of a program */
};

struct machine {
	double knob[KNOBS];
	struct synth *s;
	uint64_t seed, t, left; /* waits to begin */
	double *up_to;		/* the share of locks up to this one */
	struct task *tasks;
	struct longest_recent *past; /* tasks whose tid another has now */
	size_t n_past;
	struct sum *locks, *chains, *users;
	uint64_t *durations; /* of each wait, with HOST */
	size_t n_durations;
	struct slot slots[FAN];
	uint32_t n_slots;
	struct slot *queue; /* a ring of the waiters for one lock, the first at `head` */
	uint32_t head, queued;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "synthetic: %s\n", what);
	exit(1);
}

static void *zeroed(double n, size_t size)
{
	void *p = calloc((size_t)n, size);

	if (!p)
		fail("out of memory");
	return p;
}

static uint32_t below(struct machine *m, double n)
{
	m->seed = m->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((m->seed >> 33) % (uint64_t)n);
}

static void share_locks(struct machine *m)
{
	size_t n = (size_t)m->knob[LOCKS];
	double sum = 0;

	m->up_to = zeroed((double)n, sizeof(*m->up_to));
	for (size_t i = 0; i < n; i++)
		m->up_to[i] = sum += pow((double)(i + 1), -m->knob[ZIPF]);
}

static uint32_t some_lock(struct machine *m)
{
	size_t low = 0, high = (size_t)m->knob[LOCKS] - 1;
	double at = below(m, 1 << 30) / (double)(1 << 30) * m->up_to[high];

	while (low < high) {
		size_t mid = (low + high) / 2;
		if (m->up_to[mid] > at)
			high = mid;
		else
			low = mid + 1;
	}
	return (uint32_t)low;
}

static uint64_t lock_address(uint32_t lock)
{
	return 0xffff888000000000ull + lock * 64ull;
}

/* The frame by which chains differ. */
static uint64_t chain_address(uint32_t chain)
{
	return SYNTHETIC_CHAINS + chain * (uint64_t)SYNTHETIC_FUNCTION;
}

/* One after the other in one process. */
static uint64_t user_address(uint32_t lock)
{
	return userlock_addr(userlock_space(FIRST_TID, 100, 0x7000), 0x5000 + lock * 64ull);
}

static int tid_of(uint32_t task)
{
	return FIRST_TID + (int)task;
}

static void name_task(struct machine *m, uint32_t task)
{
	char comm[16];

	snprintf(comm, sizeof(comm),
		 m->knob[ODD] ? "\"\n\xff\\\t%" PRIu32 ".%" PRIu32 : "t%" PRIu32 ".%" PRIu32, task,
		 m->tasks[task].generation);
	synth_comm(m->s, task % (uint32_t)m->knob[CPUS], m->t, tid_of(task), tid_of(task), comm);
}

static uint32_t some_task(struct machine *m)
{
	uint32_t task;

	do
		task = below(m, m->knob[TASKS]);
	while (m->tasks[task].waits);
	m->tasks[task].waits = true;
	return task;
}

/* Its record comes when it ends. */
static void begin_user(struct machine *m, struct slot *k)
{
	*k = (struct slot){.since = m->t,
			   .task = some_task(m),
			   .lock = below(m, m->knob[USERS]),
			   .cpu = below(m, m->knob[CPUS]),
			   .taken = true,
			   .user = true};
}

static void begin(struct machine *m, struct slot *k, uint32_t lock)
{
	uint64_t frames[120];
	uint32_t depth = (uint32_t)m->knob[DEPTH], task = some_task(m);

	*k = (struct slot){.since = m->t,
			   .task = task,
			   .lock = lock == LOCK_SOME ? some_lock(m) : lock,
			   .chain = below(m, m->knob[CHAINS]),
			   .cpu = below(m, m->knob[CPUS]),
			   .taken = true};
	for (uint32_t i = 0; i < depth; i++)
		frames[i] = i ? SYNTHETIC_OUTER + i * 4096 : chain_address(k->chain);
	synth_begin(m->s, k->cpu, m->t, tid_of(task), tid_of(task), lock_address(k->lock),
		    LCB_F_WRITE, frames, depth);
}

static void add_time(struct sum *sum, uint64_t ns)
{
	sum->waits++;
	sum->ns += ns;
}

static void end_user(struct machine *m, struct slot *k)
{
	uint64_t ns = m->t - k->since;
	struct userrec r = {.magic = USERREC_MAGIC,
			    .lock = user_address(k->lock),
			    .begin_ns = k->since,
			    .length_ns = ns,
			    .woken_ns = m->t,
			    .addr = 0x5000 + k->lock * 64ull,
			    .pid = tid_of(k->task),
			    .tid = tid_of(k->task),
			    .kind = USERLOCK_MUTEX,
			    .flags = USERREC_HANDED,
			    .cpu = k->cpu};

	snprintf(r.comm, sizeof(r.comm), "t%" PRIu32 ".%" PRIu32, k->task,
		 m->tasks[k->task].generation);
	synth_user(m->s, k->cpu, m->t, &r);
	add_time(&m->users[k->lock], ns);
	add_time(&m->tasks[k->task].sum, ns);
	m->tasks[k->task].waits = false;
	k->taken = false;
}

static void end(struct machine *m, struct slot *k)
{
	uint64_t ns = m->t - k->since;
	uint32_t cpu = k->cpu;

	if (k->user) {
		end_user(m, k);
		return;
	}
	if (below(m, 100) < m->knob[MIGRATE])
		cpu = below(m, m->knob[CPUS]);
	synth_end(m->s, cpu, m->t, tid_of(k->task), tid_of(k->task), lock_address(k->lock), 0);
	add_time(&m->locks[k->lock], ns);
	add_time(&m->tasks[k->task].sum, ns);
	add_time(&m->chains[k->chain], ns);
	if (m->durations)
		m->durations[m->n_durations++] = ns;
	m->tasks[k->task].waits = false;
	k->taken = false;
}

/* One more waits, or the first one gets the lock. */
static void queue_step(struct machine *m)
{
	uint32_t most = (uint32_t)m->knob[WAITERS];

	if (m->queued == most) {
		end(m, &m->queue[m->head]);
		m->head = (m->head + 1) % most;
		m->queued--;
	} else {
		begin(m, &m->queue[(m->head + m->queued++) % most], (uint32_t)m->knob[LOCKS]);
		m->left--;
	}
}

static void machine_step(struct machine *m)
{
	struct slot *k;

	m->t += (uint64_t)m->knob[STEP];
	if (m->knob[WAITERS] && below(m, 2)) {
		queue_step(m);
		return;
	}
	k = &m->slots[below(m, m->n_slots)];
	if (k->taken) {
		/* The chain that waits longer does so four times as long. */
		if (k->chain + 1 != m->knob[WORSE] || !below(m, 4))
			end(m, k);
		return;
	}
	if (m->knob[USERS] && !below(m, 4))
		begin_user(m, k);
	else
		begin(m, k, LOCK_SOME);
	m->left--;
}

static void end_queue(struct machine *m)
{
	for (; m->queued; m->queued--) {
		m->t += STEP_NS;
		end(m, &m->queue[m->head]);
		m->head = (m->head + 1) % (uint32_t)m->knob[WAITERS];
	}
}

static void end_all(struct machine *m)
{
	end_queue(m);
	for (struct slot *k = m->slots; k < m->slots + m->n_slots; k++) {
		m->t += STEP_NS;
		if (k->taken)
			end(m, k);
	}
}

/* Lost records may be as old as the ring's last record: there is one after the last wait. */
static void lose(struct machine *m)
{
	uint32_t cpu = below(m, m->knob[CPUS]);

	end_all(m);
	m->t += STEP_NS;
	synth_comm(m->s, cpu, m->t, 1, 1, "init");
	m->t += STEP_NS;
	synth_lost(m->s, cpu, m->t, 3);
}

static void reuse_tid(struct machine *m)
{
	uint32_t task = below(m, m->knob[TASKS]);
	struct task *k = &m->tasks[task];

	m->past[m->n_past++] = (struct longest_recent){task, k->generation, k->sum};
	k->sum = (struct sum){0};
	k->generation++;
	synth_exit(m->s, 0, m->t, tid_of(task), tid_of(task));
	m->t += STEP_NS;
	synth_fork(m->s, 0, m->t, tid_of(task), tid_of(task), 1, 1);
	m->t += STEP_NS;
	name_task(m, task);
}

/* Whether the next of @all things, which come at even distances, is due. */
static bool due(const struct machine *m, enum knob all, uint64_t done)
{
	uint64_t waits = (uint64_t)m->knob[EVENTS] / 2;

	return done < m->knob[all] &&
	       (double)(waits - m->left) * (m->knob[all] + 1) >= (double)waits * (double)(done + 1);
}

static void disturb(struct machine *m, uint64_t done[KNOBS])
{
	for (; due(m, LOST, done[LOST]); done[LOST]++) {
		lose(m);
	}
	for (; due(m, REUSE, done[REUSE]); done[REUSE]++) {
		end_all(m);
		reuse_tid(m);
	}
	for (; due(m, GAPS, done[GAPS]); done[GAPS]++) {
		end_all(m);
		m->t += GAP_NS;
	}
}

/* Writes the added records to the file. */
static void put_piece(struct machine *m, struct writer *w)
{
	struct error err = {0};

	synth_tick(m->s, m->t);
	for (size_t i = 0; i < synth_count(m->s); i++)
		if (writer_put(w, synth_at(m->s, i), &err))
			fail(err.text);
	synth_free(m->s);
	m->s = synth_new((uint32_t)m->knob[CPUS]);
}

static struct synthetic_machine fleet_of(const struct machine *m)
{
	return (struct synthetic_machine){.number = (uint32_t)m->knob[HOST],
					  .day = (uint32_t)m->knob[DAY],
					  .kernel = (uint32_t)m->knob[KERNEL],
					  .chains = (uint32_t)m->knob[CHAINS],
					  .incident_lock = (uint32_t)m->knob[INCIDENT],
					  .ahead_s = (uint32_t)m->knob[AHEAD],
					  .nameless = m->knob[NAMELESS] != 0,
					  .foreign = m->knob[FOREIGN] != 0,
					  .from_ns = m->t};
}

static void put_prologue(struct machine *m)
{
	const struct synthetic_machine f = fleet_of(m);

	if (f.number)
		synthetic_machine_put(m->s, &f);
	else
		synth_prologue(m->s, NULL);
	if (m->knob[USERS])
		synth_outputs(m->s);
}

static void write_all(struct machine *m, struct writer *w)
{
	uint64_t done[KNOBS] = {0};

	m->t = (uint64_t)m->knob[START];
	put_prologue(m);
	for (uint32_t i = 0; i < m->knob[TASKS]; i++)
		name_task(m, i);
	while (m->left) {
		for (unsigned i = 0; i < PIECE && m->left; i++) {
			machine_step(m);
			disturb(m, done);
		}
		if (!m->left)
			end_all(m);
		put_piece(m, w);
	}
}

static void print_sum(const struct sum *sum)
{
	printf("\"waits\":%" PRIu64 ",\"wait_ns\":%" PRIu64 "}", sum->waits, sum->ns);
}

static void print_task(const char **comma, uint32_t task, uint32_t generation,
		       const struct sum *sum)
{
	if (!sum->waits)
		return;
	printf("%s{\"tid\":%d,\"comm\":\"t%" PRIu32 ".%" PRIu32 "\",", *comma, tid_of(task), task,
	       generation);
	print_sum(sum);
	*comma = ",\n";
}

static void print_addresses(const char *name, const struct sum *sums, double n,
			    uint64_t (*address)(uint32_t))
{
	const char *comma = "";

	printf(",\n\"%s\":[\n", name);
	for (uint32_t i = 0; i < n; i++) {
		if (!sums[i].waits)
			continue;
		printf("%s{\"address\":\"0x%" PRIx64 "\",", comma, address(i));
		print_sum(&sums[i]);
		comma = ",\n";
	}
	printf("]");
}

static void print_fleet(const struct machine *m)
{
	const struct synthetic_machine f = fleet_of(m);

	if (!f.number)
		return;
	synthetic_machine_print(&f);
	printf("\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64 ",\"durations\":[",
	       (uint64_t)m->knob[START], m->t);
	for (size_t i = 0; i < m->n_durations; i++)
		printf("%s%" PRIu64, i ? "," : "", m->durations[i]);
	printf("],\n");
}

static void print_truth(const struct machine *m)
{
	const char *comma = "";

	printf("{\"lost\":%" PRIu64 ",\n", 3 * (uint64_t)m->knob[LOST]);
	print_fleet(m);
	printf("\"tasks\":[\n");
	for (size_t i = 0; i < m->n_past; i++)
		print_task(&comma, m->past[i].task, m->past[i].generation, &m->past[i].sum);
	for (uint32_t i = 0; i < m->knob[TASKS]; i++)
		print_task(&comma, i, m->tasks[i].generation, &m->tasks[i].sum);
	printf("]");
	print_addresses("locks", m->locks, m->knob[LOCKS] + 1, lock_address);
	print_addresses("users", m->users, m->knob[USERS], user_address);
	print_addresses("chains", m->chains, m->knob[CHAINS], chain_address);
	printf("}\n");
}

static void set_knob(struct machine *m, const char *arg)
{
	const char *is = strchr(arg, '=');

	for (int i = 0; is && i < KNOBS; i++) {
		if (strlen(knobs[i].key) != (size_t)(is - arg) ||
		    strncmp(arg, knobs[i].key, (size_t)(is - arg)) != 0)
			continue;
		m->knob[i] = strtod(is + 1, NULL);
		if (!(m->knob[i] >= knobs[i].min && m->knob[i] <= knobs[i].max))
			fail("a number is out of range");
		return;
	}
	fail("no such key; see the head of its source");
}

int main(int argc, char **argv)
{
	static struct machine m;
	struct writer_options o = {.path = argc > 1 ? argv[1] : NULL, .fd = -1, .clock_id = 1};
	struct error err = {0};
	struct writer *w;

	if (argc < 2)
		fail("which file is to be written?");
	for (int i = 0; i < KNOBS; i++)
		m.knob[i] = knobs[i].value;
	for (int i = 2; i < argc; i++)
		set_knob(&m, argv[i]);
	m.seed = (uint64_t)m.knob[SEED];
	m.left = (uint64_t)m.knob[EVENTS] / 2;
	if (m.knob[WAITERS] >= m.knob[TASKS] / 2)
		fail("more than half of the tasks would wait for one lock");
	m.n_slots = m.knob[TASKS] / 2 < FAN ? (uint32_t)m.knob[TASKS] / 2 : FAN;
	m.tasks = zeroed(m.knob[TASKS], sizeof(*m.tasks));
	m.past = zeroed(m.knob[REUSE] + 1, sizeof(*m.past));
	m.locks = zeroed(m.knob[LOCKS] + 1, sizeof(*m.locks)); /* the last: with `waiters` */
	m.users = zeroed(m.knob[USERS] + 1, sizeof(*m.users));
	m.queue = zeroed(m.knob[WAITERS] + 1, sizeof(*m.queue));
	m.chains = zeroed(m.knob[CHAINS], sizeof(*m.chains));
	m.durations = m.knob[HOST] ? zeroed(m.knob[EVENTS], sizeof(*m.durations)) : NULL;
	share_locks(&m);
	m.s = synth_new((uint32_t)m.knob[CPUS]);
	if (writer_new(&w, &o, &err))
		fail(err.text);
	write_all(&m, w);
	if (writer_finish(w, &err))
		fail(err.text);
	writer_free(w);
	print_truth(&m);
	return 0;
}
