// SPDX-License-Identifier: GPL-2.0-only
/*
 * Maps of JIT-compiled code: a text file /tmp/perf-PID.map that a runtime appends to, with lines
 * "START SIZE name", both numbers in hexadecimal; and jitdumps, which a runtime maps, so that mmap
 * events have their paths. Each load reads what was appended; of two functions at one place the
 * later one counts. PID is the number of the process in its own namespace.
 */
#include "internal.h"

#include "kontend/clock.h"
#include "kontend/load.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JIT_STEP = 4 << 20, MAP_MOST = 256 << 20, JIT_RANK = 1 };

/* Number of times that the pause doubles, while the process lives and after its end. */
enum { PAUSES = 5, PAUSES_GONE = 9 };
static const uint64_t PAUSE_NS = 250000000;

/*
 * A jitdump is a header and records, each of which begins with its kind, its length and a time
 * (tools/perf/Documentation/jitdump-specification.txt): a function with its name and bytes, or a
 * function that has moved. Line numbers and unwind tables are skipped. Records are read through a
 * window that moves to each head; the bytes of functions stay in the file.
 * Samples have no time when they get their names, so of two functions at one place the later one
 * counts.
 */

enum {
	DUMP_MAGIC = 0x4a695444,
	DUMP_VERSION = 1,
	HEADER = 40,
	PREFIX = 16,
	LOAD_HEAD = PREFIX + 40,
	MOVE_HEAD = PREFIX + 48,
	NAME_MOST = 4096,
	WINDOW = 64 << 10,
	RECORDS_STEP = 20000, /* at most, in one call */
};

enum { CODE_LOAD, CODE_MOVE };

struct window {
	int fd;
	uint64_t size, from;
	size_t len;
	uint8_t bytes[WINDOW];
};

/* @n bytes of the file at @at; NULL: not in the file. */
static const uint8_t *look_at(struct window *w, uint64_t at, size_t n)
{
	if (n > WINDOW || at > w->size || n > w->size - at)
		return NULL;
	if (at < w->from || at - w->from > w->len || n > w->len - (at - w->from)) {
		ssize_t got = pread(w->fd, w->bytes, WINDOW, (off_t)at);
		w->from = at;
		w->len = got > 0 ? (size_t)got : 0;
		if (w->len < n)
			return NULL;
	}
	return w->bytes + (at - w->from);
}

/* Length of the header; 0: not complete yet; or -ENOEXEC. */
static int64_t read_header(struct window *w)
{
	const uint8_t *p = look_at(w, 0, HEADER);

	if (!p)
		return 0;
	uint32_t len = load_u32(p + 8);
	if (load_u32(p) != DUMP_MAGIC || load_u32(p + 4) != DUMP_VERSION || len < HEADER)
		return -ENOEXEC;
	return len <= w->size ? (int64_t)len : 0;
}

static int keep_code(struct jitdump *d, const struct jitdump_code *c)
{
	if (mem_grow(&d->codes, &d->cap, d->n, sizeof(*d->codes)) < 0)
		return -ENOMEM;
	d->codes[d->n++] = *c;
	return 0;
}

static bool is_range(uint64_t addr, uint64_t size)
{
	return size && size <= UINT32_MAX && size <= UINT64_MAX - addr;
}

/* JIT_CODE_LOAD: pid, tid, address, code address, code size, index; name; bytes. */
static int take_load(struct jitdump *d, struct symtab *t, struct window *w, uint64_t at,
		     uint32_t len)
{
	size_t head = len < LOAD_HEAD + NAME_MOST ? len : LOAD_HEAD + NAME_MOST;
	const uint8_t *p = look_at(w, at, head);

	if (!p || len <= LOAD_HEAD)
		return -ENOEXEC;
	const char *name = (const char *)p + LOAD_HEAD;
	size_t n = strnlen(name, head - LOAD_HEAD);
	struct jitdump_code c = {
		.addr = load_u64(p + 32), .size = load_u64(p + 40), .index = load_u64(p + 48)};
	struct symtab_entry e = {.addr = c.addr, .rank = JIT_RANK};
	if (!n || !is_range(c.addr, c.size))
		return 0;
	/* The code is the end of the record. */
	if (c.size < len - LOAD_HEAD - n)
		c.at = at + len - c.size;
	e.size = (uint32_t)c.size;
	c.name = (uint32_t)t->text_len;
	int code = symtab_add_text(t, &e, name, n);
	return code ? code : keep_code(d, &c);
}

