// SPDX-License-Identifier: GPL-2.0-only
/* Speaks with workloads/bp-holder.c over two pipes. */
#include "holder.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS = 62, TRIES = 20, PAUSE_US = 500000 };

static bool parse(const char *line, struct bp_made *m)
{
	*m = (struct bp_made){0};
	return sscanf(line, BP_MADE_SCAN, m->kind, m->role, &m->id, &m->addr, &m->len, &m->type,
		      &m->bp_type, &m->state, &m->cpu, &m->owner, &m->target, &m->owner_pid,
		      &m->tracer, &m->holder[0], &m->holder[1], &m->fd[0],
		      &m->fd[1]) == BP_MADE_FIELDS;
}

static void run(const char *path, const char *const *kinds, int in, int out)
{
	const char *argv[KINDS + 2] = {path};

	for (int i = 0; i < KINDS && kinds[i]; i++)
		argv[i + 1] = kinds[i];
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	execv(path, (char *const *)(uintptr_t)argv);
	perror(path);
	_exit(127);
}

static int try_start(struct holder *h, const char *path, const char *const *kinds)
{
	int to[2], from[2];
	char line[512];

	*h = (struct holder){0};
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return -1;
	fflush(stdout);
	h->pid = fork();
	if (h->pid == 0)
		run(path, kinds, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	h->to = fdopen(to[1], "we");
	h->from = fdopen(from[0], "re");
	while (h->n < 64 && fgets(line, sizeof(line), h->from)) {
		if (strcmp(line, "ready\n") == 0)
			return 0;
		if (!parse(line, &h->made[h->n++]))
			fprintf(stderr, "bp-holder said: %s", line);
	}
	return -1;
}

int holder_start(struct holder *h, const char *path, const char *const *kinds)
{
	for (int i = 0; i < TRIES; i++) {
		if (try_start(h, path, kinds) == 0)
			return 0;
		holder_stop(h);
		usleep(PAUSE_US);
	}
	return -1;
}

int64_t holder_since(struct holder *h, const char *what, const char *answer, int n)
{
	char line[512], want[64];
	int len = snprintf(want, sizeof(want), "%s %d", answer, n);

	fprintf(h->to, "%s %d\n", what, n);
	fflush(h->to);
	while (fgets(line, sizeof(line), h->from))
		if (strncmp(line, want, (size_t)len) == 0)
			return strtoll(line + len, NULL, 10);
	return -1;
}

void holder_stop(struct holder *h)
{
	if (h->to)
		fclose(h->to);
	while (h->pid > 0 && waitpid(h->pid, NULL, 0) < 0)
		;
	if (h->from)
		fclose(h->from);
	*h = (struct holder){0};
}

const struct bp_made *holder_partner(const struct holder *h, const struct bp_made *m)
{
	bool child = strcmp(m->role, "child") == 0;

	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->made[i].kind, m->kind) == 0 &&
		    strcmp(h->made[i].role, child ? "parent" : "child") == 0)
			return &h->made[i];
	return NULL;
}

bool holder_is(const struct holder *h, const struct bp_made *m, const struct snap_event *e)
{
	const struct bp_made *other = holder_partner(h, m);

	if (m->id)
		return e->id == m->id;
	if (other)
		return e->parent == other->id;
	return e->target_tid == m->target && (int)e->type == m->type && e->bp_addr == m->addr;
}

bool holder_made(const struct holder *h, const struct snap_event *e)
{
	for (size_t i = 0; i < h->n; i++)
		if (holder_is(h, &h->made[i], e))
			return true;
	return false;
}
