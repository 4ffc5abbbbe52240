// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inspector against a program that prints which perf events it has (workloads/bp-holder.c): the
 * snapshot has each of them with its kind, owner, holders, address, CPU and state, and nothing else
 * of those processes; the counts of slots are those of the kernel's own arithmetic (disabled
 * breakpoints opened until it refuses). Others may open breakpoints meanwhile: counts are compared
 * when they were the same before and after.
 *
 *     test-inspect BP-HOLDER
 */
#include "gdb.h"
#include "holder.h"
#include "kontend/inspect.h"
#include "live.h"

#include <dirent.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 200, SNAPSHOTS = 1000 };

struct test {
	struct inspect *bpf, *probe;
	struct perfsnap snap, counted;
	struct holder holder;
	const char *program;
	int failures;
};

#define CHECK(t, good, ...) live_check(&(t)->failures, good, __VA_ARGS__)

static void take_snapshot(struct test *t)
{
	struct error err = {0};

	live_must(inspect_take(t->bpf, INSPECT_ALL, &t->snap, &err), &err);
}

/* Skips all when others keep slots that are needed: they are seen without a holder of ours. */
static void start(struct test *t, const char *const *kinds)
{
	if (holder_start(&t->holder, t->program, kinds) == 0)
		return;
	take_snapshot(t);
	for (size_t i = 0; i < t->snap.n_events; i++) {
		const struct snap_event *e = &t->snap.events[i];
		if (e->type != PERF_TYPE_BREAKPOINT)
			continue;
		printf("skipped: %s/%d has a breakpoint for %d on CPU %d\n",
		       perfsnap_text(&t->snap, e->owner_comm), e->owner_pid, e->target_tid, e->cpu);
		exit(t->failures ? 1 : LIVE_SKIP);
	}
	printf("FAIL bp-holder could not make %s ...\n", kinds[0]);
	exit(1);
}

static const struct snap_event *find_event(const struct test *t, const struct bp_made *m)
{
	for (size_t i = 0; i < t->snap.n_events; i++)
		if (holder_is(&t->holder, m, &t->snap.events[i]))
			return &t->snap.events[i];
	return NULL;
}

/*
 * The task that the event of @m counts. Both tasks of a pair have been switched since, and may have
 * exchanged their events as one followed the other: then each one counts the other's task.
 */
static int target_wanted(const struct test *t, const struct bp_made *m)
{
	const struct bp_made *other = holder_partner(&t->holder, m);
	const struct snap_event *mine = find_event(t, m),
				*theirs = other ? find_event(t, other) : NULL;

	if (mine && theirs && mine->target_tid == other->target && theirs->target_tid == m->target)
		return other->target;
	return m->target;
}

static uint32_t flags_wanted(const struct bp_made *m)
{
	uint32_t f = 0;

	f |= strcmp(m->role, "child") == 0 ? SNAP_CHILD : 0;
	f |= m->tracer > 0 ? SNAP_PTRACE : 0;
	f |= strcmp(m->kind, "orphan") == 0 ? SNAP_ORPHAN : 0;
	f |= !m->target && strcmp(m->kind, "cgroup") != 0 ? SNAP_CPU_BOUND : 0;
	f |= strcmp(m->kind, "cgroup") == 0 ? SNAP_CGROUP : 0;
	f |= strcmp(m->role, "member") == 0 ? SNAP_GROUP_MEMBER : 0;
	return f;
}

/* A variable of the program, or a function of it. */
static bool is_where(const struct bp_made *m, const char *where)
{
	const char *want =
		m->bp_type & HW_BREAKPOINT_X ? "bp-holder:bp_kind_find" : "bp-holder:bp_watched";

	return !strncmp(where, want, strlen(want)) && strchr("+", where[strlen(want)]);
}

