// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saves the screen as a picture or as text, and copies the selected row to the clipboard.
 *
 * A file appears complete or not at all, and never replaces another one: save() writes it under a
 * temporary name that did not exist before, then links it to its own name, which fails when that
 * name is taken. kontend often runs as root, so it follows no link of another user. A file without
 * a name goes to a folder that only the user can write to.
 *
 * Views keep no rows between two frames. To copy a row, app_copy() draws the frame once more, and
 * the code that draws the selected row adds the full text of that row.
 */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/picture.h"
#include "kontend/query-load.h"
#include "kontend/statefolder.h"
#include "kontend/textbuf.h"
#include "kontend/when.h"
#include "priv.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAVE_TRIES = 10000, SAVE_NAME = 100 };

/* Where it goes: names are from the folder @dir, which is called @path. */
struct place {
	int dir;
	char path[PATH_MAX], tmp[PATH_MAX];
};

/* Writes @text to the new file p->tmp. */
static int write_new(const struct place *p, const char *text)
{
	int fd = openat(p->dir, p->tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int r;

	if (fd < 0)
		return -errno;
	r = fdio_write_all(fd, text, strlen(text));
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r < 0)
		unlinkat(p->dir, p->tmp, 0);
	return r;
}

/* "kontend-locks-20261120-143005": what is shown, and when that was, by the clock on the wall. */
static void name_of(const struct app *a, char name[SAVE_NAME])
{
	const struct model *m = a->engine->model;
	const struct when w = {.clock_ns = m->host->clock_ns, .wall_ns = m->host->wall_ns};
	const struct app_entry *e = a->n_stack ? &a->stack[a->n_stack - 1] : &a->roots[a->root];
	uint64_t now = a->time.line ? timeline_now_ns(a->time.line) : m->now_ns;
	char date[WHEN_BUF], *to = name;

	when_date(date, when_wall_ns(&w, now), 0); /* "2026-11-20 14:30:05", or "" */
	to += snprintf(name, SAVE_NAME, "kontend-%.30s%s", e->view->ops->name, *date ? "-" : "");
	for (const char *c = date; *c; c++)
		if (*c == ' ')
			*to++ = '-';
		else if (*c >= '0' && *c <= '9')
			*to++ = *c;
	*to = '\0';
}

