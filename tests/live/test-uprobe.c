// SPDX-License-Identifier: GPL-2.0-only
/*
 * The uprobe snapshot against a program that reads commands (workloads/up-work.c): probes on
 * functions whose first instruction is known have the class that the kernel gives them, are listed
 * with their owners, however they were placed, and were hit exactly as often as the program called
 * them; only those that are executed out of line use slots; and of 40 threads that are kept in
 * their slots as many have one as there are, and the others wait.
 *
 *     test-uprobe UP-WORK
 */
#include "kontend/binary.h"
#include "kontend/snapshot-uprobes.h"
#include "kontend/tracefs.h"
#include "live.h"
#include "up-probe.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 40, TRIES = 20000 };

struct test {
	struct snapshot_uprobes *look;
	struct upsnap snap;
	struct up_work work;
	struct binary *binary;
	const char *program;
	char tracefs[TRACEFS_PATH];
	uint32_t max_used; /* of the program's area, in any look */
	bool has_area;
	int failures;
};

#define CHECK(t, good, ...) live_check(&(t)->failures, good, __VA_ARGS__)

static const struct upsnap_area *find_area(const struct test *t)
{
	for (size_t i = 0; i < t->snap.n_areas; i++)
		if (t->snap.areas[i].pid == t->work.pid)
			return &t->snap.areas[i];
	return NULL;
}

static void take_snapshot(struct test *t)
{
	struct error err = {0};

	live_must(snapshot_uprobes_take(t->look, &t->snap, &err), &err);
	const struct upsnap_area *a = find_area(t);
	t->has_area |= a != NULL;
	if (a && a->used > (int32_t)t->max_used)
		t->max_used = (uint32_t)a->used;
}

static uint64_t offset_of(struct test *t, const char *function)
{
	uint64_t offset = 0;

	if (binary_locate(t->binary, t->program, function, 0, &offset, NULL) < 0) {
		printf("FAIL %s has no %s\n", t->program, function);
		exit(1);
	}
	return offset;
}

