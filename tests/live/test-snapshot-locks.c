// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk of the kernel's locks, with certain waits: threads that sleep at the mutex of a pipe and
 * at the rwsem of a directory, whose holder sleeps, and threads that wait for an mmap_lock which a
 * fork holds. Nothing is traced: the waits began before kontend started. The same waits as shown by
 * a report that was started later.
 *
 *     test-live-snapshot-locks KONTEND
 */
#include "kontend/clock.h"
#include "kontend/snapshot-locks.h"
#include "live.h"
#include "workloads/gate.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 6,
	MAPPERS = 5,
	FAULTERS = 5,
	LOOKS = 20000,
	FORK_BYTES = 256 << 20,
	PAGE = 4096,
	HELD_US = 2000000,
	SLACK_NS = 5000000 /* of clocks that are read one after the other */
};

static int failures;

static const struct locksnap_queue *queue_of(const struct locksnap *s, int pid)
{
	for (size_t i = 0; i < s->n_waiters; i++)
		if (s->waiters[i].pid == pid)
			return &s->queues[s->waiters[i].queue];
	return NULL;
}

static const struct locksnap_name *name_of(const struct locksnap *s, uint64_t addr)
{
	for (size_t i = 0; i < s->n_names; i++)
		if (s->names[i].addr == addr)
			return &s->names[i];
	return NULL;
}

static bool waits(const struct locksnap *s, const struct locksnap_queue *q, int tid, bool reader)
{
	for (size_t i = 0; i < s->n_waiters; i++)
		if (&s->queues[s->waiters[i].queue] == q && s->waiters[i].tid == tid)
			return s->waiters[i].reader == reader;
	return false;
}

static bool in_gate(const struct gate *g, int tid)
{
	for (int i = 0; i < g->n; i++)
		if (g->threads[i].tid == tid)
			return true;
	return false;
}

/*
 * On PREEMPT_RT the first writer has the rt-mutex of a directory, for which the others wait, and
 * waits itself for a reader; only events report that.
 */
static bool is_first_writer(const struct gate *g, bool dir, int tid)
{
	return dir && live_is_rt() && in_gate(g, tid);
}

/*
 * It ran last when it came to the gate: between the moment that it noted itself, just before, and
 * the one at which all were seen asleep. A scheduler without that clock reports nothing.
 */
static void check_ran(const struct locksnap_waiter *v, const struct gate *g, uint64_t held_ns)
{
	for (int i = 0; i < g->n; i++) {
		uint64_t since = g->threads[i].since_ns;
		if (g->threads[i].tid != v->tid)
			continue;
		printf("%d waits since %+.3f ms of its own word, on CPU %d\n", v->tid,
		       (double)(int64_t)(v->ran_ns - since) / 1e6, (int)v->cpu - 1);
		live_check(&failures,
			   v->ran_ns + SLACK_NS >= since && v->ran_ns <= held_ns + SLACK_NS,
			   "thread %d ran until %" PRIu64 ", but came at %" PRIu64
			   " and slept at %" PRIu64,
			   v->tid, v->ran_ns, since, held_ns);
		live_check(&failures, v->cpu > 0, "thread %d ran on no CPU", v->tid);
	}
}

/* Each thread of the gate but the holder once, at positions 1, 2, ... */
static void check_waiters(const struct locksnap *s, const struct locksnap_queue *q,
			  const struct gate *g, uint64_t held_ns)
{
	uint32_t seen = 0, n = (uint32_t)g->n - in_gate(g, q->holder_tid);

	for (int i = 0; i < g->n; i++)
		live_check(&failures,
			   g->threads[i].tid == q->holder_tid ||
				   waits(s, q, g->threads[i].tid, false),
			   "thread %d waits, but is not on the list", g->threads[i].tid);
	for (size_t i = 0; i < s->n_waiters; i++)
		if (&s->queues[s->waiters[i].queue] == q) {
			seen++;
			check_ran(&s->waiters[i], g, held_ns);
			live_check(&failures, s->waiters[i].n_frames > 1, "waiter %u has no calls",
				   seen);
			live_check(&failures, s->waiters[i].position == seen,
				   "position %u of waiter %u", s->waiters[i].position, seen);
		}
	live_check(&failures, q->writers_waiting == n && !q->readers_waiting,
		   "%u writers, %u readers wait of %u", q->writers_waiting, q->readers_waiting, n);
}

