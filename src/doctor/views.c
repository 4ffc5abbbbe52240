// SPDX-License-Identifier: GPL-2.0-only
/*
 * From checks to views: a table lists the checks that each view needs (it fails without them) and
 * those that improve it (it is limited without them). The text of a view is that of its first bad
 * check, with that check's fix: one thing to do, then run the doctor again.
 */
#include "kontend/doctor.h"
#include "kontend/report.h"

#include <stdio.h>
#include <string.h>

struct view_needs {
	const char *help;
	const char *needs[6]; /* in the order to fix them; ends with NULL */
	const char *wants[4];
	const char *note; /* text of this check to show if the view works */
};

/* "measuring" comes last: it only shows that something fails; the others show the reason. */
#define MAIN_JOB                                                                                   \
	{                                                                                          \
		"kernel", "tracefs", "events", "perf", "files", "measuring"                        \
	}

/* A report view without an entry here does not compile. */
static const struct view_needs
	needs_overview = {"rates, CPUs, worst locks", MAIN_JOB, {"rings"}},
	needs_locks = {"the table of locks", MAIN_JOB, {"rings", "names", "stacks"}},
	needs_waiters = {"tasks that wait now",
			 MAIN_JOB,
			 {"rings", "names", "stacks", "namespaces"}},
	needs_chains = {"which tasks others wait for",
			MAIN_JOB,
			{"bpf", "rings", "names", "namespaces"}},
	needs_blocked = {"tasks that cannot run, and why",
			 MAIN_JOB,
			 {"bpf", "names", "namespaces"}},
	needs_follow = {"what holders do while others wait", MAIN_JOB, {"follow", "rings"}},
	needs_why = {"what chosen tasks did, with --why", MAIN_JOB, {"bpf", "rings", "names"}},
	needs_held = {"how long holders made others wait",
		      MAIN_JOB,
		      {"rings", "names"},
		      .note = "releases"},
	needs_blame = {"which tasks wait times are due to",
		       MAIN_JOB,
		       {"bpf", "rings", "names", "stacks"}},
	needs_did = {"what holders of locks did while others waited",
		     MAIN_JOB,
		     {"bpf", "rings", "names"}},
	needs_holds = {"how long a lock is held, waited for or not, with --holds",
		       MAIN_JOB,
		       {"bpf", "names"}},
	needs_queues = {"the order in which waiters got locks, and convoys",
			MAIN_JOB,
			{"rings", "names"}},
	needs_mmap = {"how long mmap_locks take to get, by process",
		      MAIN_JOB,
		      {"bpf", "rings", "namespaces"}},
	needs_slots = {"breakpoint slots of CPUs", MAIN_JOB, {"bpf", "namespaces"}},
	needs_holders = {"processes that hold breakpoint slots", MAIN_JOB, {"bpf", "namespaces"}},
	needs_creations = {"processes that create breakpoints", MAIN_JOB, {"bpf", "namespaces"}},
	needs_contexts = {"contexts of perf events", MAIN_JOB, {"bpf", "namespaces"}},
	needs_events = {"perf events", MAIN_JOB, {"bpf", "namespaces"}},
	needs_rotation = {"cost of the rotation of perf events",
			  MAIN_JOB,
			  {"rings", "intervals"},
			  "pmus"},
	needs_uprobes = {"uprobes and their cost", MAIN_JOB, {"bpf", "namespaces"}},
	needs_xol = {"out-of-line slots of uprobes", MAIN_JOB, {"bpf", "namespaces"}},
	needs_hot = {"where CPUs spend their time, with -F",
		     MAIN_JOB,
		     {"samples", "names", "stacks"}},
	needs_flame = {"call chains of samples or waits", MAIN_JOB, {"samples", "names", "stacks"}},
	needs_tree = {"call paths that lead to waits", MAIN_JOB, {"stacks", "names"}},
	needs_incidents = {"incidents that triggers caught", MAIN_JOB, {"rings", "names"}},
	needs_hist = {"how long waits took", MAIN_JOB, {"rings"}},
	needs_heat = {"when waits ended and how long they were", MAIN_JOB, {"rings"}},
	needs_callers = {"functions in which tasks waited", MAIN_JOB, {"stacks", "names"}},
	needs_tasks = {"tasks that wait", MAIN_JOB, {"rings", "namespaces"}},
	needs_types = {"waits by type of lock", MAIN_JOB, {"rings"}},
	needs_cpus = {"waits by CPU", MAIN_JOB, {"rings"}},
	needs_annotate = {"instructions of a function",
			  MAIN_JOB,
			  {"instructions", "code", "names"}},
	needs_call_graph = {"callers in programs, by dwarf", MAIN_JOB, {"samples", "user-stacks"}},
	needs_debuginfod = {"debug information from servers",
			    MAIN_JOB,
			    {"debuginfod"},
			    "debuginfod"},
	needs_cgroup = {"waits by cgroup", MAIN_JOB, {"cgroups"}};

