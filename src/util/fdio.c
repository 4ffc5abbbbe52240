// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t fdio_read(int fd, void *buf, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, buf, size);
	} while (n < 0 && errno == EINTR);
	return n;
}

bool fdio_read_at(int fd, uint64_t offset, void *ret, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t k = pread(fd, (char *)ret + got, n - got, (off_t)(offset + got));
		if (k <= 0 && !(k < 0 && errno == EINTR))
			return false;
		got += k > 0 ? (size_t)k : 0;
	}
	return true;
}

int fdio_write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_to_end(int fd, char **buf, size_t *len)
{
	size_t cap = 0;

	for (;;) {
		/* Keep one byte for the NUL. */
		if (*len + 1 >= cap) {
			cap = cap ? cap * 2 : 8192;
			char *bigger = mem_resize(*buf, cap, 1);
			if (!bigger)
				return -ENOMEM;
			*buf = bigger;
		}
		ssize_t n = fdio_read(fd, *buf + *len, cap - *len - 1);
		if (n <= 0)
			return n < 0 ? -errno : 0;
		*len += (size_t)n;
	}
}

int fdio_read_rest(int fd, char **ret, size_t *ret_len)
{
	char *buf = NULL;
	size_t len = 0;
	int r = read_to_end(fd, &buf, &len);

	if (r < 0) {
		mem_free(buf);
		return r;
	}
	buf[len] = '\0';
	*ret = buf;
	*ret_len = len;
	return 0;
}

int fdio_read_file(const char *path, char **ret, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int r = fdio_read_rest(fd, ret, ret_len);
	close(fd);
	return r;
}

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