static void check_name(const struct locksnap *s, uint64_t addr, bool dir)
{
	const struct locksnap_name *n = name_of(s, addr);
	const char *text = n ? locksnap_text(s, n->text) : "";

	live_check(&failures,
		   n && n->kind == (dir ? LOCKSNAP_INODE : LOCKSNAP_PIPE) && n->pid == getpid() &&
			   strstr(text, dir ? "/gate" : "pipe:["),
		   "name of kind %u, process %d: %s", n ? n->kind : 0, n ? n->pid : 0, text);
}

/* Is the running kernel older? */
static bool uname_before(int major, int minor)
{
	struct utsname u;
	int a = 0, b = 0;

	return uname(&u) == 0 && sscanf(u.release, "%d.%d", &a, &b) == 2 &&
	       (a < major || (a == major && b < minor));
}

/* sysfs shows, too, how many caches the kernel has merged into one. */
static void check_merged(const char *text)
{
	bool merged = *text == *LOCKSNAP_MERGED;
	char path[128];
	int aliases;

	snprintf(path, sizeof(path), "/sys/kernel/slab/%.64s/aliases", text + merged);
	FILE *f = fopen(path, "r");
	if (!f)
		return; /* sysfs lists no caches here */
	if (fscanf(f, "%d", &aliases) == 1)
		live_check(&failures, merged == (aliases > 0), "%s has %d aliases", text, aliases);
	fclose(f);
}

/* An address that is no lock and in no table of ours is reported with its slab cache. */
static void check_slab(struct snapshot_locks *w, uint64_t addr)
{
	struct lock_request_lock ask = {.addr = addr, .type = LOCKSNAP_MUTEX};
	struct locksnap s = {0};

	if (uname_before(6, 13))
		return; /* cannot be asked */
	live_check(&failures, snapshot_locks_take(w, &ask, 1, &s, NULL) == 0, "no second look");
	const struct locksnap_name *n = name_of(&s, addr);
	live_check(&failures, n && n->kind == LOCKSNAP_SLAB, "name of kind %u in a slab",
		   n ? n->kind : 0);
	live_check(&failures, n && strstr(locksnap_text(&s, n->text), "kmalloc"), "a pipe is in %s",
		   n ? locksnap_text(&s, n->text) : "nothing");
	if (n)
		check_merged(locksnap_text(&s, n->text));
	locksnap_deinit(&s);
}

static void check_gate(struct snapshot_locks *w, struct gate *g, bool dir, bool named)
{
	struct locksnap s = {0};
	struct error err = {0};
	uint64_t held_ns = clock_now_ns();

	if (!live_check(&failures, snapshot_locks_take(w, NULL, 0, &s, &err) == 0, "%s", err.text))
		return;
	const struct locksnap_queue *q = queue_of(&s, getpid());
	if (!q && s.head.partial) {
		printf("this kernel does not say what tasks are blocked on\n");
		locksnap_deinit(&s);
		return;
	}
	if (!live_check(&failures, q != NULL, "no queue of ours at the %s",
			dir ? "directory" : "pipe"))
		return;
	printf("%s: lock 0x%" PRIx64 ", held by %d (%u), %zu waiters, %" PRIu64 " us\n",
	       dir ? "directory" : "pipe", q->addr, q->holder_tid, q->certainty, s.n_waiters,
	       s.head.cost_ns / 1000);
	live_check(&failures,
		   (q->holder_tid == g->holder || is_first_writer(g, dir, q->holder_tid)) &&
			   q->holder_pid == getpid(),
		   "held by %d, not by %d", q->holder_tid, g->holder);
	live_check(&failures,
		   q->type == (live_is_rt() ? LOCKSNAP_RT
			       : dir	    ? LOCKSNAP_RWSEM
					    : LOCKSNAP_MUTEX),
		   "type %u", q->type);
	/* getdents() holds the directory as a reader. */
	bool reads = dir && !live_is_rt();
	live_check(&failures, q->certainty == (reads ? LOCKSNAP_HINT : LOCKSNAP_SURE),
		   "certainty %u", q->certainty);
	live_check(&failures, q->holder_state == LOCKSNAP_ASLEEP && q->holder_n_frames > 1,
		   "the holder's state %u, %u calls", q->holder_state, q->holder_n_frames);
	live_check(&failures, q->readers == (reads ? 1u : 0u), "%u readers hold it", q->readers);
	check_waiters(&s, q, g, held_ns);
	/* Reported once in a while. */
	if (named)
		check_name(&s, q->addr, dir);
	if (named && !dir)
		check_slab(w, q->addr + 1);
	locksnap_deinit(&s);
}

