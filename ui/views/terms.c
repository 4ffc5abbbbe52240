// SPDX-License-Identifier: GPL-2.0-only
/*
 * Explains the words above the tables, for the help of each view. The words of columns are
 * explained by the columns themselves, those of the first line in help.c.
 */
#include "terms.h"

#include <string.h>

static const struct term none[] = {{NULL, NULL}};

static const struct term overview[] = {
	{"BAD, LOOK, OK", "the verdict, by the limits of --verdict; ! opens it"},
	{"wait/s", "how many tasks wait for locks on average"},
	{"contended/s", "waits that begin in a second"},
	{"waiting now", "tasks that wait for a lock now; longest: of these"},
	{"slots 3/8", "hardware breakpoint slots in use, of all CPUs' debug registers"},
	{"events", "perf events of all users; contexts: those of a CPU or a task"},
	{"short of time", "events that wait for a counter now, as others have them all"},
	{"created", "perf events that all tasks create in a second"},
	{"rotation", "how often events take turns, and the CPU time that it takes"},
	{"XOL", "slots for probed instructions out of line, fullest process"},
	{"mmap_lock", "of the processes worst off: W to change, R to read the space"},
	{"other waits", "tasks in futex, file lock, I/O or state D: no kernel locks"},
	{NULL, NULL},
};

static const struct term locks[] = {
	{"rwsem", "for many readers (R) or one writer (W); rwlock: one that spins"},
	{"pcpu-sem", "per-CPU rwsem: its readers wait only because of a writer"},
	{"mutex", "for one task, which may sleep with it; (u): of a program"},
	{"spinlock", "lock for one CPU: who waits for it runs meanwhile"},
	{"rqspinlock", "resilient spinlock of a BPF map: gives up in a deadlock"},
	{"vma", "lock of a mapping: a task changes it, and page faults use it"},
	{"other", "locks that became too many to keep apart: folded"},
	{NULL, NULL},
};

static const struct term detail[] = {
	{"held by", "who has the lock; sure, evidence or hint: how sure that is"},
	{"R?, W?", "perhaps a reader, the writer: evidence or hint, no proof"},
	{"others waited", "what the holder did while others waited for the lock"},
	{"running", "it had a CPU; runnable: it waited for one, kept off by a task"},
	{"asleep, I/O", "it slept with the lock held; I/O: for a disk or a file system"},
	{"lock, circle", "it waited for a lock itself; circle: tasks wait for each other"},
	{"not followed", "holder not known, or BPF did not see what it did"},
	{"queue R, W", "both curves: readers, writers in the queue; newest at the right"},
	{"handed", "| where the lock went from one task straight to a waiting one"},
	{"handed over", "how often, how long it took; being handed over: free now"},
	{"passed over", "tasks that others overtook; worst: the one overtaken most often"},
	{"stolen", "taken by tasks that never waited, while others did: a lower bound"},
	{"convoy", "how long the queue was never empty, from 10 ms on"},
	{"starved", "waits that lasted longer than 16 hand-overs of the lock"},
	{"wait/s", "tasks that wait on average; below it the same of all locks"},
	{"histogram", "ended waits by length; p50: half are shorter, p99: 99%"},
	{"CALL PATH", "calls that led to waits; TIME%, CNT%: share; WAITS: how many"},
	{NULL, NULL},
};

static const struct term wait[] = {
	{"WAITS IN", "calls of the task that waits, the innermost on top"},
	{"HOLDER IS IN", "calls of the task that has the lock, while it sleeps"},
	{"sure", "the lock names its holder; evidence, hint: perhaps, no proof"},
	{"R?, W?", "perhaps a reader, the writer: evidence or hint, no proof"},
	{NULL, NULL},
};

static const struct term chains[] = {
	{"root", "has a lock and waits for none, or: holder not known"},
	{"behind", "tasks that wait because of a root, also behind others"},
	{"running", "it has a CPU; runnable: it waits for one, kept off by a task"},
	{"asleep", "the root sleeps with the lock held: where, and for what"},
	{"had it", "had it while they waited: of waits that have ended"},
	{"deadlock", "tasks wait for each other; perhaps a deadlock: not sure"},
	{"ended", "waits of the last 10 s, dimmed below; ENDED: how long ago"},
	{"R?, W?", "perhaps a reader (its calls, or it had it last), the writer"},
	{NULL, NULL},
};

static const struct term blame[] = {
	{"waited", "waiting time of all tasks in the window, by the holders that they waited for"},
	{"some reader", "several readers had the lock: none of them is charged"},
	{"not known", "waits of which no holder is known"},
	{"not followed", "holder not followed: BPF did not see what it did"},
	{"forgotten", "charged to tasks for which memory had no room"},
	{"running", "it had a CPU; runnable: it waited for one, kept off by a task"},
	{"asleep", "it slept with the lock held; asleep for I/O: for a disk"},
	{"circle", "in a circle of waits: tasks that wait for each other"},
	{"for a lock", "waits for a lock: the holder waits itself; see chains, 0"},
	{"followed", "the share of it for which BPF saw what the holder did"},
	{"missed", "holders that could not be followed: too many at a time"},
	{"mostly", "of the selected row, in full"},
	{NULL, NULL},
};