static void check_fields(struct test *t, const struct bp_made *m, const struct snap_event *e)
{
	const uint32_t kinds = SNAP_CHILD | SNAP_KERNEL | SNAP_PTRACE | SNAP_ORPHAN |
			       SNAP_CPU_BOUND | SNAP_GROUP_MEMBER | SNAP_OWN | SNAP_CGROUP;
	const char *k = m->kind, *r = m->role, *where = perfsnap_text(&t->snap, e->where);

	CHECK(t, (e->flags & kinds) == flags_wanted(m), "%s %s: flags %x, not %x", k, r,
	      e->flags & kinds, flags_wanted(m));
	CHECK(t, e->owner_tid == m->owner && e->owner_pid == m->owner_pid,
	      "%s %s: opened by %d/%d, not %d/%d", k, r, e->owner_pid, e->owner_tid, m->owner_pid,
	      m->owner);
	CHECK(t, e->target_tid == target_wanted(t, m), "%s %s: for %d, not %d", k, r, e->target_tid,
	      m->target);
	CHECK(t, e->tracer_pid == (m->tracer > 0 ? m->tracer : 0), "%s %s: tracer %d, not %d", k, r,
	      e->tracer_pid, m->tracer);
	CHECK(t, e->cpu == m->cpu, "%s %s: cpu %d, not %d", k, r, e->cpu, m->cpu);
	CHECK(t, e->state == m->state, "%s %s: state %d, not %d", k, r, e->state, m->state);
	CHECK(t, (int)e->type == m->type && (int)e->bp_type == m->bp_type,
	      "%s %s: type %u rwx %u, not %d %d", k, r, e->type, e->bp_type, m->type, m->bp_type);
	CHECK(t, e->bp_addr == m->addr && e->bp_len == m->len, "%s %s: at 0x%llx/%llu", k, r,
	      (unsigned long long)e->bp_addr, (unsigned long long)e->bp_len);
	CHECK(t, m->type != PERF_TYPE_BREAKPOINT || is_where(m, where), "%s %s: is in '%s'", k, r,
	      where);
	CHECK(t, (e->context > 0) == (m->state > SNAP_EXIT && t->snap.n_contexts),
	      "%s %s: is in context %u", k, r, e->context);
}

static void check_holders(struct test *t, const struct bp_made *m, const struct snap_event *e)
{
	const struct perfsnap *s = &t->snap;
	uint32_t index = (uint32_t)(e - s->events) + 1;
	int wanted = 0, found = 0, all = 0;

	for (int k = 0; k < 2; k++) {
		wanted += m->holder[k] > 0 && m->id;
		for (size_t i = 0; i < s->n_holders; i++)
			found += s->holders[i].event == index &&
				 s->holders[i].pid == m->holder[k] && s->holders[i].fd == m->fd[k];
	}
	for (size_t i = 0; i < s->n_holders; i++)
		all += s->holders[i].event == index;
	CHECK(t, found == wanted && all == wanted, "%s %s: %d holders, %d of them right, not %d",
	      m->kind, m->role, all, found, wanted);
}

static void check_name(struct test *t, const struct bp_made *m, const struct snap_event *e)
{
	static const char *const rwx[] = {"", "r", "w", "rw", "x", "rx", "wx", "rwx"};
	static const char *const names[][3] = {
		{"tracepoint", "one", "sched:sched_switch"},
		{"stat", "parent", "page-faults"},
		{"group", "leader", "context-switches"},
		{"group", "member", "cpu-migrations"},
	};
	char place[64];
	const char *name = perfsnap_text(&t->snap, e->name);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(m->kind, names[i][0]) && !strcmp(m->role, names[i][1]))
			CHECK(t, strcmp(name, names[i][2]) == 0, "%s %s: is called %s", m->kind,
			      m->role, name);
	snprintf(place, sizeof(place), "mem:0x%llx:%s", (unsigned long long)m->addr,
		 rwx[m->bp_type & HW_BREAKPOINT_INVALID]);
	CHECK(t, m->type != PERF_TYPE_BREAKPOINT || !strcmp(name, place),
	      "%s %s: is called %s, not %s", m->kind, m->role, name, place);
}

/* A breakpoint of a CPU is in one of its registers as long as it is on. */
static void check_register(struct test *t, const struct bp_made *m, const struct snap_event *e)
{
	const struct perfsnap *s = &t->snap;
	uint32_t index = (uint32_t)(e - s->events) + 1;

	if (strcmp(m->kind, "cpu") != 0 || s->head.missing & SNAP_NO_REGISTERS)
		return;
	for (size_t i = 0; i < s->n_registers; i++) {
		const struct snap_register *r = &s->registers[i];
		if (r->event == index && (int)r->cpu == m->cpu && r->addr == m->addr && r->enabled)
			return;
	}
	CHECK(t, false, "cpu: is in no register of CPU %d", m->cpu);
}