static const struct json *row_of(const struct json *rows, int tid)
{
	for (size_t i = 0; i < json_len(rows); i++)
		if (json_u64(json_get(json_at(rows, i), "tid")) == (uint64_t)tid)
			return json_at(rows, i);
	return NULL;
}

static void check_row(const struct json *row, const struct gate *g, bool dir)
{
	const char *name = json_text(json_get(row, "name"));

	live_check(&failures, json_get(row, "early") && json_get(row, "early")->truth,
		   "a wait from before is not said to be one");
	int holder = (int)json_u64(json_get(row, "owner_tid"));
	live_check(&failures, holder == g->holder || is_first_writer(g, dir, holder),
		   "the report has another holder");
	live_check(&failures, strstr(name, dir ? "i_rwsem /" : "pipe->mutex "), "the report has %s",
		   name);
	live_check(&failures, strcmp(json_text(json_get(row, "owner_state")), "asleep") == 0,
		   "the holder is %s", json_text(json_get(row, "owner_state")));
	live_check(&failures, json_get(row, "caller") && *json_text(json_get(row, "caller")),
		   "a wait from before has no call site");
	live_check(&failures,
		   json_u64(json_get(row, "queue")) == (uint64_t)g->n - in_gate(g, holder),
		   "queue of %" PRIu64, json_u64(json_get(row, "queue")));
}

static bool is_between(uint64_t ns, uint64_t from, uint64_t to)
{
	return ns + SLACK_NS >= from && ns <= to + SLACK_NS;
}

/*
 * The length of a wait at the report's end, which lies between @from_ns, when it was started, and
 * @to_ns: as the thread knows it. That is several times what measuring took.
 */
static void check_since(const struct json *row, uint64_t since_ns, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = json_u64(json_get(row, "since_ns"));

	live_check(&failures, is_between(ns, from_ns - since_ns, to_ns - since_ns),
		   "a wait of %.3f to %.3f s is reported as %.3f s",
		   (double)(from_ns - since_ns) / 1e9, (double)(to_ns - since_ns) / 1e9,
		   (double)ns / 1e9);
}

/* Overview and locks have earlier waits as well: one lock, all of whose @n waiters began before. */
static void check_sums(const struct json *views, const struct gate *g, uint64_t n, uint64_t from_ns)
{
	const struct json *o = json_get(views, "overview"), *rows = json_path(views, "locks.rows");
	uint64_t shortest = 0, waiting = 0;

	for (int i = 0; i < g->n; i++)
		if (!shortest || from_ns - g->threads[i].since_ns > shortest)
			shortest = from_ns - g->threads[i].since_ns;
	live_check(&failures, json_u64(json_path(o, "longest.since_ns")) + SLACK_NS >= shortest,
		   "the longest wait has lasted for %" PRIu64 " ns",
		   json_u64(json_path(o, "longest.since_ns")));
	live_check(&failures,
		   json_u64(json_get(o, "waiting_early")) >= n &&
			   json_u64(json_get(o, "waiting")) >= n,
		   "%" PRIu64 " waits from before", json_u64(json_get(o, "waiting_early")));
	for (size_t i = 0; i < json_len(rows); i++)
		if (json_u64(json_get(json_at(rows, i), "waiting")) > waiting)
			waiting = json_u64(json_get(json_at(rows, i), "waiting"));
	live_check(&failures, waiting >= n, "the locks have %" PRIu64 " waiters", waiting);
}

/* Beside those that wait there are waits of others that have just ended. */
static size_t count_waiting(const struct json *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < json_len(rows); i++)
		n += !json_get(json_at(rows, i), "ended")->truth;
	return n;
}