static const struct term held[] = {
	{"charged", "waiting that is charged to a holder, of all that was waited"},
	{"handed on", "locks that a task got after waiting; of how many it is known"},
	{NULL, NULL},
};

static const struct term queues[] = {
	{"queues", "locks for which two tasks waited at a time; wait: tasks now"},
	{"convoys", "queues that have not been empty for 10 ms or more"},
	{"no release", "this kernel does not report when locks are let go of"},
	{NULL, NULL},
};

static const struct term blocked[] = {
	{"state D", "uninterruptible, as in /proc/PID/stat: only an event ends that sleep"},
	{"blocked", "those, stopped tasks, and tasks in state S that something keeps"},
	{"in", "calls of the selected row's longest task, innermost first"},
	{NULL, NULL},
};

static const struct term waiters[] = {
	{"rwsem W, R", "tasks that wait to write, and to read"},
	{"longest", "of the tasks that wait now, how long it has waited so far"},
	{"doubtful", "waits that may be over, as the kernel lost records: in no sum"},
	{"R?", "a reader, not sure: it had the lock last, or its calls say so"},
	{"W?", "the writer for whom readers of a pcpu-sem wait, by evidence"},
	{"(free)", "no task has the lock: it is being handed over to the next one"},
	{NULL, NULL},
};

static const struct term slots[] = {
	{"used", "slots with a breakpoint, of those of all CPUs"},
	{"created", "perf events that all tasks create in a second"},
	{"refused", "breakpoints that found no free slot (ENOSPC), and whose"},
	{"slots' locks", "waits for the slots' locks: in code that takes slots"},
	{"MOST", "most slots in use at a time; ≥ where looks may miss some"},
	{"CPU+TASK", "of the CPU + of the task with most there: PINNED cpu+task"},
	{"C, T, □", "slot of a CPU's breakpoint, of a task's, free; ■: used now"},
	{"perf fd", "opened by perf_event_open; ptrace: set by a debugger"},
	{"inactive", "its task is not on a CPU; exited: it has ended; off: disabled"},
	{"FREE C/T", "room for another of the CPU / of a task that has none there"},
	{"cost", "what it takes kontend itself to look at slots and at events"},
	{NULL, NULL},
};

static const struct term contexts[] = {
	{"8 + 12 own", "perf events of others, and those that kontend opened itself"},
	{"short of time", "events that wait for a counter now, as others have them all"},
	{"created", "perf events that all tasks create in a second"},
	{"inactive", "no counter, or its task is not on a CPU; exited: it ended"},
	{"cost", "what it takes kontend itself to look at all events"},
	{NULL, NULL},
};

static const struct term rotation[] = {
	{"taking", "the time that CPUs spend on taking turns, per second"},
	{"every", "the interval of each PMU's timer: perf_event_mux_interval_ms"},
	{"end not seen", "rotations whose end kontend has no record of: in no sum"},
	{NULL, NULL},
};

static const struct term uprobes[] = {
	{"probes", "places in programs that uprobes of any tool replace"},
	{"hits/s", "how often programs reach any of the probes, per second"},
	{"XOL, slots", "where probed instructions run out of line: in use/all"},
	{"IN-STEP", "threads that single-step an instruction there at this moment"},
	{"waiting", "threads that wait for a slot"},
	{"idle", "idle processes have slots and have used none; Enter shows each"},
	{NULL, NULL},
};

static const struct term mmap[] = {
	{"level", "what is measured: contended, sampled or all, see --mmap"},
	{"costs", "the rate of these events times what one takes here"},
	{"unpaired", "times whose begin or end kontend has no record of: in no sum"},
	{NULL, NULL},
};

static const struct term hot[] = {
	{"in lock paths", "samples whose call chain passes locking code"},
	{"irq-off?", "interrupts were off: a clock sees it where they are on again"},
	{"counted", "share of the time in which the event had a counter"},
	{"cut", "call chains of which memory had no room for the outer frames"},
	{"CALL PATH", "calls that led there; SAMP%: their share; COUNT: samples"},
	{NULL, NULL},
};

static const struct {
	const char *view;
	const struct term *terms;
} of_views[] = {
	{"overview", overview}, {"locks", locks},     {"callers", locks},     {"tasks", locks},
	{"types", locks},	{"detail", detail},   {"wait", wait},	      {"chains", chains},
	{"blame", blame},	{"did", blame},	      {"held", held},	      {"queues", queues},
	{"blocked", blocked},	{"waiters", waiters}, {"slots", slots},	      {"holders", slots},
	{"contexts", contexts}, {"events", contexts}, {"rotation", rotation}, {"uprobes", uprobes},
	{"xol", uprobes},	{"mmap", mmap},	      {"hot", hot},	      {"hot-tree", hot},
};

const struct term *terms_of(const struct view_ops *view)
{
	/* Column sets have words of their own, under the name of the table. */
	const char *name = view->sets ? view->tables : view->name;

	for (size_t i = 0; i < sizeof(of_views) / sizeof(*of_views); i++)
		if (!strcmp(of_views[i].view, name))
			return of_views[i].terms;
	return none;
}

bool terms_are_of_rows(const struct view_ops *view)
{
	return terms_of(view) == locks;
}
