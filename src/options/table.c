// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of verbs and the table of options. The parser, --help, the completions of three shells
 * and the test of the manual pages read nothing else. An option may have two rows, for verbs that
 * give its argument another meaning. This file needs libc only: the generator of completions is
 * built from it for the build machine.
 */
#include "kontend/export-formats.h"
#include "kontend/opts.h"
#include "kontend/report.h"
#include "kontend/screen-views.h"
#include "kontend/story-names.h"

#include <string.h>

static const struct opts_verb_info verb_table[VERBS] = {
	[VERB_LIVE] = {"live", "top", "[OPTIONS] [-- COMMAND [ARG...]]",
		       "watch what tasks wait for, as it happens (the default verb)", NULL, false,
		       true},
	[VERB_REPLAY] =
		{"replay", NULL, "[OPTIONS] [FILE|-]",
		 "replay a recording on the screen, and seek in it",
		 "FILE is a recording of kontend or perf (default: kontend.data); -: standard "
		 "input.\n",
		 false, false},
	[VERB_REPORT] = {"report", NULL, "[OPTIONS] [FILE | -- COMMAND [ARG...]]",
			 "measure once and print tables as text, CSV or JSON",
			 "Measures for --duration, or until COMMAND ends, or until Ctrl-C.\n"
			 "Views of the present state (slots, holders, contexts, events) "
			 "end\nafter one snapshot, without --duration and COMMAND.\n"
			 "With COMMAND, the exit status is that of COMMAND.\n",
			 false, true},
	[VERB_WHY] =
		{"why", NULL, "[OPTIONS] [FILE | -- COMMAND [ARG...]]",
		 "show why tasks do not run: blocked by what, woken by whom, kept off by whom",
		 "Follows the tasks of --pid or --tid, or COMMAND and all that it starts, for\n"
		 "--duration, or until COMMAND ends, or until Ctrl-C.\n"
		 "With COMMAND, the exit status is that of COMMAND.\n",
		 false, true},
	[VERB_SCRIPT] = {"script", NULL, "[OPTIONS] [FILE | -- COMMAND [ARG...]]",
			 "print every event as a line, with the length of waits at their ends",
			 "Measures for --duration, or until COMMAND ends, or until Ctrl-C.\n"
			 "With COMMAND, the exit status is that of COMMAND.\n",
			 false, true},
	[VERB_DIFF] = {"diff", NULL, "[OPTIONS] [OLD NEW | --compare A,B FILE | OLD... -- NEW...]",
		       "compare recordings: which waits grew, shrank, ended",
		       "Without files: kontend.data.old and kontend.data.\n", false, false},
	[VERB_MERGE] = {"merge", NULL, "[OPTIONS] FILE...",
			"add up recordings of many machines, by host, kernel or service",
			"Each FILE is a recording of kontend or perf. Unreadable ones are "
			"reported and\nskipped; then the exit status is 1.\n",
			false, false},
	[VERB_EXPORT] =
		{"export", NULL, "[OPTIONS] [FILE... | -- COMMAND [ARG...]]",
		 "write for other tools: flame graphs, trace viewers, Prometheus, databases",
		 "Measures for --duration, or until COMMAND ends, or until Ctrl-C.\n"
		 "With COMMAND, the exit status is that of COMMAND.\n",
		 false, true},
	[VERB_RECORD] = {"record", NULL, "[OPTIONS] [-- COMMAND [ARG...]]",
			 "measure into a file that kontend and perf read",
			 "Records for --duration, or until COMMAND ends, or until Ctrl-C.\n"
			 "With COMMAND, the exit status is that of COMMAND.\n",
			 false, true},
	[VERB_CUT] =
		{"cut", NULL, "[OPTIONS] FILE -o NEW",
		 "write a part of a recording, by time or by waits, as a new recording",
		 "Keeps the time range of --time, and only the waits that options select; all\n"
		 "else from that time stays.\n",
		 false, false},
	[VERB_RECOVER] = {"recover", NULL, "[OPTIONS] FILE",
			  "repair a truncated or damaged recording", NULL, false, false},
	[VERB_INCIDENTS] = {"incidents", NULL, "[OPTIONS] [DIR]",
			    "list incidents written by 'kontend record --trigger'",
			    "DIR is its directory (default: the current one). Other "
			    "files in it are\n"
			    "ignored.\n",
			    false, false},
	[VERB_TOUR] = {"tour", NULL, "[OPTIONS] [FILE]",
		       "walk through the views: of a demo, or of a recording",
		       "Without the right to measure, it shows the installed recording.\n", false,
		       false},
	[VERB_SCREENSHOT] = {"screenshot", NULL, "[OPTIONS] [FILE|-]",
			     "write a screen of a recording to a file: SVG, text, or text with "
			     "colours",
			     "FILE is a recording of kontend or perf (default: kontend.data); -: "
			     "standard input.\n"
			     "Counts the whole recording, or with --at the part up to that time.\n",
			     false, false},
	[VERB_STORY] =
		{"story", NULL, "[OPTIONS] [STORY]",
		 "show one case of contention: live or recorded, with callouts and published "
		 "figures",
		 "Without STORY: lists them. On a terminal it shows the screen, with callouts, and "
		 "the\nfigures when you leave; otherwise it prints tables and figures.\n",
		 false, false},
	[VERB_DEMO] = {"demo", NULL, "[OPTIONS]", "contend for locks, as a demonstration", NULL,
		       false, false},
	[VERB_BENCH] =
		{"bench", NULL, "[OPTIONS] BENCHMARK",
		 "measure the cost of probes, breakpoints and rotation, contend for locks, or "
		 "all of it",
		 "uprobe: cost of a hit.\n"
		 "rotation: slowdown of a workload by too many perf events.\n"
		 "breakpoint: cost of opening breakpoints, and of threads that inherit them.\n"
		 "page-fault: threads touch the pages of one mapping in parallel.\n"
		 "mmap: threads map, touch and unmap memory.\n"
		 "mutex, rwsem, spinlock, futex: a known number of waits for one lock.\n"
		 "selftest: compares such waits with those that kontend measures.\n"
		 "suite: runs each of them several times, and compares with an earlier suite.\n",
		 false, false},
	[VERB_DOCTOR] = {"doctor", NULL, "[OPTIONS]",
			 "check which features work here for this user, and how to fix others",
			 NULL, false, false},
	[VERB_HELP] = {"help", NULL, "[VERB | VIEW | keys]",
		       "print the help of a verb, the manual of a view, or the keys of the screen",
		       NULL, false, false},
	[VERB_VERSION] = {"version", NULL, "", "print the version", NULL, false, false},
	[VERB_DUMP] = {"dump", NULL, "options|keys|columns|settings|views",
		       "print the program's own tables", NULL, true, false},
};

