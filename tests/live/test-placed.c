// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes that kontend places itself (--probe) in a program that reads commands
 * (workloads/up-work.c): they are listed as kontend's, their hits are exact, in the requested
 * processes or in all, a recording has the same, and they are removed when kontend ends. After
 * kontend was killed, too: then the program's memory has its first content again.
 *
 *     test-placed KONTEND UP-WORK [short]
 *
 * short: without recordings that are replayed, for machines that are slow.
 */
#include "kontend/binary.h"
#include "kontend/snapshot-uprobes.h"
#include "live.h"
#include "up-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 2100 };

struct test {
	const char *kontend, *program;
	struct snapshot_uprobes *look;
	struct upsnap snap;
	struct up_work work;
	uint64_t offset; /* of up_push */
	char place[PATH_MAX + 32], back[PATH_MAX + 32], pid[16], file[64];
	uint8_t code; /* first byte of its code */
	const char *calls;
	int failures;
};

#define CHECK(t, good, ...) live_check(&(t)->failures, good, __VA_ARGS__)

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static void find_place(struct test *t)
{
	struct error err = {0};
	struct binary *b;

	if (binary_open(&b, t->program, &err) < 0 ||
	    binary_locate(b, t->program, "up_push", 0, &t->offset, &err) < 0) {
		printf("FAIL %s\n", err.text);
		exit(1);
	}
	if (binary_read(b, t->offset, &t->code, 1) != 1)
		exit(1);
	binary_close(b);
}

/* The byte at up_push in the program's memory now. */
static uint8_t read_code(const struct test *t)
{
	char path[64], line[PATH_MAX + 128];
	uint64_t from, to, offset, at = 0;
	uint8_t code = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->work.pid);
	FILE *f = fopen(path, "re");
	while (f && !at && fgets(line, sizeof(line), f))
		if (strstr(line, t->program) &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to, &offset) ==
			    3 &&
		    t->offset >= offset && t->offset - offset < to - from)
			at = from + t->offset - offset;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/mem", t->work.pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !at || pread(fd, &code, 1, (off_t)at) != 1) {
		printf("FAIL cannot read the memory of %s\n", t->program);
		exit(1);
	}
	close(fd);
	return code;
}

/* The probe that process @owner has placed, or NULL. */
static const struct upsnap_probe *find_probe(struct test *t, pid_t owner, bool back)
{
	struct error err = {0};

	if (snapshot_uprobes_take(t->look, &t->snap, &err) < 0) {
		printf("FAIL %s\n", err.text);
		exit(1);
	}
	for (size_t i = 0; i < t->snap.n_probes; i++) {
		const struct upsnap_probe *p = &t->snap.probes[i];
		if (p->owner_pid == owner && p->offset == t->offset &&
		    !(p->flags & UPSNAP_RETURN) == !back)
			return p;
	}
	return NULL;
}

/* Is a probe of a process that has ended still there? The kernel may close its files later. */
static bool is_left(struct test *t, pid_t owner)
{
	for (int i = 0; i < 2000; i++) {
		if (!find_probe(t, owner, false) && !find_probe(t, owner, true) &&
		    read_code(t) == t->code)
			return false;
		nap();
	}
	return true;
}

/* Until it is there, or kontend has ended. */
static const struct upsnap_probe *wait_for(struct test *t, pid_t owner, bool back)
{
	const struct upsnap_probe *p;

	while (!(p = find_probe(t, owner, back)) && !live_has_ended(owner))
		nap();
	return p;
}

static void calls(struct test *t, const char *text)
{
	char line[256];

	up_work_tell(&t->work, text);
	while (!up_work_line(&t->work, line, sizeof(line)))
		if (live_has_ended(t->work.pid))
			exit(1);
}

static void start(struct test *t, struct live_run *run, const char *option, const char *value)
{
	const char *const argv[] = {t->kontend,
				    "record",
				    "-q",
				    "-o",
				    t->file,
				    "--probe",
				    t->place,
				    option ? option : "-q",
				    option ? value : NULL,
				    NULL};

	live_run_start(run, argv);
}

