/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_GUNZIP_H
#define KONTEND_GUNZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* Are these the first two bytes that gzip writes? */
static inline bool gunzip_is_magic(const uint8_t *p)
{
	return p[0] == 0x1f && p[1] == 0x8b;
}

/* Does the file @fd begin as gzip writes it? */
static inline bool gunzip_is(int fd)
{
	uint8_t magic[2];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && gunzip_is_magic(magic);
}

/*
 * Unpacks the file @from from its beginning into @to: @most bytes at most, in pieces. 0; -EFBIG:
 * there are more; -EBADMSG: it is damaged; -ENODATA: it ends early, and @to has all that is there;
 * -ENOSYS: this build has no zlib; or another errno of reading, writing or memory.
 */
int gunzip_file(int from, int to, uint64_t most);

#endif