#define LIVE (1u << VERB_LIVE)
#define REPLAY (1u << VERB_REPLAY)
#define SHOT (1u << VERB_SCREENSHOT)
#define PLAYS (REPLAY | SHOT)
#define SCREEN (LIVE | PLAYS)
#define TOUR (1u << VERB_TOUR)
#define STORY (1u << VERB_STORY)
#define TERMINAL (SCREEN | TOUR | STORY)
#define REPORT (1u << VERB_REPORT)
#define WHY (1u << VERB_WHY)
#define SCRIPT (1u << VERB_SCRIPT)
#define DIFF (1u << VERB_DIFF)
#define MERGE (1u << VERB_MERGE)
#define EXPORT (1u << VERB_EXPORT)
#define ONCE (REPORT | SCRIPT | EXPORT) /* measure without a screen */
#define RECORD (1u << VERB_RECORD)
#define CUT (1u << VERB_CUT)
#define RECOVER (1u << VERB_RECOVER)
#define VERSION (1u << VERB_VERSION)
#define INCIDENTS (1u << VERB_INCIDENTS)
#define DEMO (1u << VERB_DEMO)
#define BENCH (1u << VERB_BENCH)
#define DOCTOR (1u << VERB_DOCTOR)
#define MEASURE (LIVE | ONCE | RECORD)
#define SHOWS (SCREEN | ONCE | DIFF)
#define ALL ((1u << VERBS) - 1)
#define FIELD(name) offsetof(struct opts, name)

static const char target[] = "Targets (default: all CPUs)";
static const char measure[] = "Measurement";
static const char file[] = "The file";
static const char only[] = "Filters (other waits are not counted)";
static const char table[] = "Output";
static const char breakpoint[] = "A breakpoint (No space left on device)";
static const char incidents[] = "Incidents";
static const char picture[] = "The picture";
static const char terminal[] = "Terminal";
static const char workload[] = "Workload";
static const char general[] = "General";

#define US 1000ull
#define MS 1000000ull
#define SECOND 1000000000ull
#define YEAR (366 * 86400 * SECOND)