static int take_move(struct jitdump *d, struct symtab *t, struct window *w, uint64_t at,
		     uint32_t len)
{
	const uint8_t *p = len >= MOVE_HEAD ? look_at(w, at, MOVE_HEAD) : NULL;

	if (!p)
		return -ENOEXEC;
	uint64_t from = load_u64(p + 32), to = load_u64(p + 40), index = load_u64(p + 56);
	for (size_t i = d->n; i-- > 0;) {
		struct jitdump_code c = d->codes[i];
		if (c.addr != from || c.index != index)
			continue;
		c.addr = to;
		struct symtab_entry e = {
			.addr = to, .size = (uint32_t)c.size, .name = c.name, .rank = JIT_RANK};
		if (!is_range(to, c.size))
			return 0;
		int code = symtab_add(t, &e);
		return code ? code : keep_code(d, &c);
	}
	return 0;
}

/* The record at d->read. 1: parsed; 0: not complete yet; or a negative errno. */
static int take_record(struct jitdump *d, struct symtab *t, struct window *w)
{
	const uint8_t *p = look_at(w, d->read, PREFIX);
	int code = 0;

	if (!p)
		return 0;
	uint32_t kind = load_u32(p), len = load_u32(p + 4);
	if (len < PREFIX)
		return -ENOEXEC;
	if (len > w->size - d->read)
		return 0;
	if (kind == CODE_LOAD)
		code = take_load(d, t, w, d->read, len);
	else if (kind == CODE_MOVE)
		code = take_move(d, t, w, d->read, len);
	d->read += code ? 0 : len;
	return code ? code : 1;
}

static int read_piece(struct jitdump *d, struct symtab *t, struct window *w, bool *ret_more)
{
	int code = 1;

	if (!d->read) {
		int64_t header = read_header(w);
		if (header <= 0)
			return (int)header;
		d->read = (uint64_t)header;
	}
	for (size_t i = 0; i < RECORDS_STEP && code == 1; i++)
		code = take_record(d, t, w);
	*ret_more = code == 1;
	return code < 0 ? code : 0;
}

int jitdump_read(struct jitdump *d, struct symtab *t, int fd, uint64_t size, bool *ret_more)
{
	struct window *w = d->damaged ? NULL : mem_calloc(1, sizeof(*w));

	*ret_more = false;
	if (!w)
		return d->damaged ? -ENOEXEC : -ENOMEM;
	w->fd = fd;
	w->size = size;
	int code = read_piece(d, t, w, ret_more);
	mem_free(w);
	d->damaged = code == -ENOEXEC;
	return code;
}

bool jitdump_place(const struct jitdump *d, uint64_t addr, uint64_t *ret_at, uint64_t *ret_len)
{
	for (size_t i = d->n; i-- > 0;) {
		const struct jitdump_code *c = &d->codes[i];
		if (addr < c->addr || addr - c->addr >= c->size)
			continue;
		*ret_at = c->at + (addr - c->addr);
		*ret_len = c->size - (addr - c->addr);
		return c->at != 0;
	}
	return false;
}

void jitdump_deinit(struct jitdump *d)
{
	mem_free(d->codes);
	*d = (struct jitdump){0};
}

/* The innermost PID in the line NSpid of its status. */
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

/*
 * A file that any user could have written is not trusted: it must not be a link, and must belong to
 * root, kontend's user, or the user of the living process.
 */
static bool is_believed(const struct usersyms *u, pid_t pid, int fd)
{
	struct stat st, process;
	char path[4200];

	if (fstat(fd, &st) != 0)
		return false;
	if (st.st_uid == 0 || st.st_uid == geteuid())
		return true;
	snprintf(path, sizeof(path), "%s/%d", u->config.proc, (int)pid);
	return stat(path, &process) == 0 && process.st_uid == st.st_uid;
}

