// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping is several times faster than reading megabytes into fresh heap memory, which costs a page
 * fault and a copy per page.
 */
#include "kontend/filemap.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

int filemap_open(struct filemap *m, int fd)
{
	struct stat st;

	*m = (struct filemap){0};
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return -ENODATA;
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	m->bytes = bytes;
	m->len = (size_t)st.st_size;
	mapguard_add(&m->guard, bytes, m->len);
	return 0;
}

void filemap_close(struct filemap *m)
{
	if (!m->bytes)
		return;
	mapguard_del(&m->guard);
	munmap((void *)(uintptr_t)m->bytes, m->len);
	*m = (struct filemap){0};
}
