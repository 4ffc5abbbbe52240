// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saves the screen, as a picture or as text. The file appears whole or not at all, and never in the
 * place of another one: it is written under a temporary name that did not exist before, then linked
 * to its own name, which fails when that is taken. kontend often runs as root, so no link of
 * somebody else is followed, and without a name the file goes to a folder that is nobody else's.
 */
#include "kontend/picture.h"
#include "kontend/statefolder.h"
#include "kontend/when.h"
#include "priv.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAVE_TRIES = 10000, SAVE_NAME = 100 };

/* Where it goes: names are from the folder @dir, which is called @path. */
struct place {
	int dir;
	char path[PATH_MAX], tmp[PATH_MAX];
};

/* Writes to the new file @fd, and closes it. */
static int write_picture(struct app *a, int fd, enum picture_format format)
{
	FILE *f = fdopen(fd, "w");

	if (!f) {
		int r = -errno;

		close(fd);
		return r;
	}
	int r = app_picture(a, format, f);
	if (r == 0 && (fflush(f) != 0 || ferror(f)))
		r = errno ? -errno : -EIO;
	if (fclose(f) != 0 && r == 0)
		r = -errno;
	return r;
}

/* All of it goes to the new file p->tmp. */
static int write_new(struct app *a, const struct place *p, enum picture_format format)
{
	int fd = openat(p->dir, p->tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	int r = write_picture(a, fd, format);
	if (r < 0)
		unlinkat(p->dir, p->tmp, 0);
	return r;
}

/* "kontend-locks-20261120-143005": what is shown, and when that was, by the clock on the wall. */
static void name_of(const struct app *a, char name[SAVE_NAME])
{
	const struct model *m = &a->engine->model;
	const struct when w = {.clock_ns = m->host.clock_ns, .wall_ns = m->host.wall_ns};
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

/* The name that was taken goes to p->path: the first of NAME.svg, NAME-2.svg, ... that is free. */
static int link_free(struct app *a, struct place *p)
{
	size_t len = strlen(p->path);
	char base[SAVE_NAME], number[16] = "", *name = p->path + len + 1;

	name_of(a, base);
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

static int save_at(struct app *a, struct place *p, bool is_named)
{
	int r = write_new(a, p, is_named ? picture_format_of(p->path) : PICTURE_SVG);

	if (r < 0)
		return r;
	if (!is_named)
		r = link_free(a, p);
	else if (linkat(p->dir, p->tmp, p->dir, p->path, 0) < 0)
		r = -errno;
	unlinkat(p->dir, p->tmp, 0);
	return r;
}

/* The folder that was set, which tests do, or that of all that is saved. */
static int open_folder(const struct app *a, struct place *p, struct error *err)
{
	if (!a->save_dir)
		return statefolder_open(p->path, sizeof(p->path), err);
	snprintf(p->path, sizeof(p->path), "%s", a->save_dir);
	int fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? error_errno(err, -errno, "%s", p->path) : fd;
}

static int save_unnamed(struct app *a, struct place *p, struct error *err)
{
	p->dir = open_folder(a, p, err);
	if (p->dir < 0)
		return p->dir;
	snprintf(p->tmp, sizeof(p->tmp), ".kontend-screen-%ld.tmp", (long)getpid());
	int r = save_at(a, p, false);
	close(p->dir);
	return r;
}

static int save_as(struct app *a, struct place *p, const char *name)
{
	const char *slash = strrchr(name, '/');

	p->dir = AT_FDCWD;
	snprintf(p->path, sizeof(p->path), "%s", name);
	snprintf(p->tmp, sizeof(p->tmp), "%.*s.kontend-screen-%ld.tmp",
		 slash ? (int)(slash + 1 - name) : 0, name, (long)getpid());
	return save_at(a, p, true);
}

void app_save(struct app *a, const char *name)
{
	struct error err = {0};
	struct place p = {0};

	app_draw(a); /* keys before this one may not have been drawn yet */
	int r = name ? save_as(a, &p, name) : save_unnamed(a, &p, &err);
	if (err.code)
		app_say(a, ROLE_ERROR, "Not saved: %s; :save FILE saves elsewhere", err.text);
	else if (r == -EEXIST)
		app_say(a, ROLE_ERROR, "Not saved: %s exists already", p.path);
	else if (r < 0)
		app_say(a, ROLE_ERROR, "Not saved: %s: %s", p.path, strerror(-r));
	else
		app_say(a, ROLE_BOLD, "saved as %s", p.path);
}
