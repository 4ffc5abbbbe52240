// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by the live tests: programs that run beside the test with their output in a memory file
 * (a pipe would have to be drained), and checks that continue after a failure, so that one run
 * prints all figures. Nothing remains: children die with the test, memory files have no name.
 */
#include "live.h"

#include "kontend/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what, const char *name)
{
	fprintf(stderr, "%s: %s: %s\n", name, what, strerror(errno));
	exit(1);
}

void live_run_start(struct live_run *r, const char *const *argv)
{
	*r = (struct live_run){.name = argv[0]};
	r->out = memfd_create("out", MFD_CLOEXEC);
	r->err = memfd_create("err", MFD_CLOEXEC);
	if (r->out < 0 || r->err < 0)
		die("memfd_create", argv[0]);
	fflush(stdout);
	r->pid = fork();
	if (r->pid < 0)
		die("fork", argv[0]);
	if (r->pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(r->out, STDOUT_FILENO);
	dup2(r->err, STDERR_FILENO);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static bool file_has(int fd, const char *text)
{
	char buf[4096];
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	return n > 0 && memmem(buf, (size_t)n, text, strlen(text));
}

bool live_run_says(const struct live_run *r, const char *text)
{
	for (;;) {
		if (file_has(r->err, text) || file_has(r->out, text))
			return true;
		if (live_has_ended(r->pid))
			return false;
		usleep(1000);
	}
}

/* To ours, all at once. */
static void pass_on(int fd)
{
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stderr);
	close(fd);
}

/* Leaves it to be waited for. */
bool live_has_ended(pid_t pid)
{
	siginfo_t info = {0};
	int code;

	do
		code = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
	while (code < 0 && errno == EINTR);
	return code < 0 || info.si_pid == pid;
}

void live_run_end(struct live_run *r)
{
	off_t len;

	while (waitpid(r->pid, &r->status, 0) < 0 && errno == EINTR)
		;
	len = lseek(r->out, 0, SEEK_END);
	r->text = mem_calloc(1, (size_t)len + 1);
	if (len < 0 || !r->text || pread(r->out, r->text, (size_t)len, 0) != len)
		die("cannot read its output", r->name);
	r->len = (size_t)len;
	close(r->out);
	pass_on(r->err);
}

void live_run_deinit(struct live_run *r)
{
	mem_free(r->text);
	r->text = NULL;
}

void live_run_json(const struct live_run *r, struct json_doc *doc)
{
	size_t at = 0;

	if (json_parse(doc, r->text, r->len, &at) == 0)
		return;
	printf("FAIL %s: exit status %d, no JSON at byte %zu: %.200s\n", r->name, live_run_code(r),
	       at, r->text + at);
	exit(1);
}

int live_run_code(const struct live_run *r)
{
	return WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 128 + WTERMSIG(r->status);
}

bool live_is_rt(void)
{
	struct utsname u;

	return uname(&u) == 0 && strstr(u.version, "PREEMPT_RT");
}

void live_need_root(void)
{
	if (geteuid() == 0)
		return;
	printf("skipped: measuring all tasks and making the truth need root\n");
	exit(LIVE_SKIP);
}

void live_must(int code, const struct error *err)
{
	if (code == 0)
		return;
	printf("FAIL %s\n", err->text);
	exit(1);
}

bool live_check(int *failures, bool good, const char *fmt, ...)
{
	va_list ap;

	if (good)
		return true;
	++*failures;
	printf("FAIL ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	return false;
}

const struct json *live_worst_row(const struct json *rows, const char *kind)
{
	const struct json *worst = NULL;
	uint64_t most = 0;

	for (size_t k = 0; k < json_len(rows); k++) {
		const struct json *row = json_at(rows, k);
		uint64_t total = json_u64(json_get(row, "total_ns"));

		if (strcmp(json_text(json_get(row, "kind")), kind) == 0 && total >= most) {
			worst = row;
			most = total;
		}
	}
	return worst;
}

void live_truth_kind(const struct json *truth, bool writer, char *buf, size_t size)
{
	const struct json *modes = json_get(truth, "modes");
	const char *type = json_text(json_get(truth, "type"));

	if (live_is_rt())
		type = strcmp(type, "rwsem") == 0 ? "rwlock-rt" : "rt-mutex";
	snprintf(buf, size, "%s%s", type, !modes || !modes->truth ? "" : writer ? ":W" : ":R");
}
