// SPDX-License-Identifier: GPL-2.0-only
/*
 * Source files, each read once as a whole, with the offsets of its lines. Unreadable files are
 * remembered, too. The least recently used file makes room.
 */
#include "kontend/mem.h"
#include "kontend/srclines.h"
#include "kontend/text.h"
#include "user/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MOST = 16, BYTES_MOST = 8 << 20, TAB = 8 };

struct source_file {
	const char *path; /* NULL: unused slot */
	uint32_t object;
	uint64_t used;
	char *bytes; /* NULL: unreadable */
	size_t n;
	uint32_t *lines; /* their offsets */
	size_t n_lines, cap_lines;
};

struct srclines_text {
	struct usersyms *users;
	struct strpool names;
	struct source_file files[FILES_MOST];
	uint64_t clock;
};

int srclines_text_new(struct srclines_text **ret, struct usersyms *files, struct error *err)
{
	struct srclines_text *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return error_enomem(err, "source files");
	s->users = files;
	*ret = s;
	return 0;
}

static void close_file(struct source_file *f)
{
	mem_free(f->bytes);
	mem_free(f->lines);
	*f = (struct source_file){0};
}

void srclines_text_free(struct srclines_text *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < FILES_MOST; i++)
		close_file(&s->files[i]);
	strpool_deinit(&s->names);
	mem_free(s);
}

static bool may_be_shown(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size > 0 && st->st_size <= BYTES_MOST &&
	       (geteuid() != 0 || st->st_mode & S_IROTH);
}

static void read_file(struct source_file *f, int fd)
{
	struct stat st;
	ssize_t n = 1;

	if (fstat(fd, &st) == 0 && may_be_shown(&st))
		f->bytes = mem_calloc((size_t)st.st_size + 1, 1);
	while (f->bytes && n > 0 && f->n < (size_t)st.st_size) {
		n = read(fd, f->bytes + f->n, (size_t)st.st_size - f->n);
		f->n += n > 0 ? (size_t)n : 0;
	}
}

static int find_lines(struct source_file *f)
{
	for (size_t at = 0; at < f->n;) {
		const char *end = memchr(f->bytes + at, '\n', f->n - at);

		if (mem_grow(&f->lines, &f->cap_lines, f->n_lines, sizeof(*f->lines)) < 0)
			return -ENOMEM;
		f->lines[f->n_lines++] = (uint32_t)at;
		at = end ? (size_t)(end - f->bytes) + 1 : f->n;
	}
	return 0;
}

static void open_file(struct srclines_text *s, struct source_file *f)
{
	int root = usersym_open_root(s->users, s->users->objects[f->object]->pid);
	int fd = f->path[0] == '/' ? usersym_open_in(s->users, root, f->path, 0) : -ENOENT;

	if (fd < 0 && root >= 0 && f->path[0] == '/')
		fd = usersym_open_in(s->users, -1, f->path, 0);
	if (root >= 0)
		close(root);
	if (fd < 0)
		return;
	read_file(f, fd);
	close(fd);
	if (find_lines(f) < 0)
		f->n_lines = 0;
}

static struct source_file *file_of(struct srclines_text *s, uint32_t object, const char *path)
{
	const char *name = strpool_intern(&s->names, path);
	struct source_file *oldest = &s->files[0];

	for (size_t i = 0; name && i < FILES_MOST; i++) {
		struct source_file *f = &s->files[i];
		if (f->path == name && f->object == object)
			return f;
		oldest = f->used < oldest->used ? f : oldest;
	}
	if (!name)
		return NULL;
	close_file(oldest);
	oldest->path = name;
	oldest->object = object;
	open_file(s, oldest);
	return oldest;
}

bool srclines_text_line(struct srclines_text *s, uint32_t object, const char *path, uint32_t line,
			char ret[SRCLINES_TEXT_MOST])
{
	struct source_file *f = file_of(s, object, path);
	char wide[SRCLINES_TEXT_MOST];
	size_t n = 0;

	if (!f || !line || line > f->n_lines)
		return false;
	f->used = ++s->clock;
	for (size_t at = f->lines[line - 1]; at < f->n && f->bytes[at] != '\n'; at++) {
		bool tab = f->bytes[at] == '\t';
		do {
			if (n < sizeof(wide) - 1)
				wide[n++] = tab ? ' ' : f->bytes[at];
		} while (tab && n % TAB && n < sizeof(wide) - 1);
	}
	while (n && (wide[n - 1] == ' ' || wide[n - 1] == '\r'))
		n--;
	wide[n] = '\0';
	text_clean(ret, SRCLINES_TEXT_MOST, wide);
	return true;
}