/* The probe at @offset of the program that has @source; NULL: it is not listed. */
static const struct upsnap_probe *find_probe(const struct test *t, uint64_t offset, uint32_t source,
					     bool back)
{
	for (size_t i = 0; i < t->snap.n_probes; i++) {
		const struct upsnap_probe *p = &t->snap.probes[i];
		if (p->offset == offset && p->source == source &&
		    !(p->flags & UPSNAP_RETURN) == !back &&
		    !strcmp(upsnap_text(&t->snap, p->binary), t->program))
			return p;
	}
	return NULL;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Takes snapshots until the program has printed the next line. */
static void wait_line(struct test *t, char *line, size_t size)
{
	while (!up_work_line(&t->work, line, size)) {
		if (live_has_ended(t->work.pid)) {
			printf("FAIL %s has ended\n", t->program);
			exit(1);
		}
		take_snapshot(t);
		nap();
	}
}

static uint64_t run(struct test *t, const char *function, int threads, int loops)
{
	char text[128], line[256];
	unsigned long long ran = 0;

	snprintf(text, sizeof(text), "run %s %d %d", function, threads, loops);
	up_work_tell(&t->work, text);
	wait_line(t, line, sizeof(line));
	CHECK(t, sscanf(line, "ran %llu", &ran) == 1, "%s: %s", function, line);
	return ran;
}

static enum upsnap_class class_wanted(const char *function)
{
	struct utsname u = {0};

	uname(&u);
	struct uprobe_kernel k = uprobe_kernel_of(u.release);
	bool x86 = !strcmp(u.machine, "x86_64");
	if (!strcmp(function, "up_nop5"))
		return x86 && k.optimizes	  ? UPSNAP_OPTIMIZED
		       : !x86 && k.simulates_nops ? UPSNAP_EMULATED
						  : UPSNAP_OUT_OF_LINE;
	if (!strcmp(function, "up_nop"))
		return x86 || k.simulates_nops ? UPSNAP_EMULATED : UPSNAP_OUT_OF_LINE;
	if (!strcmp(function, "up_push"))
		return x86 ? UPSNAP_EMULATED : UPSNAP_OUT_OF_LINE;
	return x86 ? UPSNAP_OUT_OF_LINE : UPSNAP_EMULATED;
}

/* Owner, place and kind of one of our probes. */
static void check_probe(struct test *t, const char *function, const struct upsnap_probe *p)
{
	CHECK(t, p->class_ == class_wanted(function), "%s: class %u, not %u: %s", function,
	      p->class_, class_wanted(function), upsnap_text(&t->snap, p->reason));
	CHECK(t, !strcmp(upsnap_text(&t->snap, p->symbol), function), "%s is called %s", function,
	      upsnap_text(&t->snap, p->symbol));
	CHECK(t, p->owner_pid == getpid(), "%s: placed by %d, not %d", function, p->owner_pid,
	      getpid());
}

/* Before Linux 6.12 CPUs that count at the same moment count one hit together. */
static bool is_right(const struct test *t, const struct upsnap_probe *p, int threads,
		     uint64_t calls)
{
	bool by_cpu = false;

	for (size_t i = 0; i < t->snap.n_hits; i++)
		by_cpu |= &t->snap.probes[t->snap.hits[i].probe - 1] == p;
	if (by_cpu || threads == 1)
		return p->hits == calls;
	return p->hits <= calls && p->hits > calls / 2;
}

static void check_calls(struct test *t, const char *function, int threads, int loops, bool back)
{
	uint64_t offset = offset_of(t, function);
	int fd = up_probe_perf(t->program, offset, back, t->work.pid);

	if (!CHECK(t, fd >= 0, "%s: cannot place a probe: %s", function, strerror(-fd)))
		return;
	take_snapshot(t);
	bool had_area = find_area(t) != NULL; /* it stays as long as the program */
	t->max_used = 0;
	t->has_area = false;
	uint64_t calls = run(t, function, threads, loops);
	take_snapshot(t);
	const struct upsnap_probe *p = find_probe(t, offset, UPSNAP_PERF, back);
	if (CHECK(t, p != NULL, "%s is not listed", function)) {
		check_probe(t, function, p);
		CHECK(t, p->flags & UPSNAP_HITS && is_right(t, p, threads, calls),
		      "%s: %llu hits, not %llu", function, (unsigned long long)p->hits,
		      (unsigned long long)calls);
		CHECK(t, p->filter_pid == t->work.pid && p->flags & UPSNAP_OWN,
		      "%s: for %d, flags %x", function, p->filter_pid, p->flags);
	}
	bool out_of_line = class_wanted(function) == UPSNAP_OUT_OF_LINE;
	CHECK(t, out_of_line || !t->max_used, "%s: %u slots used", function, t->max_used);
	CHECK(t, out_of_line || back || had_area || !t->has_area, "%s: there are slots", function);
	printf("%s%s, %d threads: %llu hits, slots used in looks: at most %u\n", function,
	       back ? " (ret)" : "", threads, (unsigned long long)calls, t->max_used);
	close(fd);
}

static bool is_of(const pid_t *tids, pid_t tid)
{
	for (int i = 0; i < THREADS; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/* Each thread is once in a slot or waits for one. */
static void check_threads(struct test *t, const pid_t *tids, const struct upsnap_area *a)
{
	uint32_t index = (uint32_t)(a - t->snap.areas) + 1;
	int steps = 0, waits = 0;

	for (size_t i = 0; i < t->snap.n_tasks; i++) {
		const struct upsnap_task *k = &t->snap.tasks[i];
		if (k->area != index)
			continue;
		steps += k->state == UPSNAP_STEP;
		waits += k->state == UPSNAP_WAIT;
		CHECK(t, is_of(tids, k->tid), "%d is none of the threads", k->tid);
		for (size_t j = 0; j < i; j++)
			CHECK(t, t->snap.tasks[j].tid != k->tid, "%d is listed twice", k->tid);
		CHECK(t, k->state == UPSNAP_WAIT || (k->slot >= 1 && k->slot <= a->slots),
		      "%d: slot %d", k->tid, k->slot);
	}
	CHECK(t, steps == a->used && waits == THREADS - steps, "%d in slots, %d wait", steps,
	      waits);
}

static void check_blocked(struct test *t)
{
	int fd = up_probe_perf(t->program, offset_of(t, "up_load"), false, t->work.pid);
	const struct upsnap_area *a = NULL;
	pid_t tids[THREADS] = {0};
	char line[1024], *at = line;
	int32_t used = 0;

	CHECK(t, fd >= 0, "up_load: cannot place a probe");
	up_work_tell(&t->work, "block 40");
	wait_line(t, line, sizeof(line));
	if (!CHECK(t, !strncmp(line, "blocked ", 8), "%s", line))
		return;
	at += 8;
	for (int i = 0; i < THREADS; i++)
		tids[i] = (pid_t)strtol(at, &at, 10);
	for (int i = 0; i < TRIES; i++) {
		take_snapshot(t);
		a = find_area(t);
		used = a && a->slots < THREADS ? a->slots : THREADS;
		if (a && a->used == used && (int)a->single_step == used &&
		    (int)a->waiting == THREADS - used)
			break;
		nap();
	}
	if (CHECK(t, a != NULL, "there is no area")) {
		CHECK(t, a->used == used && (int)a->waiting == THREADS - used,
		      "%d of %d slots used, %u wait", a->used, a->slots, a->waiting);
		check_threads(t, tids, a);
		printf("%d threads in slots that they cannot leave: %d of %d used, %u wait\n",
		       THREADS, a->used, a->slots, a->waiting);
	}
	up_work_tell(&t->work, "free");
	wait_line(t, line, sizeof(line));
	close(fd);
}

static void check_tracefs(struct test *t)
{
	uint64_t offset = offset_of(t, "up_push");
	char group[64], line[512], gone[128];

	snprintf(group, sizeof(group), "kontend_test_%d", getpid());
	snprintf(line, sizeof(line), "p:%s/up_push %s:0x%llx\n", group, t->program,
		 (unsigned long long)offset);
	snprintf(gone, sizeof(gone), "-:%s/up_push\n", group);
	int code = up_probe_write(t->tracefs, line);
	if (!CHECK(t, code == 0, "uprobe_events: %s", strerror(-code)))
		return;
	take_snapshot(t);
	const struct upsnap_probe *p = find_probe(t, offset, UPSNAP_TRACEFS, false);
	CHECK(t, p && p->flags & UPSNAP_DISABLED && !p->owner_pid, "a probe without an owner");
	int fd = up_probe_open(t->tracefs, group, "up_push", t->work.pid);
	CHECK(t, fd >= 0, "cannot open %s/up_push: %s", group, strerror(-fd));
	uint64_t calls = run(t, "up_push", 4, 500);
	take_snapshot(t);
	p = find_probe(t, offset, UPSNAP_TRACEFS, false);
	if (CHECK(t, p != NULL, "a probe of tracefs is not listed")) {
		check_probe(t, "up_push", p);
		CHECK(t, is_right(t, p, 4, calls) && !(p->flags & UPSNAP_DISABLED),
		      "%llu hits, not %llu", (unsigned long long)p->hits,
		      (unsigned long long)calls);
	}
	if (fd >= 0)
		close(fd);
	up_probe_write(t->tracefs, gone);
	take_snapshot(t);
	CHECK(t, !find_probe(t, offset, UPSNAP_TRACEFS, false),
	      "a probe that was taken away is there");
}

static void check_link(struct test *t)
{
	uint64_t offset = offset_of(t, "up_nop");
	int fd = up_probe_link(t->program, offset, t->work.pid);

	if (fd < 0) {
		printf("no BPF link of a uprobe here: %s\n", strerror(-fd));
		return;
	}
	/* The owner of its descriptor is found after the snapshot that found the probe. */
	take_snapshot(t);
	take_snapshot(t);
	const struct upsnap_probe *p = find_probe(t, offset, UPSNAP_LINK, false);
	if (t->snap.head.missing & UPSNAP_NO_LINKS)
		printf("BPF links cannot be listed here\n");
	else if (CHECK(t, p != NULL, "a BPF link is not listed"))
		check_probe(t, "up_nop", p);
	close(fd);
}

static int copy_file(const char *from, const char *to)
{
	char command[3 * PATH_MAX];

	snprintf(command, sizeof(command), "cp '%s' '%s.new' && mv '%s.new' '%s'", from, to, to,
		 to);
	return system(command);
}

/* When another file has the path of the one with the probe, no function of that one is named. */
static void check_replaced(struct test *t)
{
	char folder[] = "/tmp/kontend-uprobe-XXXXXX", path[64];
	uint64_t offset = offset_of(t, "up_nop");
	const struct upsnap_probe *p = NULL;

	if (!CHECK(t, mkdtemp(folder) != NULL, "no folder for a copy"))
		return;
	snprintf(path, sizeof(path), "%s/copy", folder);
	CHECK(t, copy_file(t->program, path) == 0, "the program cannot be copied");
	int fd = up_probe_link(path, offset, 0);
	CHECK(t, copy_file(t->program, path) == 0, "the copy cannot be replaced");
	if (fd >= 0)
		take_snapshot(t);
	for (size_t i = 0; fd >= 0 && i < t->snap.n_probes; i++)
		if (!strcmp(upsnap_text(&t->snap, t->snap.probes[i].binary), path))
			p = &t->snap.probes[i];
	if (fd >= 0 && !(t->snap.head.missing & UPSNAP_NO_LINKS) &&
	    CHECK(t, p != NULL, "the link in a replaced file is not listed"))
		CHECK(t,
		      !*upsnap_text(&t->snap, p->symbol) &&
			      strstr(upsnap_text(&t->snap, p->reason), "was replaced"),
		      "a link in a replaced file: symbol '%s', reason '%s'",
		      upsnap_text(&t->snap, p->symbol), upsnap_text(&t->snap, p->reason));
	if (fd >= 0)
		close(fd);
	unlink(path);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	static char program[PATH_MAX]; /* links are listed by whole paths */
	struct test t = {.program = argc > 1 && realpath(argv[1], program) ? program : ""};
	struct snapshot_uprobes_options o = {0};
	struct error err = {0};
	char line[256];

	live_need_root();
	live_must(snapshot_uprobes_new(&t.look, &o, &err), &err);
	live_must(binary_open(&t.binary, t.program, &err), &err);
	live_must(tracefs_find(t.tracefs, &err), &err);
	take_snapshot(&t);
	if (t.snap.head.missing & UPSNAP_NO_SLOTS) {
		printf("skipped: %s\n", upsnap_text(&t.snap, t.snap.head.reason));
		return LIVE_SKIP;
	}
	if (up_work_start(&t.work, t.program) < 0)
		return 1;
	wait_line(&t, line, sizeof(line));
	check_calls(&t, "up_nop", 1, 5000, false);
	check_calls(&t, "up_nop", 4, 2000, false);
	check_calls(&t, "up_nop", THREADS, 200, false);
	check_calls(&t, "up_push", 1, 5000, false);
	check_calls(&t, "up_push", THREADS, 200, false);
	check_tracefs(&t);
	check_link(&t);
	check_replaced(&t);
	check_calls(&t, "up_nop5", 4, 2000, false);
	check_calls(&t, "up_ret", 1, 5000, false);
	check_calls(&t, "up_ret", 4, 2000, false);
	check_calls(&t, "up_ret", THREADS, 200, false);
	check_calls(&t, "up_nop", 4, 2000, true);
	check_blocked(&t);
	up_work_stop(&t.work);
	printf("a look took %llu ns, of that the walk through all tasks %llu\n",
	       (unsigned long long)t.snap.head.cost_ns, (unsigned long long)t.snap.head.walk_ns);
	binary_close(t.binary);
	snapshot_uprobes_free(t.look);
	upsnap_deinit(&t.snap);
	return t.failures != 0;
}
