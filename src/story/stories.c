// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of stories. The first five are mechanisms that kernel developers found slow, measured
 * and changed; kontend-stories(7) explains them. The rest are hangs that people meet.
 */
#include "kontend/pmus.h"
#include "kontend/story-figures.h"
#include "work.h"

#include <errno.h>
#include <linux/capability.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MACHINE "2 CPUs, Linux 6.18, x86-64, a virtual machine"

#define NONE ((double)NAN)

const struct story story_table[] = {
	{
		.name = "slots",
		.title = "breakpoint slots, and the lock around their count",
		.published = "256 CPUs, perf bench -r 30 breakpoint thread -b 4 -p 64 -t 64",
		.compare = "how far an operation is above one without breakpoints",
		.recorded = MACHINE,
		.bench = "breakpoint -b 4 -t 64 -r 3",
		.measure = "-F 99",
		.views = "slots,locks,hot",
		.at = "80%",
		.needs = STORY_RIGHTS,
		.callouts =
			{
				{"slots", "four slots a CPU",
				 "A CPU has a few debug registers, and the board shows who has "
				 "them. The workload creates threads that inherit four "
				 "breakpoints: all slots of a CPU are taken while one runs."},
				{"locks", "the lock",
				 "With one mutex for all CPUs, 96 of 100 samples were in osq_lock. "
				 "Since Linux 6.1 bp_cpuinfo_sem is the lock, which threads that "
				 "open breakpoints share, so that few of them wait here."},
				{"contexts", "breakpoints are perf events",
				 "Each thread of the workload has those that it inherited. Key 9 "
				 "shows where the CPUs count slots, in task_bp_pinned and "
				 "rhashtable_jhash2, if there are samples."},
			},
		.rows =
			{
				{"a thread, with 4 breakpoints", "breakpoints", "op", NULL, 108267,
				 40201},
				{"a thread, without breakpoints", "no breakpoints", "op", NULL,
				 NONE, 31366},
				{"above the ideal", "breakpoints", "above_ideal", NULL, 245.2,
				 28.2},
				{"open one of a task, median", "breakpoints of tasks", "open_p50",
				 NULL, NONE, NONE},
				{"open one of a CPU, median", "breakpoints of CPUs", "open_p50",
				 NULL, NONE, NONE},
			},
	},
	{
		.name = "faults",
		.title = "page faults and the read side of mmap_lock",
		.published = "100 GiB, a thread bound to each of 40 CPUs",
		.compare = "by how much the time falls with the number of threads",
		.recorded = MACHINE,
		.bench = "page-fault --size 192M -n 6 --mode kernel -t 1,all",
		.measure = "-F 499",
		.views = "hot,locks",
		.at = "90%",
		.needs = STORY_RIGHTS,
		.callouts =
			{
				{"hot", "where the CPUs are",
				 "Each first touch of a page takes mmap_lock as a reader. "
				 "down_read_trylock was on top with 26 of 100 samples, before "
				 "clear_page; Enter shows its callers."},
				{"overview", "a trylock does not wait",
				 "No task waits, though all of them write to one lock. A trylock "
				 "that fails tries again, so samples show it, and tables of waits "
				 "do not."},
				{"mmap", "whose mmap_lock",
				 "Faults that get the lock at once are no row here, as only waits "
				 "are. --mmap all counts each time that an mmap_lock is taken."},
			},
		.rows =
			{
				{"1 thread", "kernel, 1 threads", "real", NULL, 65373e6, 65206e6},
				{"a thread on each CPU", "kernel, *", "real", NULL, 6214e6, 5528e6},
				{"1 thread, over all of them", "kernel, 1 threads", "real",
				 "kernel, *", 10.52, 11.80},
				{"tries again of a trylock, a page", "kernel", "trylock_again",
				 NULL, NONE, NONE},
			},
	},
	{
		.name = "rotation",
		.title = "more perf events than counters: they take turns",
		.published = "STREAM, 29 events for each of 272 CPUs; phases: what was added",
		.compare = "per process with system-wide: equal within some percent since 4.17",
		.recorded = "2 CPUs, Linux 6.1, arm64, an emulated Cortex-A57 with 7 counters",
		.bench = "rotation --duration 6 --size 12M",
		.measure = "-a",
		.views = "rotation,contexts",
		.at = "55%",
		.needs = STORY_RIGHTS | STORY_PMU,
		.callouts =
			{
				{"rotation", "turns",
				 "A CPU counts as many events at once as it has counters. The rest "
				 "take turns every 4 ms, and a row shows what that costs its CPU: "
				 "how often, how long, and because of whom."},
				{"contexts", "who is short of time",
				 "Each of these events counts for a part of the time alone, and "
				 "its figure is an estimate. Enter shows them one by one."},
				{"rotation", "events for other CPUs",
				 "A profiler that opens events of one process for each CPU gives "
				 "it many that can never count where it runs: column ELSEWHERE, "
				 "if there are any. Until Linux 4.17 each turn went through all."},
			},
		.rows =
			{
				{"slowdown, events of the process", "per process", "slowdown", NULL,
				 5, NONE},
				{"slowdown, events of the CPUs", "system-wide", "slowdown", NULL,
				 NONE, NONE},
				{"taking events out", "per process", "schedule_out_p50", NULL,
				 2e6, NONE},
				{"and putting others in", "per process", "schedule_in_p50", NULL,
				 6e5, NONE},
				{"a whole turn", "per process", "rotation_p50", NULL, NONE, NONE},
			},
	},
	{
		.name = "uprobes",
		.title = "probes in programs: emulated, or executed out of line",
		.published = "x86-64, on 1 and on 80 CPUs, hits a second",
		.compare = "nop with ret on one CPU, and how hits grow with CPUs",
		.recorded = MACHINE,
		.bench = "uprobe --kind nop,ret --duration 5",
		.measure = "-F 199",
		.views = "uprobes,xol",
		.at = "75%",
		.needs = STORY_RIGHTS,
		.callouts =
			{
				{"uprobes", "probes and their cost",
				 "The workload has a probe on an instruction and hits it all the "
				 "time. CLASS says how the kernel handles it: a nop is emulated, "
				 "a ret is executed out of line."},
				{"uprobes", "slots for single steps",
				 "An instruction that cannot be emulated needs a slot of one page "
				 "that all threads share. Taking and giving back a slot is atomic "
				 "on one bitmap, so more CPUs do not mean more hits."},
				{"hot", "where the CPUs are",
				 "About 80 of 100 cycles were in these atomics with 80 CPUs. Look "
				 "for uprobe_notify_resume, and for xol_ functions while ret is "
				 "hit."},
			},
		.rows =
			{
				{"nop, 1 CPU", "uprobe-nop, 1 cpus", "calls", NULL, NONE, 3.565e6},
				{"nop, all CPUs", "uprobe-nop, *", "calls", NULL, NONE, 143.9e6},
				{"ret, 1 CPU", "uprobe-ret, 1 cpus", "calls", NULL, NONE, 1.219e6},
				{"ret, all CPUs", "uprobe-ret, *", "calls", NULL, NONE, 1.040e6},
				{"return of nop, 1 CPU", "uretprobe-nop, 1 cpus", "calls", NULL,
				 NONE, 1.987e6},
				{"return of nop, all CPUs", "uretprobe-nop, *", "calls", NULL,
				 NONE, 46.5e6},
				{"return of ret, 1 CPU", "uretprobe-ret, 1 cpus", "calls", NULL,
				 NONE, 0.981e6},
				{"return of ret, all CPUs", "uretprobe-ret, *", "calls", NULL,
				 NONE, 0.982e6},
			},
	},
	{
		.name = "mmap",
		.title = "who waits for mmap_lock, and what it costs to know that",
		.published = "make -j5 of a kernel, 4 CPUs, with a histogram of each acquisition",
		.compare = "contended with all: a build takes mmap_locks for less of its time",
		.recorded = MACHINE,
		.bench = "mmap -q --cost --pairs 4 -n 400",
		.load = "bench -q mmap -t 8 -n 8000",
		.measure = "--owner",
		.views = "mmap,locks",
		.at = "90%",
		.needs = STORY_RIGHTS,
		.callouts =
			{
				{"mmap", "whose mmap_lock",
				 "Eight threads map, touch and unmap memory: they wait for the "
				 "mmap_lock of their process. R and W are apart, and P99 is what "
				 "an average hides."},
				{"locks", "by which call",
				 "Writers are mmap and munmap, readers are page faults. Enter "
				 "shows one lock: its waits, their history, who waits now."},
				{"waiters", "who waits now",
				 "PLACE is the place in the queue, HOLDER the thread that has the "
				 "lock. A writer that waits keeps new readers out."},
			},
		.rows =
			{
				{"each acquisition measured", "all", "cpu", NULL, NONE, 5.5},
				{"contended ones alone", "contended", "cpu", NULL, NONE, 1},
				{"each, with call paths", "all,paths", "cpu", NULL, NONE, NONE},
				{"kontend's own, each measured", "all", "own", NULL, NONE, NONE},
			},
	},
	{
		.name = "fork",
		.title = "a process with much memory forks, and its threads stand still",
		.compare = "page faults meanwhile with the fork: they wait for all of it",
		.recorded = MACHINE,
		.work = story_work_fork,
		.measure = "--owner",
		.views = "locks,chains,blame",
		.at = "95%",
		.needs = STORY_RIGHTS,
		.callouts =
			{
				{"overview", "the verdict",
				 "The line below the first one says it all: threads wait for the "
				 "mmap_lock of their own process. The worst locks are below."},
				{"locks", "one lock",
				 "fork() has mmap_lock for writing while it copies page tables. "
				 "Every page fault of the meantime is a reader that waits."},
				{"locks", "its page",
				 "The waits are as long as the fork. The tree has the calls that "
				 "lead there: exc_page_fault, and not one mmap() of the program.",
				 .enter = true},
				{"blame", "because of whom",
				 "All of that waiting is charged to the thread that forks. MOSTLY "
				 "is what it did meanwhile: it runs in copy_page_range, or is kept "
				 "off its CPU. The more memory, the longer."},
			},
		.rows =
			{
				{"fork() of 768 MB, longest", "fork", "longest", NULL, NONE, NONE},
				{"page faults that waited", "page faults meanwhile", "number", NULL,
				 NONE, NONE},
				{"the longest of them", "page faults meanwhile", "longest", NULL,
				 NONE, NONE},
				{"all of them", "page faults meanwhile", "total", NULL, NONE, NONE},
			},
	},
	{
		.name = "java",
		.title = "a Java server hangs: one thread has a monitor and waits for a database",
		.compare = "what the program says of its longest request with MAX",
		.recorded = MACHINE,
		.work = story_work_java,
		.measure = "--owner",
		.views = "locks,waiters,chains",
		.at = "60%",
		.needs = STORY_RIGHTS | STORY_JAVA,
		.callouts =
			{
				{"overview", "the verdict",
				 "The lock is one of the program, not of the kernel: a Java "
				 "monitor, by the class of its object. The next line has the "
				 "thread that holds it, and where that sleeps."},
				{"waiters", "who waits now",
				 "The handlers of requests wait for a monitor, by the class of its "
				 "object. HOLDER is the thread that has it: cache-reload."},
				{"chains", "who makes them wait",
				 "The root of the tree waits for no lock: it sleeps, as it waits "
				 "for its database with the monitor. All handlers are below it."},
				{"locks", "how long",
				 "MAX is as long as the slow query, AVG nearly. A thread dump has "
				 "the same monitor, but not how long, nor how often."},
			},
		.rows =
			{
				{"requests", "requests", "number", NULL, NONE, NONE},
				{"requests that waited", "stalled requests", "number", NULL, NONE,
				 NONE},
				{"the longest of them", "stalled requests", "longest", NULL, NONE,
				 NONE},
				{"all of them", "stalled requests", "total", NULL, NONE, NONE},
			},
	},
	{
		.name = "flock",
		.title = "a herd of jobs takes turns with one lock file",
		.compare = "tasks that wait on average with WAIT/s",
		.recorded = MACHINE,
		.work = story_work_flock,
		.clean_up = story_flock_remove,
		.measure = "--owner",
		.views = "locks,waiters,chains",
		.at = "60%",
		.needs = STORY_RIGHTS,
		.callouts =
			{
				{"locks", "locks of files",
				 "The kernel has no event for flock(2). These waits are from other "
				 "events and /proc/locks, and the row has the name of the file."},
				{"waiters", "the queue",
				 "One job has the lock, all others are here, each with the job "
				 "that it waits for. The one that waits longest is on top."},
				{"chains", "who makes them wait",
				 "Above the waiters is the job that has the lock, or had it. Each "
				 "has it for 25 ms, and the last one in the queue waits for the "
				 "sum of these."},
			},
		.rows =
			{
				{"locked, times", "flock", "number", NULL, NONE, NONE},
				{"the longest wait", "flock", "longest", NULL, NONE, NONE},
				{"all waits", "flock", "total", NULL, NONE, NONE},
				{"tasks that wait, on average", "flock", "tasks", NULL, NONE, NONE},
			},
	},
	{
		.name = "cgroup",
		.title = "to move a task between cgroups takes a grace period of RCU",
		.compare = "a move with a grace period of RCU, some ms to some tens of ms",
		.recorded = MACHINE,
		.work = story_work_cgroup,
		.clean_up = story_cgroup_remove,
		.measure = "--owner",
		.views = "locks,blame",
		.at = "90%",
		.needs = STORY_RIGHTS | STORY_CGROUPS,
		.callouts =
			{
				{"locks", "one lock of the whole machine",
				 "Three runtimes move their tasks at the same moment. The first "
				 "has cgroup_mutex, and the others wait for it in "
				 "cgroup_kn_lock_live, for milliseconds each time."},
				{"locks", "its page",
				 "All waits are as long as a grace period of RCU. A move is a "
				 "writer of cgroup_threadgroup_rwsem, and a writer of a per-CPU "
				 "rwsem waits for one before it looks for readers.",
				 .enter = true},
				{"blame", "because of whom",
				 "The time is charged to the runtime with the mutex. It slept "
				 "meanwhile, in synchronize_rcu. clone3(2) starts a task in its "
				 "cgroup, without a move."},
			},
		.rows =
			{
				{"moves", "moves", "number", NULL, NONE, NONE},
				{"a move, average", "moves", "average", NULL, NONE, NONE},
				{"a move, longest", "moves", "longest", NULL, NONE, NONE},
				{"a fork, average", "forks", "average", NULL, NONE, NONE},
				{"a fork, longest", "forks", "longest", NULL, NONE, NONE},
			},
	},
	{.name = NULL},
};

const struct story *story_find(const char *name)
{
	for (const struct story *s = story_table; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

size_t story_n_callouts(const struct story *s)
{
	size_t n = 0;

	while (n < STORY_CALLOUTS && s->callouts[n].view)
		n++;
	return n;
}

static int check_pmu(struct error *err)
{
	struct pmus p;

	pmus_read("/sys/bus/event_source/devices", &p);
	return p.n ? 0
		   : error_set(err, -ENODEV,
			       "This machine has no hardware counters, so no event takes turns "
			       "here");
}

int story_check(const struct story *s, uint64_t have, struct error *err)
{
	const uint64_t measures = 1ull << CAP_PERFMON | 1ull << CAP_SYS_ADMIN;
	int code = 0;

	if (s->needs & STORY_RIGHTS && !(have & measures))
		return error_set(err, -EPERM, "You may not measure here (CAP_PERFMON)");
	if (s->needs & STORY_PMU)
		code = check_pmu(err);
	if (code == 0 && s->needs & STORY_JAVA)
		code = story_java_check(err);
	if (code == 0 && s->needs & STORY_CGROUPS)
		code = story_cgroup_check(err);
	return code;
}
