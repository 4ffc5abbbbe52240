// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps of compiled code: a text file /tmp/perf-PID.map that a runtime appends to, "START SIZE name"
 * a line, both in hexadecimal. What came since is read; a function that was compiled anew at the
 * same place is the later one. PID is the number that the process has in its own namespace.
 */
#include "usersyms-int.h"

#include "kontend/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JIT_STEP = 4 << 20, JIT_RANK = 1 };

/* The innermost of the numbers in the line NSpid of its status. */
static pid_t own_number(const struct usersyms *u, pid_t pid)
{
	char path[4200], line[256];
	pid_t own = pid;

	snprintf(path, sizeof(path), "%s/%d/status", u->config.proc, (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *last = strrchr(line, '\t');
		if (!strncmp(line, "NSpid:", 6) && last && atoi(last) > 0)
			own = atoi(last);
	}
	if (f)
		fclose(f);
	return own;
}

static int open_map(const struct usersyms *u, const struct usersym_jit *j)
{
	char path[64];
	int root = usersym_open_root(u, j->pid), fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)own_number(u, j->pid));
	fd = usersym_open_in(root, path);
	if (root >= 0)
		close(root);
	return fd;
}

static int add_line(struct symtab *t, const char *line, const char *end)
{
	char *at;
	struct symtab_entry e = {.rank = JIT_RANK};

	e.addr = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return 0;
	const char *size = at + 1;
	unsigned long long n = strtoull(size, &at, 16);
	if (at == size || *at != ' ' || at >= end || !n || n > UINT32_MAX ||
	    n > UINT64_MAX - e.addr)
		return 0;
	e.size = (uint32_t)n;
	return symtab_add_text(t, &e, at + 1, (size_t)(end - at - 1));
}

/* Whole lines of @text, which ends in a NUL; *ret_used: bytes of these. */
static int add_lines(struct symtab *t, const char *text, size_t *ret_used)
{
	const char *line = text, *end;
	int code = 0;

	for (; !code && (end = strchr(line, '\n')); line = end + 1)
		code = end == line ? 0 : add_line(t, line, end);
	*ret_used = (size_t)(line - text);
	return code;
}

static int sort(struct symtab *t)
{
	bool more = true;
	int code = 0;

	while (more && !code)
		code = symtab_sort_step(t, &more);
	if (!code)
		symtab_finish(t);
	return code;
}

static int read_more(struct usersym_jit *j, int fd, size_t n)
{
	char *text = mem_calloc(1, n + 1);
	size_t used = 0;
	int code = -ENOMEM;

	if (!text)
		return code;
	ssize_t got = pread(fd, text, n, (off_t)j->read);
	text[got > 0 ? got : 0] = '\0';
	code = add_lines(&j->table, text, &used);
	mem_free(text);
	/* A line longer than all of this is none. */
	j->read += used || n < JIT_STEP ? used : n;
	return code ? code : sort(&j->table);
}

/* Another file by that name is another process's, or begun anew. */
static void begin_anew(struct usersym_jit *j, const struct stat *st)
{
	symtab_deinit(&j->table);
	j->table.latest = true;
	j->read = 0;
	j->dev = st->st_dev;
	j->ino = st->st_ino;
}

void usersym_jit_load(struct usersyms *u, struct usersym_jit *j)
{
	struct stat st;
	int code = 0, fd = u->config.same_machine ? open_map(u, j) : -ENOENT;

	if (fd < 0) {
		if (j->answer != USERSYM_OK)
			j->answer = fd == -EACCES ? USERSYM_NO_RIGHT : USERSYM_NO_FILE;
		return;
	}
	if (fstat(fd, &st) == 0) {
		uint64_t size = (uint64_t)st.st_size;
		if (st.st_dev != j->dev || st.st_ino != j->ino || size < j->read)
			begin_anew(j, &st);
		uint64_t more = size - j->read;
		if (more)
			code = read_more(j, fd, more < JIT_STEP ? (size_t)more : JIT_STEP);
		j->answer = code ? USERSYM_NO_MEMORY : USERSYM_OK;
		if (more > JIT_STEP && !code)
			j->asked = u->jit_asked = true;
	}
	close(fd);
}
