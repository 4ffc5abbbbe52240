// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of code, from /proc/PID/maps, as the records that the kernel would have written at the
 * time of the mapping: names as it gives them there. Lines are "start-end perms offset major:minor
 * inode path"; mappings that are not executable are left out unless the caller wants them.
 */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/procfs.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The kernel's names of what has none in the table, or another one. */
static const char *name_of(char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), tail = sizeof(deleted) - 1;

	if (!*path)
		return "//anon";
	if (strncmp(path, "/memfd:", 7) != 0 && n > tail && !strcmp(path + n - tail, deleted))
		path[n - tail] = '\0';
	return path;
}

static int take_line(char *line, pid_t pid, struct sideband *s)
{
	struct sideband_mmap m = {.pid = pid};
	uint64_t end;
	char perms[8];
	int at = 0;

	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &m.start, &end, perms, &m.pgoff, &m.maj, &m.min, &m.ino, &at) < 7 ||
	    !at || end <= m.start || (perms[2] != 'x' && !s->data_maps))
		return 0;
	if (!strcmp(line + at, "[vsyscall]"))
		return 0;
	m.len = end - m.start;
	m.readable = perms[0] == 'r';
	m.code = perms[2] == 'x';
	m.shared = perms[3] == 's';
	m.writable = perms[1] == 'w';
	m.path = name_of(line + at);
	return sideband_mmap(s, &m);
}

int procfs_maps(const char *root, pid_t pid, struct sideband *s)
{
	char path[PATH_MAX], *text = NULL, *save, *line;
	size_t len;
	int r;

	snprintf(path, sizeof(path), "%s/%d/maps", root, pid);
	r = fdio_read_file(path, &text, &len);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (line = strtok_r(text, "\n", &save); r >= 0 && line; line = strtok_r(NULL, "\n", &save))
		r = take_line(line, pid, s);
	mem_free(text);
	return r < 0 ? r : 0;
}