const struct opts_info opts_table[] = {
	{'a', "all-cpus", NULL, "every task on every CPU (the default without -- COMMAND)", target,
	 MEASURE, OPTS_FLAG, FIELD(all_cpus), 0, 0, NULL, COMPLETE_NONE, 0, true},
	{'C', "cpu", "LIST", "only on these CPUs, like 0,2-5; of a recording, only waits there",
	 target, MEASURE, OPTS_TEXT, FIELD(cpus), 0, 0, NULL, COMPLETE_NONE},
	{'p', "pid", "LIST",
	 "only these processes, by pid or name, and what they start; of a recording, only waits of "
	 "these",
	 target, MEASURE, OPTS_TEXT, FIELD(pids), 0, 0, NULL, COMPLETE_PID},
	{'t', "tid", "LIST", "only these threads; of a recording, only waits of these", target,
	 MEASURE, OPTS_TEXT, FIELD(tids), 0, 0, NULL, COMPLETE_PID},
	{'G', "cgroup", "PATH",
	 "only this cgroup and those below it, like /system.slice; of a recording as well", target,
	 MEASURE, OPTS_TEXT, FIELD(cgroup), 0, 0, NULL, COMPLETE_CGROUP},

	{'p', "pid", "LIST", "these processes, by pid or name, and what they start", target, WHY,
	 OPTS_TEXT, FIELD(pids), 0, 0, NULL, COMPLETE_PID},
	{'t', "tid", "LIST", "these threads; of a recording, one of those that it has", target, WHY,
	 OPTS_TEXT, FIELD(tids), 0, 0, NULL, COMPLETE_PID},
	{'i', "input", "FILE", "read a recording, or standard input with -, instead of measuring",
	 target, ONCE | WHY, OPTS_TEXT, FIELD(input), 0, 0, NULL, COMPLETE_FILE},

	{0, "size", "COLUMNSxROWS", "of the screen (default: 100x30)", picture, SHOT, OPTS_TEXT,
	 FIELD(screen_size), 0, 0, NULL, COMPLETE_NONE},
	{0, "story", "NAME", "the recording of a story, with its callouts: see 'kontend story'",
	 picture, SHOT, OPTS_CHOICE, FIELD(story), 0, 0, STORY_NAMES, COMPLETE_NONE},
	{0, "at", "TIME", "the moment: 1:23, 90%, 14:30:05 (default: the end)", picture, SHOT,
	 OPTS_TEXT, FIELD(at), 0, 0, NULL, COMPLETE_NONE},
	{0, "keys", "KEYS",
	 "press these first, like '3 Down Enter': names of keys, or text to type", picture, SHOT,
	 OPTS_TEXT, FIELD(keys), 0, 0, NULL, COMPLETE_NONE},
	{'o', "output", "FILE", "write to FILE, which appears only when it is complete", picture,
	 SHOT, OPTS_TEXT, FIELD(output), 0, 0, NULL, COMPLETE_FILE},

	{'i', "input", "FILE", "the same as FILE, as in other verbs", file, PLAYS | CUT, OPTS_TEXT,
	 FIELD(input), 0, 0, NULL, COMPLETE_FILE},
	{0, "against", "OLD", "flame graphs of two recordings: what differs in FILE from OLD", file,
	 PLAYS, OPTS_TEXT, FIELD(against), 0, 0, NULL, COMPLETE_FILE},
	{'i', "input", "FILE", "the same as FILE, as in other verbs", file, RECOVER, OPTS_TEXT,
	 FIELD(topic), 0, 0, NULL, COMPLETE_FILE},

	{0, "no-sandbox", NULL, "read recordings without the sandbox, with all rights of this user",
	 file, ONCE | WHY | REPLAY | SHOT | DIFF | MERGE | CUT | RECOVER | INCIDENTS | TOUR | STORY,
	 OPTS_FLAG, FIELD(no_sandbox), 0, 0, NULL, COMPLETE_NONE},

	{'d', "delay", "TIME", "refresh every TIME, from 100ms to 60s (default: 1s)", measure, LIVE,
	 OPTS_TIME, FIELD(delay_ns), 100 * MS, 60 * SECOND, NULL, COMPLETE_NONE, LIVE},
	{'d', "delay", "TIME", "length of the buckets that rates are taken over (default: 1s)",
	 measure, REPORT, OPTS_TIME, FIELD(delay_ns), 100 * MS, 60 * SECOND, NULL, COMPLETE_NONE,
	 REPORT},
	{'d', "delay", "TIME", "length of the steps (default: depends on the recording's length)",
	 measure, PLAYS, OPTS_TIME, FIELD(delay_ns), 10 * MS, 3600 * SECOND, NULL, COMPLETE_NONE,
	 PLAYS},
	{0, "duration", "TIME", "measure for TIME: 3, 500ms, 2m", measure, ONCE | WHY | RECORD,
	 OPTS_TIME, FIELD(duration_ns), MS, YEAR, NULL, COMPLETE_NONE, 0, true},
	{0, "duration", "TIME", "quit after TIME: 30, 2m (default: with q)", measure, LIVE,
	 OPTS_TIME, FIELD(duration_ns), MS, YEAR, NULL, COMPLETE_NONE, 0, true},
	{0, "start-after", "TIME", "wait for TIME before measuring begins: 3, 500ms, 2m", measure,
	 MEASURE, OPTS_TIME, FIELD(start_after_ns), MS, YEAR, NULL, COMPLETE_NONE, 0, true},
	{0, "start-at", "TIME", "begin to measure at TIME by the clock: 14:30, 14:30:05, /10s",
	 measure, MEASURE, OPTS_TEXT, FIELD(start_at), 0, 0, NULL, COMPLETE_NONE, 0, true},
	{0, "recorded", NULL, "show the recording that comes with kontend: it needs no rights",
	 workload, STORY, OPTS_FLAG, FIELD(recorded), 0, 0, NULL, COMPLETE_NONE},
	{0, "work", NULL, "run the workload alone, and print its figures as lines", workload, STORY,
	 OPTS_FLAG, FIELD(work), 0, 0, NULL, COMPLETE_NONE},
	{0, "duration", "TIME",
	 "repeat the workload for TIME: 30, 2m (default: once, or until you leave the screen)",
	 workload, STORY, OPTS_TIME, FIELD(duration_ns), MS, YEAR, NULL, COMPLETE_NONE},
	{'o', "output", "FILE", "with --work: write the figures to FILE", workload, STORY,
	 OPTS_TEXT, FIELD(output), 0, 0, NULL, COMPLETE_FILE},
	{0, "duration", "TIME", "run for TIME: 3, 500ms, 2m (default: until stopped)", workload,
	 DEMO, OPTS_TIME, FIELD(duration_ns), MS, YEAR, NULL, COMPLETE_NONE},
	{0, "duration", "TIME",
	 "uprobe, rotation: for TIME in all (default: half a second, one second per line)", measure,
	 BENCH, OPTS_TIME, FIELD(duration_ns), MS, YEAR, NULL, COMPLETE_NONE},
	{0, "threads", "N",
	 "threads that read a recording, 1 or 2 (default: 2 if there are two CPUs)", file,
	 ONCE | DIFF | MERGE | PLAYS, OPTS_COUNT, FIELD(threads), 1, 65536, NULL, COMPLETE_NONE},
	{'b', "breakpoints", "N",
	 "breakpoint: number that each thread inherits, 0 for none (default: 4, or all slots if "
	 "fewer)",
	 workload, BENCH, OPTS_TEXT, FIELD(breakpoints), 0, 0, NULL, COMPLETE_NONE},
	{'p', "parallelism", "N",
	 "breakpoint: threads that create others (default: one for each CPU)", workload, BENCH,
	 OPTS_COUNT, FIELD(parallelism), 1, 65536, NULL, COMPLETE_NONE},
	{'t', "threads", "LIST",
	 "threads (default: all, one per CPU; mutex, rwsem, futex: 4; breakpoint: 64); page-fault, "
	 "mmap: several numbers of them, as 1,4,all",
	 workload, BENCH, OPTS_TEXT, FIELD(counts), 0, 0, NULL, COMPLETE_NONE},
	{0, "mode", "MODE",
	 "page-fault: anon, kernel, fresh or growsdown: see the manual page (default: anon)",
	 workload, BENCH, OPTS_CHOICE, FIELD(mode), 0, 0, "anon kernel fresh growsdown",
	 COMPLETE_NONE},
	{0, "cost", NULL, "mmap: cost of each way of measuring, in pairs of runs", workload, BENCH,
	 OPTS_FLAG, FIELD(cost), 0, 0, NULL, COMPLETE_NONE},
	{0, "pairs", "N", "mmap --cost: pairs of runs (default: 20)", workload, BENCH, OPTS_COUNT,
	 FIELD(pairs), 2, 10000, NULL, COMPLETE_NONE},
	{0, "size", "SIZE",
	 "page-fault: the mapping (default: 256M); mmap: each mapping (64K); rotation: memory "
	 "read in a loop (48M)",
	 workload, BENCH, OPTS_SIZE, FIELD(size), 4096, UINT64_MAX, NULL, COMPLETE_NONE},
	{'n', "rounds", "N",
	 "page-fault: mappings one after another (default: 1); mmap: of a thread (2000); mutex, "
	 "rwsem, futex: times it is held (10); spinlock: calls (4000)",
	 workload, BENCH, OPTS_COUNT, FIELD(rounds), 1, 1000000000, NULL, COMPLETE_NONE},
	{'e', "events", "N", "rotation: events for each CPU (default: 29)", workload, BENCH,
	 OPTS_COUNT, FIELD(events), 1, 100000, NULL, COMPLETE_NONE},
	{'r', "repeat", "N",
	 "suite: runs of each (default: 5); breakpoint: threads are created N times (30)", workload,
	 BENCH, OPTS_COUNT, FIELD(repeat), 1, 1000000, NULL, COMPLETE_NONE},
	{0, "compare", "FILE", "suite: show changes since FILE, the JSON of a suite", workload,
	 BENCH, OPTS_TEXT, FIELD(compare), 0, 0, NULL, COMPLETE_FILE},
	{'i', "input", "FILE", "suite: read FILE, the JSON of a suite, and run nothing", workload,
	 BENCH, OPTS_TEXT, FIELD(input), 0, 0, NULL, COMPLETE_FILE},
	{0, "kind", "LIST",
	 "uprobe: nop, nop5, push and ret, or uprobe-nop, uretprobe-nop ..., and request", workload,
	 BENCH, OPTS_TEXT, FIELD(bench_kinds), 0, 0, "nop nop5 push ret request", COMPLETE_NONE},
	{0, "cpus", "LIST",
	 "uprobe: numbers of CPUs to run on: 1,2,40 (default: 1 to all, in steps)", workload, BENCH,
	 OPTS_TEXT, FIELD(cpu_counts), 0, 0, NULL, COMPLETE_NONE},
	{0, "measure", NULL, "page-fault, mmap: print kontend's measurement below the result",
	 workload, BENCH, OPTS_FLAG, FIELD(measure), 0, 0, NULL, COMPLETE_NONE},
	{'m', "mmap-pages", "N", "size of the rings of each CPU in pages, a power of two", measure,
	 MEASURE, OPTS_POWER, FIELD(mmap_pages), 1, 1 << 16, NULL, COMPLETE_NONE, MEASURE, true},
	{0, "max-stack", "N", "keep at most N frames of a call chain, 1 to 127", measure, MEASURE,
	 OPTS_COUNT, FIELD(max_stack), 1, 127, NULL, COMPLETE_NONE, MEASURE, true},
	{0, "no-stack", NULL, "record no call chains: cheaper, and callers are unknown", measure,
	 MEASURE, OPTS_FLAG, FIELD(no_stack), 0, 0, NULL, COMPLETE_NONE, MEASURE, true},
	{0, "realtime", NULL, "drain the rings at real-time priority (SCHED_FIFO)", measure,
	 MEASURE, OPTS_FLAG, FIELD(realtime), 0, 0, NULL, COMPLETE_NONE, MEASURE, true},
	{'F', "freq", "HZ", "sample CPUs HZ times per second (default: 499; 0: not at all)",
	 measure, LIVE, OPTS_COUNT, FIELD(freq), 0, 100000, NULL, COMPLETE_NONE, LIVE, true},
	{'F', "freq", "HZ", "sample CPUs HZ times per second (default: 0, not at all)", measure,
	 MEASURE & ~LIVE, OPTS_COUNT, FIELD(freq), 0, 100000, NULL, COMPLETE_NONE, MEASURE & ~LIVE,
	 true},
	{'e', "event", "EVENT",
	 "event to sample on, cycles (default, if there is a PMU) or cpu-clock; of a recording, "
	 "its "
	 "events to show, by name, number or glob, or all",
	 measure, MEASURE & ~RECORD, OPTS_TEXT, FIELD(event), 0, 0, "cycles cpu-clock all",
	 COMPLETE_NONE, MEASURE & ~RECORD, true, false, true},
	{'e', "event", "EVENT", "event to sample on (default: cycles if there is a PMU)", measure,
	 RECORD, OPTS_CHOICE, FIELD(event), 0, 0, "cycles cpu-clock", COMPLETE_NONE, RECORD, true},
	{'e', "event", "EVENT", "show these events in profiles, by name, number or glob, or all",
	 table, PLAYS | DIFF | MERGE, OPTS_TEXT, FIELD(event), 0, 0, "all", COMPLETE_NONE},
	{0, "call-graph", "HOW",
	 "find callers in samples by fp (default), dwarf[,SIZE] (stack dumps) or lbr", measure,
	 MEASURE, OPTS_TEXT, FIELD(call_graph), 0, 0, "fp dwarf lbr", COMPLETE_NONE, MEASURE, true},
	{0, "no-bpf", NULL, "do not use BPF: no names and holders of locks, slots without holders",
	 measure, MEASURE, OPTS_FLAG, FIELD(no_bpf), 0, 0, NULL, COMPLETE_NONE, 0, true},
	{0, "probe-cpus", NULL, "without BPF: count the slots of tasks, too; delays breakpoints",
	 measure, MEASURE, OPTS_FLAG, FIELD(probe_cpus), 0, 0, NULL, COMPLETE_NONE, 0, true},
	{0, "probe", "WHERE",
	 "count hits of BINARY:FUNCTION, +BYTES or %return after it; may be given again", measure,
	 LIVE | REPORT | RECORD, OPTS_LIST, FIELD(probes), 0, 0, NULL, COMPLETE_FILE, 0, true},
	{0, "creations", NULL, "see each new breakpoint (BPF); makes each system call 80 ns slower",
	 measure, LIVE | REPORT | RECORD, OPTS_FLAG, FIELD(creations), 0, 0, NULL, COMPLETE_NONE,
	 LIVE | REPORT | RECORD, true},
	{0, "owner", NULL, "record the owner of a lock when a wait begins (BPF); for --by owner",
	 measure, MEASURE, OPTS_FLAG, FIELD(owner), 0, 0, NULL, COMPLETE_NONE, MEASURE, true},
	{0, "switches", "TIME",
	 "sample context switches for TIME per second, if PMUs rotate (default: 100ms)", measure,
	 MEASURE, OPTS_TIME, FIELD(switches_ns), MS, SECOND, NULL, COMPLETE_NONE, MEASURE, true},
	{0, "no-switches", NULL, "do not sample context switches", measure, MEASURE, OPTS_FLAG,
	 FIELD(no_switches), 0, 0, NULL, COMPLETE_NONE, MEASURE, true},
	{0, "follow", "TIME",
	 "follow holders of locks (BPF) while others wait longer than TIME (default: 1ms)", measure,
	 MEASURE, OPTS_TIME, FIELD(follow_ns), 10 * US, 1000 * SECOND, NULL, COMPLETE_NONE, MEASURE,
	 true},
	{0, "no-follow", NULL, "do not follow holders of locks", measure, MEASURE, OPTS_FLAG,
	 FIELD(no_follow), 0, 0, NULL, COMPLETE_NONE, MEASURE, true},
	{0, "mmap", "LEVEL",
	 "how much to measure of mmap_lock acquisitions: contended (default), sampled[=N] or all; "
	 "append ,paths to record "
	 "call paths of holders",
	 measure, MEASURE, OPTS_TEXT, FIELD(mmap), 0, 0, "contended sampled all all,paths",
	 COMPLETE_NONE, MEASURE, true},
	{0, "tick", NULL, "measure the timer tick, too, where perf handles sampling events",
	 measure, MEASURE, OPTS_FLAG, FIELD(tick), 0, 0, NULL, COMPLETE_NONE, MEASURE, true},
	{0, "phases", NULL, "measure the phases of rotation, and cgroup switches, with probes",
	 measure, LIVE | REPORT | RECORD, OPTS_FLAG, FIELD(phases), 0, 0, NULL, COMPLETE_NONE,
	 LIVE | REPORT | RECORD, true},
	{0, "sleeps", NULL,
	 "sum up each sleep in state D (BPF); every switch and wakeup pays for it", measure,
	 LIVE | REPORT | RECORD, OPTS_FLAG, FIELD(sleeps), 0, 0, NULL, COMPLETE_NONE,
	 LIVE | REPORT | RECORD, true},
	{0, "holds", "LOCK",
	 "measure by BPF how long a lock is held, waited for or not: a symbol of the kernel, an "
	 "address, mutex, rwsem:R or rwsem:W; each acquisition in the machine pays for it",
	 measure, LIVE | REPORT | RECORD, OPTS_TEXT, FIELD(holds), 0, 0, NULL, COMPLETE_NONE,
	 LIVE | REPORT | RECORD, true},
	{0, "min-sleep", "TIME", "with --sleeps: record each sleep of TIME and more (100us)",
	 measure, LIVE | REPORT | RECORD, OPTS_TIME, FIELD(min_sleep_ns), 1, YEAR, NULL,
	 COMPLETE_NONE, LIVE | REPORT | RECORD, true},
	{0, "why", NULL,
	 "follow what the chosen tasks do, and who wakes them (BPF): for 'kontend why'", measure,
	 LIVE | REPORT | RECORD, OPTS_FLAG, FIELD(why), 0, 0, NULL, COMPLETE_NONE,
	 LIVE | REPORT | RECORD, true},
	{0, "user-locks", "HOW",
	 "how to measure waits for locks of programs: events (default), snapshot or off", measure,
	 MEASURE, OPTS_CHOICE, FIELD(user_locks), 0, 0, "events snapshot off", COMPLETE_NONE,
	 MEASURE, true},
	{0, "user-frames", "HOW",
	 "call chains of programs: all (default), fp (of events), sleepers or off", measure,
	 MEASURE, OPTS_CHOICE, FIELD(user_frames), 0, 0, "all fp sleepers off", COMPLETE_NONE,
	 MEASURE, true},
	{0, "set-mux-interval", "PMU=MS",
	 "rotate the events of PMU every MS ms, until kontend ends", measure,
	 LIVE | REPORT | RECORD, OPTS_TEXT, FIELD(mux_interval), 0, 0, NULL, COMPLETE_NONE, 0,
	 true},
	{0, "demo", NULL, "run the demo workload at the same time", measure, MEASURE, OPTS_FLAG,
	 FIELD(demo), 0, 0, NULL, COMPLETE_NONE, 0, true},

	{0, "enospc", NULL,
	 "check whether a breakpoint would get a slot, and list the slots' holders", breakpoint,
	 DOCTOR, OPTS_FLAG, FIELD(enospc), 0, 0, NULL, COMPLETE_NONE},
	{'p', "pid", "LIST",
	 "for every thread of these processes, by pid or name (default: for the CPUs)", breakpoint,
	 DOCTOR, OPTS_TEXT, FIELD(pids), 0, 0, NULL, COMPLETE_PID},
	{'t', "tid", "LIST", "for these threads", breakpoint, DOCTOR, OPTS_TEXT, FIELD(tids), 0, 0,
	 NULL, COMPLETE_PID},
	{'C', "cpu", "LIST", "on these CPUs, like 0,2-5 (default: all)", breakpoint, DOCTOR,
	 OPTS_TEXT, FIELD(cpus), 0, 0, NULL, COMPLETE_NONE},
	{0, "addr", "ADDRESS", "at this address", breakpoint, DOCTOR, OPTS_TEXT, FIELD(addr), 0, 0,
	 NULL, COMPLETE_NONE},
	{0, "len", "BYTES", "number of bytes (default: 1, and 8 for execution)", breakpoint, DOCTOR,
	 OPTS_TEXT, FIELD(len), 0, 0, NULL, COMPLETE_NONE},
	{0, "type", "RWX", "for reads r, writes w, both rw, or execution x (default: w)",
	 breakpoint, DOCTOR, OPTS_CHOICE, FIELD(type), 0, 0, "r w rw x", COMPLETE_NONE},
	{0, "no-bpf", NULL, "count slots without BPF: their holders are not known", breakpoint,
	 DOCTOR, OPTS_FLAG, FIELD(no_bpf), 0, 0, NULL, COMPLETE_NONE},

	{'o', "output", "FILE", "record to FILE, or - for a pipe (default: kontend.data)", file,
	 RECORD, OPTS_TEXT, FIELD(output), 0, 0, NULL, COMPLETE_FILE, RECORD},
	{'z', "compress", "LEVEL", "compress with zstd at LEVEL, 1 to 22 (default: 1)", file,
	 RECORD, OPTS_LEVEL, FIELD(compress), 1, 22, NULL, COMPLETE_NONE, RECORD},
	{'z', "compress", "LEVEL",
	 "compress NEW with zstd at LEVEL, 1 to 22 (default: 1); without -z: as FILE", file, CUT,
	 OPTS_LEVEL, FIELD(compress), 1, 22, NULL, COMPLETE_NONE},
	{0, "max-size", "SIZE", "end, or begin another file, before FILE exceeds SIZE: 100M, 2G",
	 file, RECORD, OPTS_SIZE, FIELD(max_size), 1 << 20, UINT64_MAX, NULL, COMPLETE_NONE, RECORD,
	 false, true},
	{0, "rotate", "N",
	 "keep the last N files in addition to FILE, instead of ending at --max-size", file, RECORD,
	 OPTS_COUNT, FIELD(rotate), 1, 1000, NULL, COMPLETE_NONE},
	{0, "trigger", "EXPR",
	 "mark when EXPR happens, like wait>5ms or hung>100s; repeatable: kontend-trigger(7)",
	 incidents, SCREEN, OPTS_LIST, FIELD(triggers), 0, 0, NULL, COMPLETE_NONE},
	{0, "trigger", "EXPR",
	 "list when EXPR happened, like wait>5ms or hung>100s; repeatable: kontend-trigger(7)",
	 incidents, REPORT, OPTS_LIST, FIELD(triggers), 0, 0, NULL, COMPLETE_NONE},
	{0, "cooldown", "TIME", "pause a trigger for TIME after it fired (default: 1s)", incidents,
	 SCREEN | REPORT, OPTS_TIME, FIELD(cooldown_ns), MS, 86400 * SECOND, NULL, COMPLETE_NONE},
	{0, "trigger", "EXPR",
	 "write a file when EXPR happens, like wait>5ms or hung>100s; repeatable: "
	 "kontend-trigger(7)",
	 incidents, RECORD, OPTS_LIST, FIELD(triggers), 0, 0, NULL, COMPLETE_NONE, RECORD, false,
	 true},
	{0, "pre", "TIME", "include TIME before the cause began (default: 10s)", incidents, RECORD,
	 OPTS_TIME, FIELD(pre_ns), MS, 3600 * SECOND, NULL, COMPLETE_NONE, RECORD},
	{0, "post", "TIME", "include TIME after the last trigger fired (default: 2s)", incidents,
	 RECORD, OPTS_TIME, FIELD(post_ns), MS, 3600 * SECOND, NULL, COMPLETE_NONE, RECORD, false,
	 true},
	{0, "cooldown", "TIME", "pause a trigger for TIME after it fired (default: 1s)", incidents,
	 RECORD, OPTS_TIME, FIELD(cooldown_ns), MS, 86400 * SECOND, NULL, COMPLETE_NONE, RECORD,
	 false, true},
	{0, "max-files", "N", "keep the last N incident files (default: all)", incidents, RECORD,
	 OPTS_COUNT, FIELD(max_files), 1, 1000000, NULL, COMPLETE_NONE, RECORD, false, true},
	{0, "max-age", "TIME", "remove incident files older than TIME: 36h, 30d", incidents, RECORD,
	 OPTS_TIME, FIELD(max_age_ns), SECOND, 10 * YEAR, NULL, COMPLETE_NONE, RECORD, false, true},
	{0, "service", NULL,
	 "run under systemd: report the status, reload the configuration on SIGHUP", incidents,
	 RECORD, OPTS_FLAG, FIELD(service), 0, 0, NULL, COMPLETE_NONE},
	{0, "metrics", "[ADDR:]PORT",
	 "serve OpenMetrics at /metrics, and profiles for pprof (default address: 127.0.0.1)", file,
	 RECORD, OPTS_TEXT, FIELD(metrics), 0, 0, NULL, COMPLETE_NONE, RECORD},
	{'o', "output", "FILE", "write to FILE instead, and do not change the damaged one", file,
	 RECOVER, OPTS_TEXT, FIELD(output), 0, 0, NULL, COMPLETE_FILE},

	{'p', "pid", "LIST", "only waits of these processes, by pid or name", only,
	 PLAYS | DIFF | CUT, OPTS_TEXT, FIELD(pids), 0, 0, NULL, COMPLETE_NONE},
	{'t', "tid", "LIST", "only waits of these threads", only, PLAYS | DIFF | CUT, OPTS_TEXT,
	 FIELD(tids), 0, 0, NULL, COMPLETE_NONE},
	{'C', "cpu", "LIST", "only waits that began on these CPUs, like 0,2-5", only,
	 PLAYS | DIFF | CUT, OPTS_TEXT, FIELD(cpus), 0, 0, NULL, COMPLETE_NONE},
	{'G', "cgroup", "PATH", "only waits of tasks in this cgroup and those below it", only,
	 PLAYS | DIFF | MERGE | CUT, OPTS_TEXT, FIELD(cgroup), 0, 0, NULL, COMPLETE_NONE},
	{0, "lock", "NAME", "only waits for locks with NAME in their name or type", only,
	 ONCE | PLAYS | DIFF | MERGE | CUT, OPTS_TEXT, FIELD(lock), 0, 0, NULL, COMPLETE_NONE},
	{0, "caller", "NAME", "only waits in functions with NAME in their name", only,
	 ONCE | PLAYS | DIFF | MERGE | CUT, OPTS_TEXT, FIELD(caller), 0, 0, NULL, COMPLETE_NONE},
	{0, "stack", "NAME", "only waits with a function like NAME anywhere in the call chain",
	 only, ONCE | PLAYS | DIFF | MERGE | CUT, OPTS_TEXT, FIELD(stack), 0, 0, NULL,
	 COMPLETE_NONE},
	{0, "lengths", "FROM,TO", "only waits of FROM up to TO, as in a heat map: 1ms,8ms", only,
	 REPORT, OPTS_TEXT, FIELD(lengths), 0, 0, NULL, COMPLETE_NONE},
	{0, "min-wait", "TIME",
	 "only waits of TIME and more: 100us, 5ms; live, BPF sums up shorter ones", only,
	 REPORT | EXPORT, OPTS_TIME, FIELD(min_wait_ns), 1, YEAR, NULL, COMPLETE_NONE},
	{0, "min-wait", "TIME", "only waits of TIME and more: 100us, 5ms", only,
	 SCRIPT | PLAYS | DIFF | MERGE | CUT, OPTS_TIME, FIELD(min_wait_ns), 1, YEAR, NULL,
	 COMPLETE_NONE},
	{0, "min-wait", "TIME", "sum up shorter waits in BPF, without an event for each: 10us",
	 measure, LIVE | RECORD, OPTS_TIME, FIELD(min_wait_ns), 1, YEAR, NULL, COMPLETE_NONE,
	 LIVE | RECORD, true},
	{0, "max-overhead", "P",
	 "limit kontend to P percent of all CPUs by less detail (default: off)", measure,
	 MEASURE & ~SCRIPT, OPTS_TEXT, FIELD(max_overhead), 0, 0, "off", COMPLETE_NONE,
	 MEASURE & ~SCRIPT, true},

	{'o', "output", "NEW", "the recording to write, which must not exist", file, CUT, OPTS_TEXT,
	 FIELD(output), 0, 0, NULL, COMPLETE_FILE},
	{0, "time", "FROM,TO", "only this part of the whole: 1:23,+10s or 25%,50% or 14:30:05,",
	 table, CUT, OPTS_TEXT, FIELD(time), 0, 0, NULL, COMPLETE_NONE},
	{0, "filter", "TERMS", "only waits with TERMS: COLUMN:WORD, COLUMN~REGEX, !TERM, A | B",
	 only, CUT, OPTS_TEXT, FIELD(filter), 0, 0, NULL, COMPLETE_NONE},

	{0, "view", "VIEW", "view to begin with (default: overview)", table, SCREEN, OPTS_CHOICE,
	 FIELD(view), 0, 0, SCREEN_VIEWS_WORDS, COMPLETE_NONE, SCREEN},
	{0, "view", "VIEWS", "tables to print, separated by commas, or all", table, REPORT,
	 OPTS_TEXT, FIELD(view), 0, 0, REPORT_VIEW_WORDS, COMPLETE_NONE},
	{0, "time", "FROM,TO", "a range to begin with: 1:23,+10s or 14:30:05,14:31:00", table,
	 PLAYS, OPTS_TEXT, FIELD(time), 0, 0, NULL, COMPLETE_NONE},
	{0, "time", "FROM,TO", "only this part of the whole: 1:23,+10s or 25%,50% or 14:30:05,",
	 table, ONCE | WHY, OPTS_TEXT, FIELD(time), 0, 0, NULL, COMPLETE_NONE},
	{0, "time", "FROM,TO", "only this part of each: 1:23,+10s or 25%,50%", table, DIFF,
	 OPTS_TEXT, FIELD(time), 0, 0, NULL, COMPLETE_NONE},
	{0, "compare", "A,B",
	 "one recording: the 10 s up to B with those up to A; A,B,1m: a minute", table, DIFF,
	 OPTS_TEXT, FIELD(compare), 0, 0, NULL, COMPLETE_NONE},
	{0, "side", "TERMS", "one recording: waits with TERMS, and those of a second --side", table,
	 DIFF, OPTS_LIST, FIELD(sides), 0, 0, NULL, COMPLETE_NONE},
	{0, "by", "KEY", "rows of the locks table (default: lock)", table, SCREEN, OPTS_CHOICE,
	 FIELD(by), 0, 0, "lock caller task process type cpu cgroup stack owner syscall at",
	 COMPLETE_NONE, SCREEN},
	{0, "by", "KEY", "rows of locks (default: lock) or hot (default: symbol)", table, REPORT,
	 OPTS_CHOICE, FIELD(by), 0, 0,
	 "lock caller task process type cpu cgroup memcg stack owner syscall at symbol object "
	 "group state blame",
	 COMPLETE_NONE, REPORT},
	{0, "group", "WHICH", "samples in hot and flame: all, or only those in lock paths", table,
	 REPORT, OPTS_CHOICE, FIELD(group), 0, 0, "all locks", COMPLETE_NONE, REPORT},
	{0, "annotate", "SYMBOL", "the instructions of a function, with their samples", table,
	 REPORT, OPTS_TEXT, FIELD(annotate), 0, 0, NULL, COMPLETE_NONE},
	{0, "no-source", NULL, "instructions without source lines", table, REPORT, OPTS_FLAG,
	 FIELD(no_source), 0, 0, NULL, COMPLETE_NONE, REPORT},
	{0, "no-inline", NULL, "call paths without inlined functions", table,
	 SCREEN | REPORT | EXPORT, OPTS_FLAG, FIELD(no_inline), 0, 0, NULL, COMPLETE_NONE,
	 SCREEN | REPORT | EXPORT},
	{0, "debuginfod", NULL, "ask the servers of DEBUGINFOD_URLS for debug information", table,
	 SCREEN | REPORT | EXPORT, OPTS_FLAG, FIELD(debuginfod), 0, 0, NULL, COMPLETE_NONE,
	 SCREEN | REPORT | EXPORT},
	{0, "kallsyms", "FILE", "kernel symbols of a recording: a copy of its /proc/kallsyms",
	 table, ONCE | PLAYS, OPTS_TEXT, FIELD(kallsyms), 0, 0, NULL, COMPLETE_FILE},
	{0, "vmlinux", "FILE", "kernel symbols of a recording: the vmlinux of its kernel", table,
	 ONCE | PLAYS, OPTS_TEXT, FIELD(vmlinux), 0, 0, NULL, COMPLETE_FILE},
	{0, "symfs", "DIR", "look for the programs of a recording below this folder", table,
	 ONCE | PLAYS | DIFF | MERGE, OPTS_TEXT, FIELD(symfs), 0, 0, NULL, COMPLETE_FILE},
	{0, "trust-paths", NULL, "take programs of a recording by their paths, without proof",
	 table, ONCE | PLAYS | DIFF | MERGE, OPTS_FLAG, FIELD(trust_paths), 0, 0, NULL,
	 COMPLETE_NONE},
	{0, "no-symbol-cache", NULL, "read all symbols of programs, and keep none in ~/.cache",
	 table, SCREEN | REPORT | EXPORT | MERGE | RECORD, OPTS_FLAG, FIELD(no_symbol_cache), 0, 0,
	 NULL, COMPLETE_NONE},
	{0, "by", "KEY", "rows of the table (default: caller; with --compare: lock)", table, DIFF,
	 OPTS_CHOICE, FIELD(by), 0, 0,
	 "lock caller task process type cpu cgroup stack owner syscall at", COMPLETE_NONE},
	{0, "by", "KEY", "columns of the tables: host (default), kernel or service", table, MERGE,
	 OPTS_CHOICE, FIELD(by), 0, 0, "host kernel service", COMPLETE_NONE},
	{0, "tables", "LIST",
	 "only these: locks,callers,types,tasks,hot,slots,mmap,uprobes (default: all)", table,
	 MERGE, OPTS_TEXT, FIELD(tables), 0, 0, NULL, COMPLETE_NONE},
	{0, "tables", "LIST",
	 "compare these by name: locks,callers,types,tasks,hot,slots,mmap,uprobes", table, DIFF,
	 OPTS_TEXT, FIELD(tables), 0, 0, NULL, COMPLETE_NONE},
	{'n', "rows", "N", "at most N rows per table, 0 for all (default: 10 in text)", table,
	 MERGE, OPTS_COUNT, FIELD(rows), 0, 1000000, NULL, COMPLETE_NONE},
	{'s', "sort", "COLUMN", "order of the rows, by the column's report name or title", table,
	 SCREEN | REPORT | WHY | DIFF, OPTS_TEXT, FIELD(sort), 0, 0, NULL, COMPLETE_NONE,
	 SCREEN | REPORT},
	{0, "fields", "COLUMNS", "only these columns, in this order, like name,p99_ns,total_ns",
	 table, REPORT | WHY | DIFF, OPTS_TEXT, FIELD(fields), 0, 0, NULL, COMPLETE_NONE},
	{0, "reverse", NULL, "reverse the order", table, REPORT | WHY | DIFF, OPTS_FLAG,
	 FIELD(reverse), 0, 0, NULL, COMPLETE_NONE},
	{0, "filter", "TERMS",
	 "only rows with TERMS: WORD, COLUMN:WORD, COLUMN~REGEX, COLUMN>5ms, !TERM, A | B", table,
	 SCREEN | REPORT | WHY | DIFF, OPTS_TEXT, FIELD(filter), 0, 0, NULL, COMPLETE_NONE},
	{'n', "rows", "N", "at most N rows per table, 0 for all (default: 20 in text)", table,
	 REPORT | WHY | DIFF, OPTS_COUNT, FIELD(rows), 0, 1000000, NULL, COMPLETE_NONE,
	 REPORT | DIFF},
	{0, "format", "FORMAT", "text, csv or json (default: text)", table, REPORT | WHY | MERGE,
	 OPTS_CHOICE, FIELD(format), 0, 0, "text csv json", COMPLETE_NONE},
	{0, "format", "FORMAT", "text, csv, json, or of call chains flamegraph (SVG) or folded",
	 table, DIFF, OPTS_CHOICE, FIELD(format), 0, 0, "text csv json flamegraph folded",
	 COMPLETE_NONE},
	{0, "format", "FORMAT", "svg, text or ansi (default: by the end of FILE's name, else text)",
	 picture, SHOT, OPTS_CHOICE, FIELD(format), 0, 0, "svg text ansi", COMPLETE_NONE},
	{0, "format", "FORMAT", "text or json (default: text)", table,
	 DOCTOR | INCIDENTS | BENCH | STORY, OPTS_CHOICE, FIELD(format), 0, 0, "text json",
	 COMPLETE_NONE},
	{0, "format", "FORMAT", "text, or json for lines of JSON (default: text)", table, SCRIPT,
	 OPTS_CHOICE, FIELD(format), 0, 0, "text json", COMPLETE_NONE},
	{0, "format", "FORMAT", EXPORT_FORMAT_HELP " (default: folded)", table, EXPORT, OPTS_CHOICE,
	 FIELD(format), 0, 0, EXPORT_FORMAT_WORDS, COMPLETE_NONE},
	{0, "bucket", "TIME", "in ndjson, one set of rows per TIME: 10s, 1m (default: one in all)",
	 table, EXPORT, OPTS_TIME, FIELD(bucket_ns), SECOND / 10, 86400 * SECOND, NULL,
	 COMPLETE_NONE},
	{0, "tables", "LIST", "in ndjson, only these tables, like locks,callers,types", table,
	 EXPORT, OPTS_TEXT, FIELD(tables), 0, 0, NULL, COMPLETE_NONE},
	{'z', "compress", "LEVEL", "in ndjson, compress with zstd at LEVEL, 1 to 22 (default: 1)",
	 table, EXPORT, OPTS_LEVEL, FIELD(compress), 1, 22, NULL, COMPLETE_NONE},
	{0, "weight", "WHAT", "weight of call chains: samples of -F, wait for locks, or blame",
	 table, EXPORT, OPTS_CHOICE, FIELD(weight), 0, 0, "samples wait blame", COMPLETE_NONE},
	{0, "weight", "WHAT",
	 "call chains by wait for locks (default) or samples of -F; in json, too", table, DIFF,
	 OPTS_CHOICE, FIELD(weight), 0, 0, "wait samples", COMPLETE_NONE},
	{0, "zoom", "KEY=VALUE",
	 "only this pid, tid, comm, object, group or cpu; may be given again", table, EXPORT,
	 OPTS_LIST, FIELD(zooms), 0, 0, NULL, COMPLETE_NONE},
	{0, "weight", "WHAT", "in flame, samples (default, if there are any), wait or blame", table,
	 REPORT, OPTS_CHOICE, FIELD(weight), 0, 0, "samples wait blame", COMPLETE_NONE},
	{0, "zoom", "KEY=VALUE",
	 "in hot and flame, only this pid, tid, comm, object, group or cpu; may be given again",
	 table, REPORT, OPTS_LIST, FIELD(zooms), 0, 0, NULL, COMPLETE_NONE},
	{0, "mark-kernel", NULL, "in folded, _[k] after the names of the kernel's functions", table,
	 EXPORT, OPTS_FLAG, FIELD(mark_kernel), 0, 0, NULL, COMPLETE_NONE},
	{'n', "rows", "N",
	 "in openmetrics, the N callers with the longest waits (default: 20; 0: all)", table,
	 EXPORT, OPTS_COUNT, FIELD(rows), 0, 1000000, NULL, COMPLETE_NONE},
	{0, "interval", "TIME", "write openmetrics to FILE every TIME, until stopped: 15s, 1m",
	 table, EXPORT, OPTS_TIME, FIELD(interval_ns), SECOND, 86400 * SECOND, NULL, COMPLETE_NONE},
	{0, "memory", "SIZE",
	 "memory for tables (default: 128M, of a live screen 32M; for recordings, a quarter of all "
	 "memory)",
	 table, SCREEN | REPORT | EXPORT | DIFF | MERGE, OPTS_SIZE, FIELD(memory), 1 << 20,
	 UINT64_MAX, NULL, COMPLETE_NONE, SCREEN | REPORT | EXPORT | DIFF | MERGE},
	{0, "memory", "SIZE", "memory for the time before incidents, and for tables (default: 64M)",
	 incidents, RECORD, OPTS_SIZE, FIELD(memory), 1 << 20, UINT64_MAX, NULL, COMPLETE_NONE,
	 RECORD},
	{0, "verdict", "RULES", "limits of the verdict, like wait=5/50,longest=100ms/1s,slots=off",
	 table, SCREEN | REPORT, OPTS_TEXT, FIELD(verdict), 0, 0, NULL, COMPLETE_NONE,
	 SCREEN | REPORT},
	{'j', "json", NULL, "the same as --format json", table,
	 REPORT | WHY | SCRIPT | DIFF | MERGE | DOCTOR | INCIDENTS | BENCH | STORY, OPTS_PRESET,
	 FIELD(format), 0, 0, "json", COMPLETE_NONE},
	{'x', "separator", "SEP", "one character between CSV fields, or \\t (default: a comma)",
	 table, REPORT | WHY | DIFF | MERGE, OPTS_TEXT, FIELD(separator), 0, 0, NULL,
	 COMPLETE_NONE},
	{'o', "output", "FILE", "write to FILE, which appears only when it is complete", table,
	 ONCE | WHY | DIFF | MERGE | DOCTOR, OPTS_TEXT, FIELD(output), 0, 0, NULL, COMPLETE_FILE},

	{0, "percent-limit", "P", "in call trees, first open entries of P percent or more", table,
	 SCREEN, OPTS_PERCENT, FIELD(percent_limit), 0, 0, NULL, COMPLETE_NONE, SCREEN},
	{0, "percent-limit", "P", "only rows of P percent or more, in hot, flame and tree", table,
	 REPORT, OPTS_PERCENT, FIELD(percent_limit), 0, 0, NULL, COMPLETE_NONE},

	{0, "color", "WHEN", "auto, always or never; auto heeds NO_COLOR (default: auto)", terminal,
	 TERMINAL & ~SHOT, OPTS_CHOICE, FIELD(color), 0, 0, "auto always never", COMPLETE_NONE,
	 TERMINAL & ~SHOT},
	{0, "theme", "NAME", "colours: default, light, mono, or cvd for the colour blind", terminal,
	 TERMINAL, OPTS_CHOICE, FIELD(theme), 0, 0, "default light mono cvd", COMPLETE_NONE,
	 TERMINAL},
	{0, "ascii", NULL, "draw with ASCII characters only", terminal, TERMINAL, OPTS_FLAG,
	 FIELD(ascii), 0, 0, NULL, COMPLETE_NONE, TERMINAL},
	{0, "no-mouse", NULL, "leave the mouse to the terminal", terminal, TERMINAL & ~SHOT,
	 OPTS_FLAG, FIELD(no_mouse), 0, 0, NULL, COMPLETE_NONE, TERMINAL & ~SHOT},

	{0, "kinds", "LIST", "mmap,inode,pipe,dir,futex,chain: locks to contend for (default: all)",
	 workload, DEMO, OPTS_TEXT, FIELD(kinds), 0, 0, "mmap inode pipe dir futex chain all",
	 COMPLETE_NONE},
	{0, "threads", "N", "threads for each kind, 1 to 64 (default: 4)", workload, DEMO,
	 OPTS_COUNT, FIELD(threads), 1, 64, NULL, COMPLETE_NONE},

	{0, "config", "FILE", "read this configuration: see kontend-config(5)", general,
	 SHOWS | MERGE | RECORD | DOCTOR | TOUR | STORY, OPTS_TEXT, FIELD(config), 0, 0, NULL,
	 COMPLETE_FILE},
	{0, "no-config", NULL, "read no configuration", general,
	 SHOWS | MERGE | RECORD | DOCTOR | TOUR | STORY, OPTS_FLAG, FIELD(no_config), 0, 0, NULL,
	 COMPLETE_NONE},
	{'v', "verbose", NULL, "print progress to standard error", general,
	 MEASURE | DIFF | MERGE | DEMO, OPTS_FLAG, FIELD(verbose), 0, 0, NULL, COMPLETE_NONE},
	{0, "features", NULL, "list built-in features and libraries", general, VERSION, OPTS_FLAG,
	 FIELD(features), 0, 0, NULL, COMPLETE_NONE},
	{0, "repair", NULL, "undo changes that a killed kontend left", general, DOCTOR, OPTS_FLAG,
	 FIELD(repair), 0, 0, NULL, COMPLETE_NONE},
	{'v', "verbose", NULL, "print the result of successful checks, too", general, DOCTOR,
	 OPTS_FLAG, FIELD(verbose), 0, 0, NULL, COMPLETE_NONE},
	{'q', "quiet", NULL, "print errors only", general,
	 MEASURE | WHY | PLAYS | CUT | RECOVER | INCIDENTS | DIFF | MERGE | DEMO | BENCH | STORY,
	 OPTS_FLAG, FIELD(quiet), 0, 0, NULL, COMPLETE_NONE},
	{'h', "help", NULL, "print this help", general, ALL, OPTS_FLAG, FIELD(help), 0, 0, NULL,
	 COMPLETE_NONE},
	{0},
};

_Static_assert(sizeof(opts_table) / sizeof(opts_table[0]) <= OPTS_ROWS, "opts.said is too short");

const struct opts_verb_info *opts_verb_info(enum opts_verb v)
{
	return &verb_table[v];
}

enum opts_verb opts_verb_find(const char *name)
{
	unsigned v = 0;

	for (; v < VERBS; v++) {
		const struct opts_verb_info *i = &verb_table[v];

		if (strcmp(i->name, name) == 0 || (i->alias && strcmp(i->alias, name) == 0))
			break;
	}
	return (enum opts_verb)v;
}

const struct opts_info *opts_find(enum opts_verb verb, const char *name, size_t len)
{
	for (const struct opts_info *o = opts_table; o->name; o++)
		if (o->verbs & 1u << verb && strlen(o->name) == len &&
		    memcmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

const struct opts_info *opts_find_short(enum opts_verb verb, char short_name)
{
	for (const struct opts_info *o = opts_table; o->name; o++)
		if (o->verbs & 1u << verb && short_name && o->short_name == short_name)
			return o;
	return NULL;
}

bool opts_has_word(const char *words, const char *word, size_t len)
{
	for (size_t n; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == len && memcmp(words, word, len) == 0)
			return true;
	}
	return false;
}
