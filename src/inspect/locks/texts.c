// SPDX-License-Identifier: GPL-2.0-only
/* Texts of snapshots: names and paths come from other programs, and may have any character. */
#include "internal.h"

#include <stdio.h>
#include <unistd.h>

uint32_t snapshot_locks_add_text(struct locksnap *s, const char *text, size_t size)
{
	char clean[64];
	size_t n = 0;

	for (; n < size && n + 1 < sizeof(clean) && text[n]; n++)
		clean[n] = (unsigned char)text[n] < ' ' || text[n] == 127 ? '?' : text[n];
	clean[n] = 0;
	return locksnap_add_text(s, clean);
}

uint32_t snapshot_locks_add_long(struct locksnap *s, const char *text)
{
	char clean[256];

	snprintf(clean, sizeof(clean), "%s", text);
	for (char *p = clean; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '?';
	return locksnap_add_text(s, clean);
}

uint32_t snapshot_locks_add_path(struct locksnap *s, const char *proc, int pid, int fd)
{
	char link[64], path[256];

	snprintf(link, sizeof(link), "%s/%d/fd/%d", proc, pid, fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return 0;
	path[n] = 0;
	return snapshot_locks_add_long(s, path);
}