static void killed(struct test *t)
{
	const char *const argv[] = {t->kontend, "record",  "-q",     "-o",	t->file, "-p",
				    t->pid,	"--probe", t->place, "--probe", t->back, NULL};
	struct live_run run;

	live_run_start(&run, argv);
	const struct upsnap_probe *p = wait_for(t, run.pid, true);
	if (CHECK(t, p != NULL, "the return probe is not there")) {
		CHECK(t, read_code(t) != t->code, "there is no probe in the program");
		calls(t, t->calls);
		p = find_probe(t, run.pid, true);
		CHECK(t, p && p->hits == CALLS, "%llu returns",
		      p ? (unsigned long long)p->hits : 0);
		p = find_probe(t, run.pid, false);
		CHECK(t, p && p->hits == CALLS, "%llu hits", p ? (unsigned long long)p->hits : 0);
		CHECK(t, p && !strcmp(upsnap_text(&t->snap, p->owner_comm), "kontend"),
		      "not of kontend");
		CHECK(t, p && p->filter_pid == t->work.pid, "not in the process that was meant");
	}
	kill(run.pid, SIGKILL);
	live_run_end(&run);
	CHECK(t, live_run_code(&run) == 128 + SIGKILL, "kontend ended by itself");
	CHECK(t, !is_left(t, run.pid), "there is a probe left");
	CHECK(t, read_code(t) == t->code, "the program is not what it was");
	live_run_deinit(&run);
	unlink(t->file);
}

/* Row of the report on the recording that is our probe. */
static const struct json *find_row(const struct test *t, const struct json *rows)
{
	for (size_t i = 0; i < json_len(rows); i++) {
		const struct json *r = json_at(rows, i);
		if (!strncmp(json_text(json_get(r, "owner")), "kontend/", 8) &&
		    !strcmp(json_text(json_get(r, "binary")), t->program))
			return r;
	}
	return NULL;
}

static void check_report(struct test *t)
{
	const char *const argv[] = {t->kontend, "report", "-j",	     "-i",
				    t->file,	"--view", "uprobes", NULL};
	struct live_run run;
	struct json_doc doc;

	live_run_start(&run, argv);
	live_run_end(&run);
	live_run_json(&run, &doc);
	const struct json *row = find_row(t, json_path(json_root(&doc), "views.uprobes.rows"));
	CHECK(t, row != NULL, "the recording has no probe of kontend");
	CHECK(t, json_u64(json_get(row, "hits")) == CALLS, "the recording has %llu hits",
	      (unsigned long long)json_u64(json_get(row, "hits")));
	CHECK(t, !strcmp(json_text(json_get(row, "symbol")), "up_push"), "of %s",
	      json_text(json_get(row, "symbol")));
	json_deinit(&doc);
	live_run_deinit(&run);
}

/* Both probes of kontend in the recording, with the hits of one process alone. */
static void check_alone(struct test *t)
{
	const char *const argv[] = {t->kontend, "report", "-j",	     "-i",
				    t->file,	"--view", "uprobes", NULL};
	struct live_run run;
	struct json_doc doc;
	int found = 0;

	live_run_start(&run, argv);
	live_run_end(&run);
	live_run_json(&run, &doc);
	const struct json *rows = json_path(json_root(&doc), "views.uprobes.rows");
	for (size_t i = 0; i < json_len(rows); i++) {
		const struct json *r = json_at(rows, i);
		if (strncmp(json_text(json_get(r, "owner")), "kontend/", 8) != 0)
			continue;
		found++;
		CHECK(t, json_u64(json_get(r, "hits")) == CALLS, "beside others: %llu hits",
		      (unsigned long long)json_u64(json_get(r, "hits")));
	}
	CHECK(t, found == 2, "beside others: %d probes of kontend", found);
	json_deinit(&doc);
	live_run_deinit(&run);
}

/*
 * Another process counts a third one at the same place, so that the kernel's count of our probe is
 * of both: our hits are those of the requested process, and a view of the kernel's count marks it.
 */