/* Is it a task of the holder? */
static bool is_theirs(const struct holder *h, int pid)
{
	for (size_t i = 0; pid && i < h->n; i++)
		if (h->made[i].owner_pid == pid || h->made[i].target == pid)
			return true;
	return false;
}

static void check_events(struct test *t)
{
	take_snapshot(t);
	CHECK(t, t->snap.head.method == SNAP_BPF, "not by BPF");
	for (size_t i = 0; i < t->holder.n; i++) {
		const struct bp_made *m = &t->holder.made[i];
		const struct snap_event *e = find_event(t, m);
		if (!CHECK(t, e != NULL, "%s %s: is not listed", m->kind, m->role))
			continue;
		check_fields(t, m, e);
		check_holders(t, m, e);
		check_name(t, m, e);
		check_register(t, m, e);
	}
	for (size_t i = 0; i < t->snap.n_events; i++) {
		const struct snap_event *e = &t->snap.events[i];
		bool theirs =
			is_theirs(&t->holder, e->owner_pid) || is_theirs(&t->holder, e->target_pid);
		CHECK(t, !theirs || holder_made(&t->holder, e), "event %llu of %d was not made",
		      (unsigned long long)e->id, e->target_pid);
		CHECK(t, (e->owner_pid == getpid()) == ((e->flags & SNAP_OWN) != 0),
		      "event %llu of ours is not marked", (unsigned long long)e->id);
	}
}

static bool has_holder(const struct perfsnap *s, const struct snap_event *e)
{
	for (size_t i = 0; i < s->n_holders; i++)
		if (s->holders[i].event == (size_t)(e - s->events) + 1)
			return true;
	return false;
}

/* Takes snapshots of slots until all descriptors are known: they are searched now and then only. */
static void look_at_slots(struct test *t)
{
	struct error err = {0};
	bool lacks = true;

	for (int k = 0; lacks && k < TRIES; k++) {
		live_must(inspect_take(t->bpf, INSPECT_SLOTS, &t->snap, &err), &err);
		lacks = false;
		for (size_t i = 0; i < t->holder.n; i++) {
			const struct bp_made *m = &t->holder.made[i];
			const struct snap_event *e = find_event(t, m);
			lacks |= m->type == PERF_TYPE_BREAKPOINT &&
				 (!e || (m->id && !has_holder(&t->snap, e)));
		}
		if (lacks)
			usleep(20000);
	}
}

/* The slots' part: the same breakpoints with the same holders, and nothing else. */
static void check_slots_part(struct test *t)
{
	look_at_slots(t);
	for (size_t i = 0; i < t->holder.n; i++) {
		const struct bp_made *m = &t->holder.made[i];
		const struct snap_event *e = find_event(t, m);
		CHECK(t, (e != NULL) == (m->type == PERF_TYPE_BREAKPOINT), "%s %s: %s", m->kind,
		      m->role, e ? "is no breakpoint" : "is not listed");
		if (!e)
			continue;
		check_fields(t, m, e);
		check_holders(t, m, e);
		check_register(t, m, e);
	}
	for (size_t i = 0; i < t->snap.n_events; i++)
		CHECK(t, t->snap.events[i].type == PERF_TYPE_BREAKPOINT, "event %llu is of type %u",
		      (unsigned long long)t->snap.events[i].id, t->snap.events[i].type);
	CHECK(t, t->snap.n_contexts == 0, "%zu contexts", t->snap.n_contexts);
}

static bool same_slots(const struct perfsnap *a, const struct perfsnap *b)
{
	if (a->n_slots != b->n_slots)
		return false;
	for (size_t i = 0; i < a->n_slots; i++)
		if (a->slots[i].cpu_pinned != b->slots[i].cpu_pinned ||
		    a->slots[i].task_pinned_max != b->slots[i].task_pinned_max ||
		    a->slots[i].slots != b->slots[i].slots || a->slots[i].cpu != b->slots[i].cpu ||
		    a->slots[i].type != b->slots[i].type)
			return false;
	return true;
}

static void print_slots(const char *by, const struct perfsnap *s)
{
	for (size_t i = 0; i < s->n_slots; i++)
		printf("%s: cpu %u type %u: %d slots, %d of the CPU, %d of a task\n", by,
		       s->slots[i].cpu, s->slots[i].type, s->slots[i].slots, s->slots[i].cpu_pinned,
		       s->slots[i].task_pinned_max);
}

