// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where file systems are mounted: lines of /proc/self/mountinfo, "36 35 98:0 /root /at opts - ext4
 * source super". The kernel shows the root of a file system as "/".
 */
#include "internal.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Blanks and backslashes are written as \040 and \134. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p; to++) {
		if (*p == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
		    p[3] >= '0' && p[3] <= '7') {
			*to = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 4;
		} else {
			*to = *p++;
		}
	}
	*to = 0;
}

static int add_line(struct mounts *m, char *line)
{
	char *words[6] = {0}, *save = NULL, *fs = strstr(line, " - ");
	unsigned major, minor, id;

	if (!fs)
		return 0;
	*fs = 0;
	words[0] = strtok_r(line, " ", &save);
	for (int i = 1; i < 5 && words[i - 1]; i++)
		words[i] = strtok_r(NULL, " ", &save);
	if (!words[4] || sscanf(words[2], "%u:%u", &major, &minor) != 2 ||
	    sscanf(words[0], "%u", &id) != 1)
		return 0;
	char *type = strtok_r(fs + 3, " ", &save),
	     *source = type ? strtok_r(NULL, " ", &save) : NULL;
	if (!source)
		return 0;
	unescape(words[3]);
	unescape(words[4]);
	unescape(source);
	if (mem_grow(&m->points, &m->cap, m->n, sizeof(*m->points)))
		return -ENOMEM;
	m->points[m->n++] =
		(struct mount_point){major << 20 | minor, words[3], words[4], source, type, id};
	return 0;
}

int mounts_read(struct mounts *m, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), code;
	char *save = NULL;
	size_t len;

	m->n = 0;
	mem_free(m->text);
	m->text = NULL;
	if (fd < 0)
		return -errno;
	code = fdio_read_rest(fd, &m->text, &len);
	close(fd);
	if (code < 0)
		return code;
	for (char *line = strtok_r(m->text, "\n", &save); line && code == 0;
	     line = strtok_r(NULL, "\n", &save))
		code = add_line(m, line);
	return code;
}

const struct mount_point *mounts_find(const struct mounts *m, unsigned dev, const char *path)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct mount_point *p = &m->points[i];
		size_t len = strlen(p->root);
		if (p->dev == dev && (len == 1 || (!strncmp(path, p->root, len) &&
						   (path[len] == '/' || !path[len]))))
			return p;
	}
	return NULL;
}

const struct mount_point *mounts_by_id(const struct mounts *m, unsigned id)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->points[i].id == id)
			return &m->points[i];
	return NULL;
}

void mounts_deinit(struct mounts *m)
{
	mem_free(m->points);
	mem_free(m->text);
	*m = (struct mounts){0};
}
