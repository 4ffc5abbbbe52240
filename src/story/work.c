// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload of a story. It is a process of its own, in a group of its own, since a benchmark
 * binds threads and renames its process, and so that this one, the guard, can end all of it: the
 * guard adopts processes that the workload leaves, kills them, and removes cgroups, whichever way
 * the workload ended, and when a signal asks the guard itself to end.
 */
#include "work.h"
#include "kontend/bench.h"
#include "kontend/clock.h"
#include "kontend/ending.h"
#include "kontend/mem.h"
#include "kontend/output.h"
#include "kontend/story-figures.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A round: the process that does it, and the file in memory where its answer is. */
struct round {
	pid_t pid;
	FILE *answer;
};

/* The begin of its answer: an error, or code 0; the figures follow. */
struct head {
	int code;
	struct error err;
};

static int run(const struct story *s, struct bench_figures *f, struct error *err)
{
	int code = s->bench ? bench_line(s->bench, f, err) : s->work(f, err);

	return code == 0 && f->code < 0 ? error_enomem(err, "the figures") : code;
}

static _Noreturn void work(const struct story *s, FILE *answer, const sigset_t *signals)
{
	struct bench_figures f = {0};
	struct head h = {0};

	char name[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	/* Locks of the process are called by its name. */
	snprintf(name, sizeof(name), "story-%s", s->name);
	prctl(PR_SET_NAME, name);
	sigprocmask(SIG_SETMASK, signals, NULL);
	h.code = run(s, &f, &h.err);
	bool wrote = fwrite(&h, sizeof(h), 1, answer) == 1;
	story_figures_write(answer, s, &f);
	wrote = fflush(answer) == 0 && wrote;
	bench_figures_deinit(&f);
	_exit(!wrote);
}

static int begin(struct round *r, const struct story *s, const sigset_t *signals)
{
	int fd = memfd_create("story", MFD_CLOEXEC);

	*r = (struct round){0};
	r->answer = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!r->answer) {
		int code = -errno;
		if (fd >= 0)
			close(fd);
		return code;
	}
	fflush(NULL);
	r->pid = fork();
	if (r->pid == 0)
		work(s, r->answer, signals);
	return r->pid < 0 ? -errno : 0;
}

/* All children that have ended; true: @pid is one of them. */
static bool reap(pid_t pid)
{
	bool is_there = false;

	for (pid_t one; (one = waitpid(-1, NULL, WNOHANG)) > 0;)
		is_there |= one == pid;
	return is_there;
}

/* The signal that asks us to end, or 0: it has ended by itself. */
static int wait_for(pid_t pid, const sigset_t *set)
{
	while (!reap(pid)) {
		int sig = sigwaitinfo(set, NULL);
		if (sig > 0 && sig != SIGCHLD)
			return sig;
	}
	return 0;
}

/* Whatever is left of it, and what that leaves. */
static void end(struct round *r, const struct story *s)
{
	if (r->pid > 0)
		kill(-r->pid, SIGKILL);
	if (r->pid > 0)
		kill(r->pid, SIGKILL); /* it may not lead its group yet */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	if (s->clean_up)
		s->clean_up(getpid());
	if (r->answer)
		fclose(r->answer);
}

/* A file in memory, which another process gave us open, cannot be exchanged for a new one. */
static bool is_inherited(const char *path)
{
	static const char inherited[] = "/proc/self/fd/";

	return path && strncmp(path, inherited, sizeof(inherited) - 1) == 0;
}

static int put(const char *path, FILE *standard, const char *text, size_t n, struct error *err)
{
	struct output o;

	if (is_inherited(path)) {
		int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		bool is_whole = fd >= 0 && write(fd, text, n) == (ssize_t)n;
		int code = is_whole ? 0 : -errno;
		if (fd >= 0)
			close(fd);
		return code < 0 ? error_errno(err, code, "Cannot write the figures") : 0;
	}
	if (output_open(&o, path, standard, err) < 0)
		return err->code;
	int code = fwrite(text, 1, n, o.file) == n && fflush(o.file) == 0 ? 0 : -errno;
	if (code < 0)
		output_failed(&o, code, err);
	else if (path)
		code = output_commit(&o, err);
	output_close(&o);
	return code;
}

/* For the process that gave us the file: ours may have no terminal. */
static void put_reason(const char *path, const struct error *why)
{
	char line[sizeof(why->text) + 4];
	int n = snprintf(line, sizeof(line), "# %s\n", why->text);

	if (is_inherited(path) && n > 0)
		(void)put(path, NULL, line, (size_t)n, NULL);
}

static int take_answer(struct round *r, const char *path, FILE *standard, struct error *err)
{
	struct head h;
	int code = -ENOMEM;

	rewind(r->answer);
	if (fread(&h, sizeof(h), 1, r->answer) != 1)
		return error_set(err, -ECHILD, "The workload has ended without an answer");
	if (h.code < 0)
		return error_set(err, h.code, "%s", h.err.text);
	off_t from = ftello(r->answer);
	fseeko(r->answer, 0, SEEK_END);
	size_t n = (size_t)(ftello(r->answer) - from);
	char *text = mem_calloc(n + 1, 1);
	fseeko(r->answer, from, SEEK_SET);
	if (text && fread(text, 1, n, r->answer) == n)
		code = put(path, standard, text, n, err);
	else
		error_enomem(err, "the figures");
	mem_free(text);
	return code;
}

static int run_round(const struct story *s, const char *path, FILE *standard, const sigset_t *set,
		     const sigset_t *before, struct error *err)
{
	struct round r;
	int code = begin(&r, s, before), sig = 0;

	if (code < 0)
		error_errno(err, code, "Cannot start the workload");
	else
		sig = wait_for(r.pid, set);
	if (code == 0 && !sig)
		code = take_answer(&r, path, standard, err);
	end(&r, s);
	return sig ? sig : code;
}

int story_work(const struct story *s, const char *path, FILE *standard, uint64_t duration_ns,
	       struct error *err)
{
	uint64_t until = clock_now_ns() + duration_ns;
	sigset_t set, before;
	int r;

	ending_signals(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	do
		r = run_round(s, path, standard, &set, &before, err);
	while (r == 0 && clock_now_ns() < until);
	if (r < 0)
		put_reason(path, err);
	prctl(PR_SET_PDEATHSIG, 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