static int open_believed(const struct usersyms *u, pid_t pid, int root, const char *path)
{
	int fd = usersym_open_in(u, root, path, O_NOFOLLOW);

	if (fd >= 0 && !is_believed(u, pid, fd)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int open_map(const struct usersyms *u, const struct usersym_jit *j, int root)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)own_number(u, j->pid));
	return open_believed(u, j->pid, root, path);
}

static int add_line(struct symtab *t, const char *line, const char *end)
{
	struct symtab_entry e = {.rank = JIT_RANK};
	const char *at = line;
	uint64_t n;

	if (number_take_hex(&at, &e.addr) < 0 || *at++ != ' ' || number_take_hex(&at, &n) < 0 ||
	    *at != ' ' || at >= end || !n || n > UINT32_MAX || n > UINT64_MAX - e.addr)
		return 0;
	e.size = (uint32_t)n;
	return symtab_add_text(t, &e, at + 1, (size_t)(end - at - 1));
}

/* Parses the whole lines of @text, which ends in a NUL; *ret_used: bytes of these. */
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
	j->read += used;
	/* A line longer than the buffer is invalid, and so is the rest: the file may be sparse. */
	j->spoilt = !used && n == JIT_STEP;
	return code ? code : sort(&j->table);
}

/*
 * Another file belongs to another process, or was started again: both files are read from their
 * start.
 */
static void begin_again(struct usersym_jit *j)
{
	symtab_deinit(&j->table);
	jitdump_deinit(&j->dump);
	j->table.latest = true;
	j->read = j->written_ns = 0;
	j->spoilt = false;
}

static bool is_same(const struct stat *st, uint64_t dev, uint64_t ino)
{
	return st->st_dev == dev && st->st_ino == ino;
}

/* 0 with the state of the open file, or a negative errno. */
static int load_map(struct usersyms *u, struct usersym_jit *j, int fd, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size < MAP_MOST ? (uint64_t)st->st_size : MAP_MOST;
	uint64_t more = size > j->read ? size - j->read : 0;

	if (j->spoilt || !more)
		return j->spoilt ? -ENOEXEC : 0;
	int code = read_more(j, fd, more < JIT_STEP ? (size_t)more : JIT_STEP);
	if (more > JIT_STEP && !j->spoilt)
		j->asked = u->jit_asked = true;
	return j->spoilt && !code ? -ENOEXEC : code;
}

static int load_dump(struct usersyms *u, struct usersym_jit *j, int fd, const struct stat *st)
{
	size_t before = j->table.n;
	bool more;
	int code = jitdump_read(&j->dump, &j->table, fd, (uint64_t)st->st_size, &more);

	if (more)
		j->asked = u->jit_asked = true;
	if (j->table.n != before && code != -ENOMEM)
		return sort(&j->table);
	return code;
}

static int open_dump(const struct usersyms *u, const struct usersym_jit *j, int root)
{
	return j->dump_path ? open_believed(u, j->pid, root, j->dump_path) : -ENOENT;
}

static enum usersym_answer answer_of(int map, int dump)
{
	if (map == -ENOMEM || dump == -ENOMEM)
		return USERSYM_NO_MEMORY;
	if (map >= 0 || dump >= 0)
		return USERSYM_OK;
	if (dump == -ENOEXEC || map == -ENOEXEC)
		return USERSYM_NOT_ELF;
	if (usersym_is_short(map) || usersym_is_short(dump))
		return USERSYM_NO_DESCRIPTOR;
	if (map == -EPERM || dump == -EPERM || map == -ELOOP || dump == -ELOOP)
		return USERSYM_NOT_BELIEVED;
	return map == -EACCES || dump == -EACCES ? USERSYM_NO_RIGHT : USERSYM_NO_FILE;
}