/* The environment may give how many times slower than usual a machine is: so are its snapshots. */
static double slowness(void)
{
	const char *text = getenv("KONTEND_SLOWNESS");

	return text ? strtod(text, NULL) : 1;
}

/* Two intervals: the tasks that wait at the start and at the end. */
static void check_report(const char *kontend, const struct gate *g, bool dir)
{
	char delay[32], duration[32];
	const char *const argv[] = {kontend,	  "report", "--view",  "overview,waiters,locks",
				    "--format",	  "json",   "--delay", delay,
				    "--duration", duration, NULL};
	struct live_run run;
	struct json_doc doc;
	int missing = 0; /* the first writer, see is_first_writer() */

	snprintf(delay, sizeof(delay), "%.1f", 0.3 * slowness());
	snprintf(duration, sizeof(duration), "%.1f", 0.7 * slowness());
	usleep(HELD_US);
	uint64_t from_ns = clock_now_ns();
	live_run_start(&run, argv);
	live_run_end(&run);
	uint64_t to_ns = clock_now_ns();
	live_run_json(&run, &doc);
	const struct json *rows = json_path(json_root(&doc), "views.waiters.rows");
	/* Older tasks do not say what they are blocked on. */
	bool partial = !count_waiting(rows) && uname_before(6, 16) && !live_is_rt();
	uint64_t n = (uint64_t)g->n - (dir && live_is_rt());
	for (int i = 0; i < g->n && !partial; i++) {
		const struct json *row = row_of(rows, g->threads[i].tid);
		if (!row && dir && live_is_rt() && !missing++)
			continue;
		if (live_check(&failures, row != NULL, "the report does not have thread %d",
			       g->threads[i].tid)) {
			check_row(row, g, dir);
			check_since(row, g->threads[i].since_ns, from_ns, to_ns);
		}
	}
	if (!partial)
		check_sums(json_path(json_root(&doc), "views"), g, n, from_ns);
	json_deinit(&doc);
	live_run_deinit(&run);
}

static struct gate gate;

static void *thread_main(void *arg)
{
	int index = (int)(intptr_t)arg;

	gate_join(&gate, index);
	for (int nth = 0; nth < 4; nth++)
		gate_pass(&gate, index, nth);
	return NULL;
}

static void check_gates(struct snapshot_locks *w, const char *kontend, int dir)
{
	pthread_t t[THREADS];
	int r = gate_init(&gate, THREADS, dir);

	if (!live_check(&failures, r == 0, "no holder that sleeps: %s", strerror(-r)))
		return;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread_main, (void *)(intptr_t)i);
	for (int nth = 0; nth < 4; nth++) {
		live_check(&failures, gate_hold(&gate, nth) == 0, "gate %d does not hold", nth);
		check_gate(w, &gate, nth % 2, nth < 2);
		if (nth < 2)
			check_report(kontend, &gate, nth % 2);
		live_check(&failures, gate_release(&gate, nth) == 0, "gate %d stays shut", nth);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static const char mapper_name[] = "mapper", faulter_name[] = "faulter";

static void *mapper_main(void *arg)
{
	prctl(PR_SET_NAME, mapper_name);
	for (;;) {
		char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (p != MAP_FAILED)
			munmap(p, PAGE);
	}
	return arg;
}

/* Gives pages back and touches them again: both are for readers of the mmap_lock. */
static void *faulter_main(void *arg)
{
	char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_NAME, faulter_name);
	while (p != MAP_FAILED) {
		unsigned char in[64];
		madvise(p, 4 * PAGE, MADV_DONTNEED);
		memset(p, 1, 4 * PAGE);
		mincore(p, 4 * PAGE, in); /* where faults take the lock of the mapping alone */
	}
	return arg;
}

