// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of each lock when a wait for it began (--owner), with certain waits: threads that wait
 * for the mutex of a pipe and the rwsem of a directory, whose holder sleeps until all of them wait.
 * In a recording of all CPUs, and live for this process alone, whose events are opened per task
 * while owners are reported per CPU.
 *
 *     test-live-owner KONTEND
 */
#include "kontend/waitfeed.h"
#include "live.h"
#include "workloads/gate.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 6, GATES = 4 };

static int failures, next_gate;
static struct gate gate;

static void *thread_main(void *arg)
{
	int index = (int)(intptr_t)arg;

	gate_join(&gate, index);
	for (int nth = 0; nth < 2 * GATES; nth++)
		gate_pass(&gate, index, nth);
	return NULL;
}

/* Half of them are pipes, half directories: THREADS waits at each. */
static void open_gates(void)
{
	for (int i = 0; i < GATES; i++, next_gate++)
		live_check(&failures, gate_open(&gate, next_gate) == 0, "gate %d does not open",
			   next_gate);
}

/* A machine that sleeps may lose some records unseen: half of the waits are surely there. */
static void check_row(const struct json *rows, const char *certainty, const char *type)
{
	const uint64_t least = GATES / 2 * THREADS / 2;

	for (size_t i = 0; i < json_len(rows); i++) {
		const struct json *row = json_at(rows, i);
		if (json_u64(json_get(row, "owner_tid")) != (uint64_t)gate.holder ||
		    strcmp(json_text(json_get(row, "owner_certainty")), certainty) != 0)
			continue;
		uint64_t n = json_u64(json_get(row, "contended"));
		printf("%s: %" PRIu64 " waits, longest %" PRIu64 " us\n", certainty, n,
		       json_u64(json_get(row, "max_ns")) / 1000);
		live_check(&failures, n >= least, "%" PRIu64 " waits for the %s of the holder", n,
			   type);
		live_check(&failures, json_u64(json_get(row, "owner_pid")) == (uint64_t)getpid(),
			   "the holder is reported as a task of another process");
		return;
	}
	live_check(&failures, false, "no row of the holder %d, %s", gate.holder, certainty);
}

static bool is_ours(uint64_t tid)
{
	for (int i = 0; i < THREADS; i++)
		if ((uint64_t)gate.threads[i].tid == tid)
			return true;
	return false;
}

/*
 * On PREEMPT_RT the first writer has the directory's rt-mutex and waits for the reader, which the
 * kernel does not remember; the others wait for the first.
 */
static void check_rt_directory(const struct json *rows)
{
	const uint64_t least = GATES / 2 * (THREADS - 1) / 2;
	uint64_t n = 0;

	for (size_t i = 0; i < json_len(rows); i++) {
		const struct json *row = json_at(rows, i);
		bool sure = strcmp(json_text(json_get(row, "owner_certainty")), "sure") == 0;
		live_check(&failures, strcmp(json_text(json_get(row, "owner_certainty")), "hint"),
			   "a hint, where an rt-mutex has one owner");
		if (sure && is_ours(json_u64(json_get(row, "owner_tid"))))
			n += json_u64(json_get(row, "contended"));
	}
	printf("of each other: %" PRIu64 " waits\n", n);
	live_check(&failures, n >= least, "%" PRIu64 " waits for who writes", n);
}

static void check_json(struct live_run *run)
{
	struct json_doc doc;

	live_run_json(run, &doc);
	const struct json *rows = json_path(json_root(&doc), "views.locks.rows");
	check_row(rows, "sure", "mutex");
	if (live_is_rt())
		check_rt_directory(rows);
	else
		check_row(rows, "hint", "directory");
	json_deinit(&doc);
}

/* Measures while the gates are opened. */
static void run_beside(struct live_run *run, const char *const *argv)
{
	live_run_start(run, argv);
	if (live_check(&failures, live_run_says(run, "rings of"), "%s does not measure", argv[1]))
		open_gates();
	kill(run->pid, SIGINT);
	live_run_end(run);
	live_check(&failures, live_run_code(run) == 0, "%s: exit %d", argv[1], live_run_code(run));
}

static void check_recording(const char *kontend, const char *file)
{
	const char *const record[] = {kontend, "record", "-v", "--owner", "-o", file, NULL};
	const char *const report[] = {kontend,	"report", "-i",	      file,   "--by", "owner",
				      "--view", "locks",  "--format", "json", NULL};
	struct live_run run;

	run_beside(&run, record);
	live_run_deinit(&run);
	live_run_start(&run, report);
	live_run_end(&run);
	check_json(&run);
	live_run_deinit(&run);
}

static void check_process(const char *kontend)
{
	char pid[16];
	const char *const report[] = {kontend, "report", "-v",	  "--by",     "owner", "-p",
				      pid,     "--view", "locks", "--format", "json",  NULL};
	struct live_run run;

	snprintf(pid, sizeof(pid), "%d", getpid());
	run_beside(&run, report);
	check_json(&run);
	live_run_deinit(&run);
}

/* Can this kernel and user do it at all? */
static bool works(void)
{
	const struct waitfeed_options o = {.owners = true};
	struct waitfeed *f = NULL;
	struct error err = {0};

	bool good = waitfeed_new(&f, &o, NULL, &err) == 0;
	if (!good)
		printf("%s\n", err.text);
	waitfeed_free(f);
	return good;
}

static int check_all(const char *kontend, const char *folder)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pthread_t t[THREADS];
	char file[128];

	int r = gate_init(&gate, THREADS, dir);
	if (!live_check(&failures, r == 0, "no holder that sleeps: %s", strerror(-r)))
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread_main, (void *)(intptr_t)i);
	snprintf(file, sizeof(file), "%s/data", folder);
	check_recording(kontend, file);
	check_process(kontend);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	unlink(file);
	unlinkat(dir, "gate", AT_REMOVEDIR);
	close(dir);
	return failures != 0;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/kontend-owner-XXXXXX";

	live_need_root();
	if (argc != 2 || !works())
		return argc != 2 ? 1 : LIVE_SKIP;
	if (!mkdtemp(folder))
		return 1;
	int status = check_all(argv[1], folder);
	rmdir(folder);
	return status;
}