static void note_written(struct usersym_jit *j, const struct stat *st)
{
	uint64_t ns = (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;

	j->written_ns = ns > j->written_ns ? ns : j->written_ns;
}

/* Reads both files as they are now; replaces the descriptors by the results. */
static void load_both(struct usersyms *u, struct usersym_jit *j, int *map, int *dump)
{
	struct stat m = {0}, d = {0};
	int fds[2] = {*map, *dump};

	if ((*map >= 0 && (fstat(*map, &m) != 0 || !is_same(&m, j->dev, j->ino) ||
			   (uint64_t)m.st_size < j->read)) ||
	    (*dump >= 0 && (fstat(*dump, &d) != 0 || !is_same(&d, j->dump_dev, j->dump_ino) ||
			    (uint64_t)d.st_size < j->dump.read)))
		begin_again(j);
	if (*map >= 0) {
		j->dev = m.st_dev;
		j->ino = m.st_ino;
		note_written(j, &m);
		*map = load_map(u, j, fds[0], &m);
	}
	if (*dump >= 0) {
		j->dump_dev = d.st_dev;
		j->dump_ino = d.st_ino;
		note_written(j, &d);
		*dump = load_dump(u, j, fds[1], &d);
	}
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static enum usersym_answer dump_bytes(const struct usersyms *u, const struct usersym_jit *j,
				      uint64_t at, void *ret, size_t n, size_t *ret_n)
{
	struct stat st;
	int root = usersym_open_root(u, j->pid), fd = open_dump(u, j, root);

	if (root >= 0)
		close(root);
	if (fd < 0)
		return fd == -EACCES ? USERSYM_NO_RIGHT : USERSYM_NO_FILE;
	bool same = fstat(fd, &st) == 0 && is_same(&st, j->dump_dev, j->dump_ino);
	ssize_t got = same ? pread(fd, ret, n, (off_t)at) : -1;
	close(fd);
	if (got < 0)
		return USERSYM_OTHER_FILE;
	*ret_n = (size_t)got;
	return USERSYM_OK;
}

enum usersym_answer usersyms_bytes_jit(struct usersyms *u, pid_t pid, uint64_t addr, void *ret,
				       size_t n, size_t *ret_n, const char **ret_path)
{
	struct usersym_jit *j = usersym_jit_of(u, pid);
	uint64_t at, len;

	if (!j)
		return USERSYM_NO_MEMORY;
	if (!u->config.same_machine)
		return USERSYM_NO_FILE;
	if (!jitdump_place(&j->dump, addr, &at, &len)) {
		*ret_path = "memory of its process";
		return usersym_jit_memory(u, j, addr, ret, n, ret_n);
	}
	*ret_path = j->dump_path;
	return dump_bytes(u, j, at, ret, len < n ? (size_t)len : n, ret_n);
}

/* Looks for missing names after growing pauses, even longer ones for an ended process. */
static void pause_for(const struct usersyms *u, struct usersym_jit *j, bool changed, bool here)
{
	uint64_t first = u->config.jit_pause_ns ? u->config.jit_pause_ns : PAUSE_NS;
	uint64_t most = first << (here ? PAUSES : PAUSES_GONE);

	j->pause_ns = changed || j->asked ? 0 : j->pause_ns ? 2 * j->pause_ns : first;
	j->pause_ns = j->pause_ns < most ? j->pause_ns : most;
	j->next_ns = clock_now_ns() + j->pause_ns;
}

bool usersym_jit_load(struct usersyms *u, struct usersym_jit *j)
{
	enum usersym_answer was = j->answer;
	size_t before = j->table.text_len + j->dump.n;
	bool here = u->config.same_machine;
	int root = usersym_open_root(u, j->pid);
	int map = here ? open_map(u, j, root) : -ENOENT, dump = here ? open_dump(u, j, root) : map;
	bool lives = root >= 0;

	if (root >= 0)
		close(root);
	if (map >= 0 || dump >= 0) {
		load_both(u, j, &map, &dump);
		j->answer = answer_of(map, dump);
	} else if (j->answer != USERSYM_OK) {
		j->answer = answer_of(map, dump);
	}
	bool changed = was != j->answer || before != j->table.text_len + j->dump.n;
	pause_for(u, j, changed, lives);
	return changed;
}