static void bpf_thread_others(struct test *t)
{
	const char *const argv[] = {t->kontend, "record",  "-q",     "-o",	t->file, "-p",
				    t->pid,	"--probe", t->place, "--probe", t->back, NULL};
	struct up_work other = {0};
	struct live_run run;
	char line[256];

	if (!CHECK(t, up_work_start(&other, t->program) == 0, "no other process"))
		return;
	while (!up_work_line(&other, line, sizeof(line)))
		nap();
	int enter = up_probe_perf(t->program, t->offset, false, other.pid);
	int leave = up_probe_perf(t->program, t->offset, true, other.pid);
	CHECK(t, enter >= 0 && leave >= 0, "no probes in the other process");
	live_run_start(&run, argv);
	CHECK(t, wait_for(t, run.pid, true) != NULL, "beside others: no probe");
	while (access(t->file, F_OK) < 0 && !live_has_ended(run.pid))
		nap();
	calls(t, t->calls);
	up_work_tell(&other, t->calls);
	while (!up_work_line(&other, line, sizeof(line)))
		nap();
	const struct upsnap_probe *p = find_probe(t, run.pid, false);
	CHECK(t, p && p->hits > CALLS && p->flags & UPSNAP_SHARED,
	      "the kernel's count is %llu, flags %x", p ? (unsigned long long)p->hits : 0,
	      p ? p->flags : 0);
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	kill(run.pid, SIGINT);
	live_run_end(&run);
	if (CHECK(t, live_run_code(&run) == 0, "beside others: %d", live_run_code(&run)))
		check_alone(t);
	live_run_deinit(&run);
	close(enter);
	close(leave);
	up_work_stop(&other);
	unlink(t->file);
}

/* Recorded until a signal; @seen: others can see the probe meanwhile. */
static void recorded(struct test *t, const char *what, const char *option, const char *value,
		     bool seen)
{
	struct live_run run;

	start(t, &run, option, value);
	if (seen)
		CHECK(t, wait_for(t, run.pid, false) != NULL, "%s: no probe", what);
	while (access(t->file, F_OK) < 0 && !live_has_ended(run.pid))
		nap();
	calls(t, t->calls);
	/* A look that is just over is not taken again for so short a time. */
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	kill(run.pid, SIGINT);
	live_run_end(&run);
	if (CHECK(t, live_run_code(&run) == 0, "%s: exit status %d", what, live_run_code(&run)))
		check_report(t);
	CHECK(t, !is_left(t, run.pid), "%s: there is a probe left", what);
	live_run_deinit(&run);
	unlink(t->file);
	printf("%s: done\n", what);
}

static void record_all(struct test *t)
{
	recorded(t, "in one process", "-p", t->pid, true);
	recorded(t, "in all processes", NULL, NULL, true);
	recorded(t, "without BPF", "--no-bpf", NULL, true);
}

int main(int argc, char **argv)
{
	static char program[PATH_MAX];
	struct test t = {.kontend = argc > 2 ? argv[1] : "",
			 .program = argc > 2 && realpath(argv[2], program) ? program : ""};
	struct snapshot_uprobes_options o = {.counts_own = true};
	struct error err = {0};
	struct utsname u = {0};
	char line[256];

	live_need_root();
	if (snapshot_uprobes_new(&t.look, &o, &err) < 0 || !snapshot_uprobes_reads_hits(t.look)) {
		printf("skipped: hits are read by BPF: %s\n", err.text);
		return LIVE_SKIP;
	}
	if (up_work_start(&t.work, t.program) < 0)
		return 1;
	while (!up_work_line(&t.work, line, sizeof(line)))
		;
	find_place(&t);
	/* Before Linux 6.12 only what one CPU counts is counted right. */
	t.calls = uname(&u) == 0 && uprobe_kernel_of(u.release).simulates_nops
			  ? "run up_push 3 700"
			  : "run up_push 1 2100";
	snprintf(t.place, sizeof(t.place), "%s:up_push", t.program);
	snprintf(t.back, sizeof(t.back), "%s:up_push%%return", t.program);
	snprintf(t.pid, sizeof(t.pid), "%d", t.work.pid);
	snprintf(t.file, sizeof(t.file), "/tmp/kontend-placed-%d", getpid());
	killed(&t);
	if (argc == 3)
		record_all(&t);
	if (argc == 3)
		bpf_thread_others(&t);
	up_work_stop(&t.work);
	snapshot_uprobes_free(t.look);
	upsnap_deinit(&t.snap);
	return t.failures != 0;
}