/* Read from the kernel and by its arithmetic: the same, in a state that did not change. */
static void check_slots(struct test *t, const char *when)
{
	struct perfsnap after = {0};
	struct error err = {0};
	bool good = false, settled = false;

	for (int i = 0; i < TRIES && !good; i++) {
		take_snapshot(t);
		live_must(inspect_take(t->probe, INSPECT_ALL, &t->counted, &err), &err);
		live_must(inspect_take(t->bpf, INSPECT_ALL, &after, &err), &err);
		settled = same_slots(&t->snap, &after);
		good = settled && same_slots(&t->snap, &t->counted);
		if (!good)
			usleep(20000);
	}
	perfsnap_deinit(&after);
	if (CHECK(t, good, "%s: the counts differ%s", when, settled ? "" : ", and do not settle"))
		return;
	print_slots("read", &t->snap);
	print_slots("counted", &t->counted);
}

/* Counts, and their growth since the snapshot before: as the kernel reports them to the holder. */
static void check_hits(struct test *t, int index)
{
	const struct bp_made *m = &t->holder.made[0];
	int64_t before = 0;

	while (m < t->holder.made + t->holder.n && strcmp(m->kind, "task") != 0)
		m++;
	before = holder_since(&t->holder, "hit", "hit", index);
	take_snapshot(t);
	for (int round = 0; round < 2; round++) {
		int64_t count = before;
		/* Machines that are emulated miss some. */
		for (int i = 0; count == before && i < TRIES; i++)
			count = holder_since(&t->holder, "hit", "hit", index);
		take_snapshot(t);
		const struct snap_event *e = find_event(t, m);
		if (!CHECK(t, e != NULL && count > before, "task: count %lld", (long long)count))
			return;
		CHECK(t, (int64_t)e->count == count && (int64_t)e->hits == count - before,
		      "task: count %llu, %llu more, not %lld, %lld more",
		      (unsigned long long)e->count, (unsigned long long)e->hits, (long long)count,
		      (long long)(count - before));
		CHECK(t, e->enabled_ns >= e->running_ns && e->running_ns > 0,
		      "task: ran %llu of %llu ns", (unsigned long long)e->running_ns,
		      (unsigned long long)e->enabled_ns);
		before = count;
	}
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* After a thousand snapshots no memory, descriptor or slot is still in use. */
static void check_leaks(struct test *t)
{
	struct error err = {0};
	int before = count_fds();

	for (int i = 0; i < SNAPSHOTS; i++) {
		take_snapshot(t);
		for (size_t k = 0; k < t->snap.n_events; k++)
			CHECK(t,
			      !(t->snap.events[k].flags & SNAP_OWN) ||
				      t->snap.events[k].type != PERF_TYPE_BREAKPOINT,
			      "a breakpoint of ours");
	}
	live_must(inspect_take(t->probe, INSPECT_ALL, &t->counted, &err), &err);
	CHECK(t, count_fds() == before, "%d descriptors, %d before", count_fds(), before);
}

static void check_churned(struct test *t, const struct bp_made *m, const struct snap_event *e)
{
	bool opened = (e->owner_tid == m->owner && e->owner_pid == m->owner) || !e->owner_tid;

	CHECK(t,
	      opened && e->target_pid == m->target && e->type == PERF_TYPE_BREAKPOINT &&
		      (int)e->bp_type == m->bp_type && e->bp_addr == m->addr &&
		      e->bp_len == m->len && e->cpu == -1 && e->state <= SNAP_ACTIVE,
	      "event %llu: owner %d target %d at 0x%llx/%llu cpu %d state %d",
	      (unsigned long long)e->id, e->owner_tid, e->target_pid,
	      (unsigned long long)e->bp_addr, (unsigned long long)e->bp_len, e->cpu, e->state);
	CHECK(t, !(e->flags & (SNAP_CHILD | SNAP_PTRACE | SNAP_KERNEL | SNAP_CGROUP)),
	      "event %llu: flags %x", (unsigned long long)e->id, e->flags);
}

/* While breakpoints come and go all the time: rows are right, and of both that come and go. */
static void check_churn(struct test *t)
{
	const struct bp_made *made = t->holder.made;
	int seen[2] = {0}, incomplete = 0, looks = 0;

	for (; looks < 200000 && (seen[0] < 100 || seen[1] < 100); looks++) {
		enum inspect_what what = looks % 2 ? INSPECT_SLOTS : INSPECT_ALL;
		struct error err = {0};
		live_must(inspect_take(t->bpf, what, &t->snap, &err), &err);
		incomplete += t->snap.head.incomplete != 0;
		for (size_t i = 0; i < t->snap.n_events; i++)
			for (int k = 0; k < 2; k++) {
				if (t->snap.events[i].target_tid != made[k].target)
					continue;
				check_churned(t, &made[k], &t->snap.events[i]);
				seen[k]++;
			}
	}
	printf("%d snapshots, %d of them incomplete, show %d and %d of what comes and goes\n",
	       looks, incomplete, seen[0], seen[1]);
	CHECK(t, seen[0] >= 100 && seen[1] >= 100, "too few");
	CHECK(t, t->snap.head.opened == UINT64_MAX || t->snap.head.opened < 10000000,
	      "%llu opened since", (unsigned long long)t->snap.head.opened);
}

static const struct snap_event *find_traced_by(const struct perfsnap *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].tracer_pid == pid && s->events[i].flags & SNAP_PTRACE)
			return &s->events[i];
	return NULL;
}