/* Its main thread forks all the time, which holds the mmap_lock; the others fault and map. */
static void forker(void)
{
	pthread_t t;
	char *p =
		mmap(NULL, FORK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	madvise(p, FORK_BYTES, MADV_NOHUGEPAGE);
	memset(p, 1, FORK_BYTES);
	for (int i = 0; i < MAPPERS; i++)
		pthread_create(&t, NULL, mapper_main, NULL);
	for (int i = 0; i < FAULTERS; i++)
		pthread_create(&t, NULL, faulter_main, NULL);
	for (;;) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* The lock in a snapshot in which the forker holds its mmap_lock and others wait for it; 0: none.
 */
static uint64_t find_fork(struct snapshot_locks *w, pid_t pid, struct locksnap *s)
{
	for (int i = 0; i < LOOKS; i++) {
		if (snapshot_locks_take(w, NULL, 0, s, NULL) < 0)
			return 0;
		const struct locksnap_queue *q = queue_of(s, pid);
		if (q && q->certainty == LOCKSNAP_SURE && q->holder_tid == pid)
			return q->addr;
		usleep(500);
	}
	return 0;
}

/*
 * A thread that faults waits to read, and one that maps waits to write; a thread that has just
 * begun has another name. A thread that maps may wait to read, too: after each fork its stack is
 * copied at the next write, which is a fault.
 */
static void check_modes(const struct locksnap *s, uint64_t addr, uint32_t seen[2])
{
	for (size_t i = 0; i < s->n_waiters; i++) {
		const struct locksnap_waiter *v = &s->waiters[i];
		const char *comm = locksnap_text(s, v->comm);
		if (s->queues[v->queue].addr != addr)
			continue;
		bool maps = strcmp(comm, mapper_name) == 0;
		if (!maps && strcmp(comm, faulter_name) != 0)
			continue;
		if (!maps || !v->reader)
			seen[!maps]++;
		/* The queue of an rt-mutex does not say who wants to read. */
		live_check(&failures, v->reader || maps || live_is_rt(), "%s/%d waits to write",
			   comm, v->tid);
	}
}

/* Until both kinds of waiters were on the list, the forking thread holding the lock each time. */
static void check_all_modes(struct snapshot_locks *w, pid_t pid, struct locksnap *s)
{
	uint32_t seen[2] = {0};

	for (int i = 0; i < 10000 && !(seen[0] && seen[1]); i++) {
		uint64_t addr = find_fork(w, pid, s);
		if (!live_check(&failures, addr != 0, "no wait for the forker's mmap_lock"))
			return;
		check_modes(s, addr, seen);
	}
	live_check(&failures, seen[0] && seen[1], "%u writers, %u readers were seen", seen[0],
		   seen[1]);
	printf("mmap_lock held by the forking thread: %u writers, %u readers waiting\n", seen[0],
	       seen[1]);
}

static void check_mmap(struct snapshot_locks *w)
{
	struct locksnap s = {0};
	pid_t pid = fork();

	if (pid == 0)
		forker();
	struct lock_request_lock ask = {.addr = find_fork(w, pid, &s),
					.type = live_is_rt() ? LOCKSNAP_RT : LOCKSNAP_RWSEM};
	if (live_check(&failures, ask.addr != 0, "no wait for the forker's mmap_lock")) {
		/* Names are reported again only after a while, if this lock was seen before. */
		const struct locksnap_name *n = name_of(&s, ask.addr);
		for (int i = 0; !n && i < 64; i++) {
			if (snapshot_locks_take(w, &ask, 1, &s, NULL) < 0)
				break;
			n = name_of(&s, ask.addr);
		}
		live_check(&failures, n && n->kind == LOCKSNAP_MMAP && n->pid == pid,
			   "the mmap_lock's name: kind %u, process %d", n ? n->kind : 0,
			   n ? n->pid : 0);
		printf("mmap_lock: 0x%" PRIx64 " of %s/%d, %" PRIu64 " us\n", ask.addr,
		       n ? locksnap_text(&s, n->comm) : "", n ? n->pid : 0, s.head.cost_ns / 1000);
	}
	check_all_modes(w, pid, &s);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	locksnap_deinit(&s);
}

int main(int argc, char **argv)
{
	char name[] = "/tmp/kontend-snapshot-locks-XXXXXX";
	struct snapshot_locks *w;
	struct error err = {0};

	live_need_root();
	if (argc != 2)
		return 1;
	int code = snapshot_locks_new(&w, false, NULL, &err);
	if (code < 0) {
		printf("%s\n", err.text);
		return LIVE_SKIP;
	}
	int dir = mkdtemp(name) ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	check_gates(w, argv[1], dir);
	check_mmap(w);
	unlinkat(dir, "gate", AT_REMOVEDIR);
	close(dir);
	rmdir(name);
	snapshot_locks_free(w);
	return failures != 0;
}
