// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saves the screen as text. The file appears whole or not at all, and never in the place of another
 * one: it is written under a temporary name that did not exist before, then linked to its own name,
 * which fails when that is taken. kontend often runs as root, so no link of somebody else is
 * followed.
 */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "priv.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SAVE_TRIES = 10000 };

/* Writes @text to a new file @tmp. */
static int write_new(const char *tmp, const char *text)
{
	int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int r;

	if (fd < 0)
		return -errno;
	r = fdio_write_all(fd, text, strlen(text));
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r < 0)
		unlink(tmp);
	return r;
}

/* The name that was taken goes to @path. */
static int link_numbered(struct app *a, const char *tmp, char *path, size_t size)
{
	for (int i = 0; i < SAVE_TRIES; i++) {
		snprintf(path, size, "%s/kontend-screen-%u.txt", a->save_dir, ++a->n_saved);
		if (link(tmp, path) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int save(struct app *a, const char *name, char *path, size_t size)
{
	char tmp[PATH_MAX], *text;
	const char *slash;
	int r = screen_text(&a->screen, &text);

	if (r < 0)
		return r;
	snprintf(path, size, name && name[0] == '/' ? "%.0s%s" : "%s/%s", a->save_dir,
		 name ? name : "kontend-screen-N.txt");
	slash = strrchr(path, '/');
	snprintf(tmp, sizeof(tmp), "%.*s/.kontend-screen-%ld.tmp", (int)(slash - path), path,
		 (long)getpid());
	r = write_new(tmp, text);
	mem_free(text);
	if (r < 0)
		return r;
	if (!name)
		r = link_numbered(a, tmp, path, size);
	else if (link(tmp, path) < 0)
		r = -errno;
	unlink(tmp);
	return r;
}

void app_save(struct app *a, const char *name)
{
	char path[PATH_MAX];
	int r;

	app_draw(a); /* keys before this one may not have been drawn yet */
	r = save(a, name, path, sizeof(path));
	if (r == -EEXIST)
		app_say(a, ROLE_ERROR, "Not saved: %s exists already", path);
	else if (r < 0)
		app_say(a, ROLE_ERROR, "Not saved: %s: %s", path, strerror(-r));
	else
		app_say(a, ROLE_BOLD, "saved as %s", path);
}