/* A watchpoint of gdb is in the kernel while the program runs; this one waits for its input. */
static void check_gdb(struct test *t)
{
	const struct snap_event *e = NULL;
	struct gdb gdb;
	int status;

	if (!gdb_start(&gdb, t->program))
		return;
	for (int i = 0; !e && i < 2000; i++) {
		usleep(100000);
		if (waitpid(gdb.pid, &status, WNOHANG) == gdb.pid)
			break;
		take_snapshot(t);
		e = find_traced_by(&t->snap, gdb.pid);
	}
	if (CHECK(t, e != NULL, "gdb's watchpoint is not listed")) {
		CHECK(t, e->bp_len == 8 && e->target_pid > 0 && e->cpu == -1 && e->owner_pid == 0,
		      "gdb's watchpoint: len %llu, for %d, cpu %d, of %d",
		      (unsigned long long)e->bp_len, e->target_pid, e->cpu, e->owner_pid);
		CHECK(t, strcmp(perfsnap_text(&t->snap, e->tracer_comm), "gdb") == 0,
		      "the tracer is called %s", perfsnap_text(&t->snap, e->tracer_comm));
		CHECK(t,
		      strncmp(perfsnap_text(&t->snap, e->where), "bp-holder:bp_watched", 20) == 0,
		      "gdb's watchpoint is in %s", perfsnap_text(&t->snap, e->where));
		check_slots(t, "with gdb");
		kill(e->target_pid, SIGKILL);
	}
	gdb_stop(&gdb);
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {
		"task",	      "cpu:0",	"task-cpu:0", "off",	"exec",	  "read-write", "fork",
		"thread",     "orphan", "passed",     "shared", "ptrace", "ptrace-off", "stat",
		"tracepoint", "group",	"cgroup:0",   "exited", NULL,
	};
	static const char *const full[] = {"cpu:0", "cpu:0", "task", "task", "task-cpu:0", NULL};
	static const char *const churn[] = {"churn", "churn", NULL};
	struct inspect_options all = {.probe_cpus = true};
	struct test t = {.program = argc > 1 ? argv[1] : ""};
	struct error err = {0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	live_need_root();
	if (inspect_bpf_new(&t.bpf, &all, &err) < 0) {
		printf("skipped: %s\n", err.text);
		return LIVE_SKIP;
	}
	live_must(inspect_probe_new(&t.probe, &all, &err), &err);
	check_slots(&t, "at first");
	start(&t, kinds);
	check_slots_part(&t); /* before other snapshots have found the owners of descriptors */
	check_events(&t);
	check_slots(&t, "with holders");
	check_slots_part(&t);
	check_hits(&t, 0);
	check_leaks(&t);
	check_events(&t);
	holder_stop(&t.holder);
	start(&t, full);
	check_events(&t);
	check_slots(&t, "with two of CPU 0");
	holder_stop(&t.holder);
	start(&t, churn);
	check_churn(&t);
	holder_stop(&t.holder);
	check_gdb(&t);
	check_slots(&t, "at last");
	inspect_free(t.bpf);
	inspect_free(t.probe);
	perfsnap_deinit(&t.snap);
	perfsnap_deinit(&t.counted);
	printf("%d failures\n", t.failures);
	return t.failures != 0;
}