static const struct {
	const char *name;
	const struct view_needs *needs;
} view_table[] = {
#define NEEDS_OF(name, NAME) {#name, &needs_##name},
	REPORT_VIEWS(NEEDS_OF)
#undef NEEDS_OF
	/* Views that only the screen has, and data of options. */
	{"callers", &needs_callers},
	{"tasks", &needs_tasks},
	{"types", &needs_types},
	{"cpus", &needs_cpus},
	{"annotate", &needs_annotate},
	{"--follow", &needs_follow},
	{"--call-graph", &needs_call_graph},
	{"--debuginfod", &needs_debuginfod},
	{"--by cgroup", &needs_cgroup},
};

static bool is_bad(const struct doctor_item *c)
{
	return c && c->status != DOCTOR_WORKS && c->status != DOCTOR_ABSENT;
}

static void take_over(struct doctor_item *view, const struct doctor_item *check,
		      enum doctor_status status)
{
	view->status = status;
	view->cause = check->name;
	snprintf(view->found, sizeof(view->found), "%s", check->found);
	snprintf(view->fix, sizeof(view->fix), "%s", check->fix);
}

static const struct doctor_item *first_failing(const struct doctor *d, const struct view_needs *v)
{
	for (size_t i = 0; i < sizeof(v->needs) / sizeof(*v->needs) && v->needs[i]; i++) {
		const struct doctor_item *c = doctor_check(d, v->needs[i]);

		if (c && c->status == DOCTOR_FAILS)
			return c;
	}
	return NULL;
}

static void judge(const struct doctor *d, const struct view_needs *v, struct doctor_item *ret)
{
	/* If the measurement works, a failed check before it does not matter. */
	const struct doctor_item *way = doctor_check(d, "measuring");
	const struct doctor_item *bad =
		is_bad(way) && way->status != DOCTOR_LIMITED ? first_failing(d, v) : NULL;

	ret->help = v->help;
	if (bad) {
		take_over(ret, bad, DOCTOR_FAILS);
		return;
	}
	for (size_t i = 0; i < sizeof(v->wants) / sizeof(*v->wants) && v->wants[i]; i++) {
		const struct doctor_item *c = doctor_check(d, v->wants[i]);

		if (!is_bad(c))
			continue;
		take_over(ret, c, DOCTOR_LIMITED);
		return;
	}
	const struct doctor_item *note = v->note ? doctor_check(d, v->note) : NULL;

	if (note && note->status == DOCTOR_ABSENT)
		take_over(ret, note, DOCTOR_ABSENT);
	else if (note)
		memcpy(ret->found, note->found, sizeof(ret->found));
}

_Static_assert(sizeof(view_table) / sizeof(*view_table) <= DOCTOR_ITEMS, "room for each view");

void doctor_conclude(struct doctor *d)
{
	d->n_views = 0;
	d->works = true;
	for (size_t i = 0; i < sizeof(view_table) / sizeof(*view_table); i++) {
		struct doctor_item *v = &d->views[d->n_views++];

		*v = (struct doctor_item){.name = view_table[i].name};
		judge(d, view_table[i].needs, v);
		if (!strcmp(v->name, "locks") && v->status == DOCTOR_FAILS)
			d->works = false;
	}
}
