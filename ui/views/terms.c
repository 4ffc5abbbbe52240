// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the words above the tables mean, for the help of each view. The words of columns are
 * explained by the columns themselves, those of the first line in help.c.
 */
#include "terms.h"

#include <string.h>

static const struct term none[] = {{NULL, NULL}};

static const struct term overview[] = {
	{"waiting now", "tasks that wait for a kernel lock now; longest: of these"},
	{"slots 3/8", "hardware breakpoint slots in use, of all CPUs' debug registers"},
	{"events", "perf events of everybody; contexts: those of a CPU or a task"},
	{"short of time", "events that wait for a counter now, as others have them all"},
	{"created", "perf events that anybody creates in a second"},
	{"rotation", "how often events take turns, and the time that all CPUs spend on it"},
	{"XOL", "slots for probed instructions out of line, fullest process"},
	{"mmap_lock", "of the processes worst off: W to change, R to read the space"},
	{"other waits", "tasks in futex, file lock, I/O or state D, not for a kernel lock"},
	{NULL, NULL},
};

static const struct term detail[] = {
	{"held by", "who has the lock; sure, or evidence or hint: perhaps a reader"},
	{"others waited", "what the holder did while others waited for the lock"},
	{"not followed", "holder not known, or BPF did not see what it did"},
	{"queue R, W", "both curves: readers, writers in the queue; newest at the right"},
	{"handed", "| where the lock went from one task straight to a waiting one"},
	{"handed over", "how often it did so, and how long that took"},
	{"passed over", "tasks that others overtook; worst: the one overtaken most often"},
	{"convoy", "how long the queue was never empty, from 10 ms on"},
	{"starved", "waits that lasted longer than 16 hand-overs of the lock"},
	{"wait/s", "tasks that wait on average; below it the same of all locks"},
	{"histogram", "waits that have ended by their length"},
	{NULL, NULL},
};

static const struct term chains[] = {
	{"behind", "tasks that wait because of a root, also behind others"},
	{"ended", "waits of the last 10 s that are over, dimmed below; ENDED: how long ago"},
	{"R?", "perhaps a reader: by its calls, or it had the lock last; no proof"},
	{NULL, NULL},
};

static const struct term blame[] = {
	{"waited", "all that tasks have waited in the window, and because of whom"},
	{"some readers", "several readers had the lock: no one of them is charged"},
	{"not known", "waits of which no holder is known"},
	{"forgotten", "charged to tasks for which memory had no room"},
	{"followed", "the share of it for which BPF saw what the holder did"},
	{"missed", "holders that could not be followed: too many at a time"},
	{"mostly", "of the selected row, in full"},
	{NULL, NULL},
};

static const struct term waiters[] = {
	{"rwsem W, R", "tasks that wait to write, and to read"},
	{"longest", "of the tasks that wait now, how long it has waited so far"},
	{"doubtful", "waits that may be over, as the kernel lost records: in no sum"},
	{"R?", "a reader, not sure: it had the lock last, or its calls say that it has it"},
	{"(free)", "no task has the lock: it is being handed over to the next one"},
	{NULL, NULL},
};

static const struct term slots[] = {
	{"used", "slots with a breakpoint, of those of all CPUs"},
	{"created", "perf events that anybody creates in a second"},
	{"slots' locks", "waits in the kernel's code that takes slots and gives them back"},
	{"MOST", "most slots in use at a time since the start; ≥ where looks may miss some"},
	{"CPU+TASK", "breakpoints of the CPU + of the task that has most there"},
	{"FREE C/T", "room for another of the CPU / of a task that has none there"},
	{"cost", "what it takes kontend itself to look at slots and at events"},
	{NULL, NULL},
};

static const struct term contexts[] = {
	{"8 + 12 own", "perf events of others, and those that kontend opened itself"},
	{"short of time", "events that wait for a counter now, as others have them all"},
	{"created", "perf events that anybody creates in a second"},
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
	{"probes", "places in programs that uprobes replace, whoever placed them"},
	{"XOL, slots", "where probed instructions run out of line: in use/all"},
	{"IN-STEP", "threads that single-step an instruction there at this moment"},
	{"waiting", "threads that wait for a slot"},
	{NULL, NULL},
};

static const struct term mmap[] = {
	{"level", "what is measured: contended, sampled, pid or all, see --mmap"},
	{"costs", "the rate of these events times what one takes here"},
	{"unpaired", "times whose begin or end kontend has no record of: in no sum"},
	{NULL, NULL},
};

static const struct term hot[] = {
	{"in lock paths", "samples whose call chain passes locking code"},
	{"irq-off?", "ran with interrupts off: a clock sees it where they come on again"},
	{"counted", "share of the time in which the event had a counter"},
	{"cut", "call chains of which memory had no room for the outer frames"},
	{NULL, NULL},
};

static const struct {
	const char *view;
	const struct term *terms;
} of_views[] = {
	{"overview", overview}, {"detail", detail},   {"chains", chains},     {"blame", blame},
	{"did", blame},		{"waiters", waiters}, {"slots", slots},	      {"holders", slots},
	{"contexts", contexts}, {"events", contexts}, {"rotation", rotation}, {"uprobes", uprobes},
	{"xol", uprobes},	{"mmap", mmap},	      {"hot", hot},
};

const struct term *terms_of(const struct view_ops *view)
{
	for (size_t i = 0; i < sizeof(of_views) / sizeof(*of_views); i++)
		if (!strcmp(of_views[i].view, view->name))
			return of_views[i].terms;
	return none;
}
