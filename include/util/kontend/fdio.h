/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FDIO_H
#define KONTEND_FDIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* System calls that are repeated when a signal interrupts them. */

/* As read(): bytes, 0 at the end, or -1 with errno. */
ssize_t fdio_read(int fd, void *buf, size_t size);
/* A file of any size (0 in stat, as in /proc) as a NUL-terminated text. 0 or -errno. */
int fdio_read_file(const char *path, char **ret /* mem_free() */, size_t *ret_len);
/* The same for an open file, from its current offset. */
int fdio_read_rest(int fd, char **ret, size_t *ret_len);
/* Reads all @n bytes at @offset; false: fewer, or unreadable. */
bool fdio_read_at(int fd, uint64_t offset, void *ret, size_t n);
/* Writes all of it: 0, or -errno. */
int fdio_write_all(int fd, const char *data, size_t len);

#endif
