// SPDX-License-Identifier: GPL-2.0-only
/*
 * One read of a file that the kernel writes from a bitmap takes a microsecond whatever the number
 * of CPUs, so it can be done each time that the rings are drained.
 */
#include "kontend/cpu-watch.h"
#include "kontend/cpulist.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static size_t read_text(const struct cpu_watch *w, char *buf, size_t size)
{
	ssize_t n;

	do {
		n = pread(w->fd, buf, size - 1, 0);
	} while (n < 0 && errno == EINTR);
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

void cpu_watch_open(struct cpu_watch *w, const char *path)
{
	*w = (struct cpu_watch){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (w->fd >= 0)
		w->len = read_text(w, w->text, sizeof(w->text));
}

void cpu_watch_close(struct cpu_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

bool cpu_watch_look(struct cpu_watch *w)
{
	char now[sizeof(w->text)];
	size_t n = w->fd >= 0 ? read_text(w, now, sizeof(now)) : 0;

	if (!n || (n == w->len && memcmp(now, w->text, n) == 0))
		return false;
	memcpy(w->text, now, n + 1);
	w->len = n;
	return true;
}

int cpu_watch_list(const struct cpu_watch *w, uint32_t **ret, size_t *ret_n)
{
	return w->len ? cpulist_parse(w->text, ret, ret_n) : -ENOENT;
}
