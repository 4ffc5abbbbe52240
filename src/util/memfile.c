// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/memfile.h"

#include "kontend/mem.h"
#include <string.h>
#include <sys/types.h>

enum { FIRST = 4096 };

/* A fopencookie(3) write function returns 0 for a failure. */
static ssize_t append(void *cookie, const char *bytes, size_t n)
{
	struct memfile *m = cookie;
	size_t cap = m->cap ? m->cap : FIRST;

	while (cap < m->n + n + 1)
		cap *= 2;
	if (cap > m->cap) {
		char *text = mem_resize(m->text, cap, 1);
		if (!text)
			return 0;
		m->text = text;
		m->cap = cap;
	}
	memcpy(m->text + m->n, bytes, n);
	m->n += n;
	m->text[m->n] = '\0';
	return (ssize_t)n;
}

FILE *memfile_open(struct memfile *m)
{
	return fopencookie(m, "w", (cookie_io_functions_t){.write = append});
}
