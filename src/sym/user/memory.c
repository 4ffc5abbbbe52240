// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code that a process made and that no file has, out of its memory (/proc/PID/mem), while it lives.
 * The process of that number has to be the one that wrote the names, and only what it has mapped to
 * be executed, and of no file but one in memory, is read.
 */
#include "internal.h"

#include "kontend/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 128, LINE_SIZE = 4200, LINES_MOST = 1 << 20, START_FIELD = 22, COMM_FIELD = 2 };

static const uint64_t SECOND_NS = 1000000000;

static enum usersym_answer answer_of(int code)
{
	return code == EACCES || code == EPERM ? USERSYM_MEMORY_DENIED : USERSYM_MEMORY_GONE;
}

static FILE *open_proc(const struct usersyms *u, pid_t pid, const char *name)
{
	char path[PATH_SIZE];

	if (snprintf(path, sizeof(path), "%s/%d/%s", u->config.proc, (int)pid, name) >= PATH_SIZE) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "re");
}

/* When it started, after booting; false: it is not told. */
static bool started_ns(const struct usersyms *u, pid_t pid, uint64_t *ret)
{
	char line[1024];
	unsigned long long ticks;
	long hz = sysconf(_SC_CLK_TCK);
	FILE *f = open_proc(u, pid, "stat");
	const char *at = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;

	if (f)
		fclose(f);
	for (int i = COMM_FIELD; at && i < START_FIELD; i++) {
		at = strchr(at, ' ');
		at += at ? 1 : 0;
	}
	if (!at || hz <= 0 || sscanf(at, "%llu", &ticks) != 1)
		return false;
	*ret = ticks * (SECOND_NS / (uint64_t)hz);
	return true;
}

/* Its names were written since it started: a later process of the number did not write them. */
static bool is_writer(const struct usersyms *u, const struct usersym_jit *j)
{
	uint64_t started, wall = clock_ns(CLOCK_REALTIME), boot = clock_ns(CLOCK_BOOTTIME);

	/* Times of files are in coarser steps. */
	return started_ns(u, j->pid, &started) &&
	       wall - boot + started <= j->written_ns + SECOND_NS;
}

static bool is_in_memory(const char *line, uint64_t *ret_from, uint64_t *ret_end)
{
	unsigned long long from, end, ino;
	char perms[8];
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %*s %*s %llu %n", &from, &end, perms, &ino, &at) != 4)
		return false;
	*ret_from = from;
	*ret_end = end;
	return perms[2] == 'x' &&
	       (!ino || !strncmp(line + at, "/memfd:", 7) || !strncmp(line + at, "/dev/zero", 9));
}

/* What is mapped around @addr, into @j, where it is known for those that follow. */
static enum usersym_answer find_mapped(const struct usersyms *u, struct usersym_jit *j,
				       uint64_t addr)
{
	char line[LINE_SIZE];
	uint64_t from, end;
	bool found = false;

	if (addr >= j->mapped_from && addr < j->mapped_end)
		return USERSYM_OK;
	FILE *f = open_proc(u, j->pid, "maps");
	if (!f)
		return answer_of(errno);
	for (size_t n = 0; !found && n < LINES_MOST && fgets(line, sizeof(line), f); n++)
		found = is_in_memory(line, &from, &end) && addr >= from && addr < end;
	fclose(f);
	if (!found)
		return USERSYM_MEMORY_GONE;
	j->mapped_from = from;
	j->mapped_end = end;
	return USERSYM_OK;
}

enum usersym_answer usersym_jit_memory(const struct usersyms *u, struct usersym_jit *j,
				       uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	if (!is_writer(u, j))
		return USERSYM_MEMORY_GONE;
	enum usersym_answer a = find_mapped(u, j, addr);
	if (a != USERSYM_OK)
		return a;
	FILE *f = open_proc(u, j->pid, "mem");
	if (!f)
		return answer_of(errno);
	uint64_t left = j->mapped_end - addr;
	ssize_t got = pread(fileno(f), ret, left < n ? (size_t)left : n, (off_t)addr);
	int code = got < 0 ? errno : 0;
	fclose(f);
	if (got <= 0) {
		j->mapped_from = j->mapped_end = 0;
		return answer_of(code);
	}
	*ret_n = (size_t)got;
	return USERSYM_OK;
}