/* The name that was taken goes to p->path: the first of BASE.svg, BASE-2.svg, ... that is free. */
static int link_free(struct place *p, const char *base)
{
	size_t len = strlen(p->path);
	char number[16] = "", *name = p->path + len + 1;

	for (int i = 2; i < SAVE_TRIES; i++) {
		snprintf(p->path + len, sizeof(p->path) - len, "/%s%s.svg", base, number);
		if (linkat(p->dir, p->tmp, p->dir, name, 0) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
		snprintf(number, sizeof(number), "-%d", i);
	}
	return -EEXIST;
}

/* @base NULL: as p->path. */
static int save_at(struct place *p, const char *text, const char *base)
{
	int r = write_new(p, text);

	if (r < 0)
		return r;
	if (base)
		r = link_free(p, base);
	else if (linkat(p->dir, p->tmp, p->dir, p->path, 0) < 0)
		r = -errno;
	unlinkat(p->dir, p->tmp, 0);
	return r;
}

/* The folder that was set, which tests do, or that of all that is saved. */
static int open_folder(const char *folder, struct place *p, struct error *err)
{
	if (!folder)
		return statefolder_open(p->path, sizeof(p->path), err);
	snprintf(p->path, sizeof(p->path), "%s", folder);
	int fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? error_errno(err, -errno, "%s", p->path) : fd;
}

static int save_unnamed(struct place *p, const char *text, const char *base, const char *folder,
			struct error *err)
{
	p->dir = open_folder(folder, p, err);
	if (p->dir < 0)
		return error_set(err, p->dir, "%s; :save FILE saves elsewhere", err->text);
	snprintf(p->tmp, sizeof(p->tmp), ".kontend-screen-%ld.tmp", (long)getpid());
	int r = save_at(p, text, base);
	close(p->dir);
	return r;
}

/* @name is plain, or where @dir is AT_FDCWD a path. */
static int save_in(struct place *p, int dir, const char *text, const char *name)
{
	const char *slash = strrchr(name, '/');

	p->dir = dir;
	snprintf(p->path, sizeof(p->path), "%s", name);
	snprintf(p->tmp, sizeof(p->tmp), "%.*s.kontend-screen-%ld.tmp",
		 slash ? (int)(slash + 1 - name) : 0, name, (long)getpid());
	return save_at(p, text, NULL);
}

static int said(const struct place *p, int r, struct error *err)
{
	if (r == 0 || err->code)
		return r;
	if (r == -EEXIST)
		return error_set(err, r, "%s exists already", p->path);
	return error_set(err, r, "%s: %s", p->path, strerror(-r));
}

/* @name NULL: called @base, in @folder. *p is where it is. */
static int save(struct place *p, const char *text, const char *name, const char *base,
		const char *folder, struct error *err)
{
	int r = name ? save_in(p, AT_FDCWD, text, name) : save_unnamed(p, text, base, folder, err);

	return said(p, r, err);
}

/* As many bytes as it has now: it may grow while it is read. */
static int read_all(int fd, char **ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = mem_calloc(1, (size_t)st.st_size + 1);
	if (!*ret)
		return -ENOMEM;
	if (fdio_read_at(fd, 0, *ret, (size_t)st.st_size))
		return 0;
	mem_free(*ret);
	return -EIO;
}

int app_save_fd(int dir, const char *name, bool is_base, int fd, char *ret, size_t size,
		struct error *err)
{
	struct place p = {0};
	char *text = NULL;
	int r = read_all(fd, &text);

	if (r < 0)
		return error_errno(err, r, "what is to be saved");
	r = is_base ? save_unnamed(&p, text, name, NULL, err) : save_in(&p, dir, text, name);
	r = said(&p, r, err);
	mem_free(text);
	snprintf(ret, size, "%s", p.path);
	return r;
}

/* Another process saves it, and gets it as a file. */
static int hand_over(const struct app_saver *s, struct place *p, const char *text, const char *name,
		     bool is_base, struct error *err)
{
	int fd = memfd_create("kontend-screen", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : fdio_write_all(fd, text, strlen(text));

	if (r < 0)
		error_errno(err, r, "what is to be saved");
	else
		r = s->save(s->arg, name, is_base, fd, p->path, sizeof(p->path), err);
	if (fd >= 0)
		close(fd);
	return r;
}

void app_save(struct app *a, const char *name)
{
	enum picture_format format = name ? picture_format_of(name) : PICTURE_SVG;
	char *text, base[SAVE_NAME];
	struct error err = {0};
	struct place p = {0};

	app_draw(a); /* keys before this one may not have been drawn yet */
	name_of(a, base);
	int r = app_picture_text(a, format, &text);
	if (r < 0) {
		error_errno(&err, r, "the screen");
	} else {
		r = a->saver ? hand_over(a->saver, &p, text, name ? name : base, !name, &err)
			     : save(&p, text, name, base, a->save_dir, &err);
		mem_free(text);
	}
	if (r < 0)
		app_say(a, ROLE_ERROR, "Not saved: %s", err.text);
	else
		app_say(a, ROLE_BOLD, "saved as %s", p.path);
}

enum { SETTLE_FRAMES = 100, SETTLE_IDLE = 2, PICTURE_TITLE = 64 };

void app_settle(struct app *a, uint64_t most_ns)
{
	int idle = 0;

	app_draw(a);
	for (int i = 0; i < SETTLE_FRAMES && a->again && idle < SETTLE_IDLE; i++) {
		/* Names that arrived during app_draw() end the wait at once. */
		idle = query_load_wait(&a->query, most_ns) ? 0 : idle + 1;
		app_draw(a);
	}
}

static struct picture picture_of(struct app *a, char title[PICTURE_TITLE])
{
	snprintf(title, PICTURE_TITLE, "kontend: %s", app_top(a)->view->ops->name);
	return (struct picture){.screen = &a->screen, .theme = a->theme, .title = title};
}

int app_picture(struct app *a, enum picture_format format, FILE *out)
{
	char title[PICTURE_TITLE];
	const struct picture p = picture_of(a, title);

	return picture_write(&p, format, out);
}

int app_picture_text(struct app *a, enum picture_format format, char **ret)
{
	char title[PICTURE_TITLE];
	const struct picture p = picture_of(a, title);

	return picture_text(&p, format, ret);
}

/* Shows as much of the text as fits into the last line, with blanks in place of tabs. */
static void say_copied(struct app *a, const char *text)
{
	char line[sizeof(a->message)];
	struct textbuf b = textbuf_make(line, sizeof(line));

	for (const char *p = text; *p; p++)
		textbuf_str(&b, *p == '\t' ? "  " : (char[]){*p, '\0'});
	app_say(a, ROLE_BOLD, "copied: %s", textbuf_end(&b));
}

static void copy_text(struct app *a, char *text)
{
	const struct display_ops *ops = a->display->ops;
	int r = ops->copy ? ops->copy(a->display, text) : -EOPNOTSUPP;

	if (r == 0)
		say_copied(a, text);
	else if (r == -EOPNOTSUPP)
		app_say(a, ROLE_ERROR,
			"Not copied: this terminal is not known to have a clipboard (OSC 52)");
	else
		app_say(a, ROLE_ERROR, "Not copied: %s", strerror(-r));
}

void app_copy(struct app *a)
{
	char *text = mem_calloc(DISPLAY_COPY_MAX, 1);

	if (!text) {
		app_say(a, ROLE_ERROR, "Not copied: %s", strerror(ENOMEM));
		return;
	}
	struct textbuf row = textbuf_make(text, DISPLAY_COPY_MAX);
	a->screen.row = &row;
	app_draw(a);
	a->screen.row = NULL;
	textbuf_end(&row);
	if (*text)
		copy_text(a, text);
	else
		app_say(a, ROLE_DIM, "No row is selected here that could be copied");
	mem_free(text);
}
