/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CACHEFILE_H
#define KONTEND_CACHEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Cache files: results that took long to compute, so that the next run has them at once. They are
 * in $KONTEND_CACHE, $XDG_CACHE_HOME/kontend or ~/.cache/kontend; an empty KONTEND_CACHE disables
 * them. Symbol names that another user could have written are worse than none: the file, its folder
 * and the folder above are used only if they belong to kontend's user and no other user may write
 * to them (so root uses none in the home of another user). No link is followed below the first
 * folder.
 * A file is a header, a checksum of each block of the data, and from the next page on its parts. It
 * is mapped. A block is compared with its checksum before any of it is used.
 */
enum {
	CACHEFILE_VERSION = 1,
	CACHEFILE_BLOCK = 16 << 10,
	CACHEFILE_PAGE = 4 << 10,
	CACHEFILE_STAMP = 96,
	CACHEFILE_NAME = 64,
	CACHEFILE_PARTS = 2,
};

#define CACHEFILE_MAGIC "kontkept" /* without NUL */

/* Identity of a file, and conditions to accept it. */
struct cachefile_key {
	/* In the cache folder: "symbols"; NULL: the cache folder itself. With a leading slash: a
	 * folder for all users, who trust files of root and their own. */
	const char *folder;
	char name[CACHEFILE_NAME];
	char form[8];			/* format of the parts, with a version: "symtab 1" */
	uint8_t stamp[CACHEFILE_STAMP]; /* identifies the source: another stamp, other content */
};

struct cachefile_head {
	char magic[8];
	uint32_t version, block;
	char form[8];
	uint8_t stamp[CACHEFILE_STAMP];
	uint64_t len[CACHEFILE_PARTS];
	uint64_t sums_sum; /* of the checksums */
	uint64_t sum;	   /* of all members before */
};

struct cachefile_part {
	const void *bytes;
	size_t len;
};

struct cachefile;

/*
 * 0; -EPERM: another user may have written it; -EBADMSG: damaged; or another errno (-ENOENT: none,
 * or of another version, format or stamp).
 */
int cachefile_open(struct cachefile **ret, const struct cachefile_key *key);
/* The same for an open file; closes @fd in any case. */
int cachefile_open_fd(struct cachefile **ret, int fd, const struct cachefile_key *key);
void cachefile_close(struct cachefile *k); /* NULL is fine */
/* Its pages leave our memory, not the kernel's, until they are used again. */
void cachefile_unload(const struct cachefile *k);
/* Use the bytes only after cachefile_is_sound() or cachefile_text(). */
struct cachefile_part cachefile_part(const struct cachefile *k, size_t i);
/*
 * True if these bytes of a part are as they were written. False: the whole file counts as broken.
 */
bool cachefile_is_sound(struct cachefile *k, const void *p, size_t len);
bool cachefile_is_broken(const struct cachefile *k);
/* The text at @offset of the last part, if it is sound and terminated; else NULL. */
const char *cachefile_text(struct cachefile *k, size_t offset);

/* A file being written, in steps of about a millisecond; `= {0}`: none. */
struct cachefile_write {
	struct cachefile_part parts[CACHEFILE_PARTS]; /* must not change until the end */
	struct cachefile_head head;
	int folder, fd;
	char name[CACHEFILE_NAME], temporary[CACHEFILE_NAME + 16];
	uint64_t *sums;
	size_t n_blocks, at; /* blocks */
	uint8_t *block;
};

/*
 * Call before the first step; the first part must not be empty. Files whose names end in ".syms"
 * take at most @most bytes together: the least recently used are removed. 0 or a negative errno.
 */
int cachefile_write_begin(struct cachefile_write *w, const struct cachefile_key *key,
			  const struct cachefile_part parts[CACHEFILE_PARTS], uint64_t most);
/*
 * 1: call again; 0: the file is complete and has replaced the old one; or a negative errno: nothing
 * has changed. Unless it returns 1, writing has ended.
 */
int cachefile_write_step(struct cachefile_write *w);
/* Discards an unfinished file. */
void cachefile_write_end(struct cachefile_write *w);

/* Writes all of it at once. 0 or a negative errno: nothing has changed. */
int cachefile_store(const struct cachefile_key *key,
		    const struct cachefile_part parts[CACHEFILE_PARTS]);

/* Path of @name in the cache folder, if it exists; false: no cache folder. */
bool cachefile_path(const char *name, char *ret, size_t size);
/* Number and total size of files in @folder that end in ".syms". 0 or a negative errno. */
int cachefile_usage(const char *folder, size_t *ret_n, uint64_t *ret_size);

/* For tests, which make such files: a checksum; number of blocks of the parts; their start. */
uint64_t cachefile_sum(const void *p, size_t len);
size_t cachefile_blocks(uint64_t len);
uint64_t cachefile_body(uint64_t len);

#endif
