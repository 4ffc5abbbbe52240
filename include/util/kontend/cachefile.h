/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CACHEFILE_H
#define KONTEND_CACHEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Kept files: what can be made again and took long, so that the next run has it at once. They are
 * in $KONTEND_CACHE, $XDG_CACHE_HOME/kontend or ~/.cache/kontend; KONTEND_CACHE set to nothing:
 * nothing is kept. Names that somebody else could have written are worse than none: the folder,
 * what it is in and the file are of use only if they belong to us and nobody else may write to them
 * (so root has none in the home of another user), and no link is followed below the first folder.
 *
 * A file is a header, a checksum of each block of what follows, and from the next page on its
 * parts. It is mapped. A block is compared with its checksum before anything of it is used.
 */
enum {
	CACHEFILE_VERSION = 1,
	CACHEFILE_BLOCK = 16 << 10,
	CACHEFILE_PAGE = 4 << 10,
	CACHEFILE_STAMP = 96,
	CACHEFILE_NAME = 64,
	CACHEFILE_PARTS = 2,
};

#define CACHEFILE_MAGIC "kontkept" /* without its end */

/* Which file it is, and what it has to be of to be taken. */
struct cachefile_key {
	/* In the folder of kept files: "symbols"; NULL: that folder itself. With a slash in front:
	 * a folder for all users, who believe root's files and their own. */
	const char *folder;
	char name[CACHEFILE_NAME];
	char form[8];			/* what the parts are, with a version: "symtab 1" */
	uint8_t stamp[CACHEFILE_STAMP]; /* what they were made from: another stamp, another content
					 */
};

struct cachefile_head {
	char magic[8];
	uint32_t version, block;
	char form[8];
	uint8_t stamp[CACHEFILE_STAMP];
	uint64_t len[CACHEFILE_PARTS];
	uint64_t sums_sum; /* of the checksums */
	uint64_t sum;	   /* of all before */
};

struct cachefile_part {
	const void *bytes;
	size_t len;
};

struct cachefile;

/*
 * 0; -EPERM: somebody else may have written it; -EBADMSG: damaged; or another errno (-ENOENT: there
 * is none, or it is of another version, form or stamp).
 */
int cachefile_open(struct cachefile **ret, const struct cachefile_key *key);
/* The same of a file that is open; @fd is closed in any case. */
int cachefile_open_fd(struct cachefile **ret, int fd, const struct cachefile_key *key);
void cachefile_close(struct cachefile *k); /* NULL is fine */
/* To be looked at after cachefile_is_sound() or cachefile_text(). */
struct cachefile_part cachefile_part(const struct cachefile *k, size_t i);
/* Are these bytes, which are in a part, as they were written? No: all of it is broken. */
bool cachefile_is_sound(struct cachefile *k, const void *p, size_t len);
bool cachefile_is_broken(const struct cachefile *k);
/* The text at @offset of the last part, if it is sound and ends; else NULL. */
const char *cachefile_text(struct cachefile *k, size_t offset);

/* A file that is being written, in steps of a millisecond or so; `= {0}`: none is. */
struct cachefile_write {
	struct cachefile_part parts[CACHEFILE_PARTS]; /* they stay as they are until the end */
	struct cachefile_head head;
	int folder, fd;
	char name[CACHEFILE_NAME], temporary[CACHEFILE_NAME + 16];
	uint64_t *sums;
	size_t n_blocks, at; /* blocks */
	uint8_t *block;
};

/*
 * Before the first step; the first part must not be empty. Files whose names end in ".syms" take no
 * more than @most bytes together: what was not used for longest goes. 0 or a negative errno.
 */
int cachefile_write_begin(struct cachefile_write *w, const struct cachefile_key *key,
			  const struct cachefile_part parts[CACHEFILE_PARTS], uint64_t most);
/* 1: there is more to do; 0: the file is there, whole, in place of the one before it; or a negative
 * errno: nothing has changed. It has ended if it is not 1. */
int cachefile_write_step(struct cachefile_write *w);
/* Gives up what is not finished. */
void cachefile_write_end(struct cachefile_write *w);

/* All of it at once. 0 or a negative errno: nothing has changed. */
int cachefile_store(const struct cachefile_key *key,
		    const struct cachefile_part parts[CACHEFILE_PARTS]);

/* Where @name is, if it is there; false: there is no folder of kept files. */
bool cachefile_path(const char *name, char *ret, size_t size);
/* How many files in @folder end in ".syms", and their bytes. 0 or a negative errno. */
int cachefile_usage(const char *folder, size_t *ret_n, uint64_t *ret_size);

/* For tests, which make such files: a checksum; how many blocks parts take; where these begin. */
uint64_t cachefile_sum(const void *p, size_t len);
size_t cachefile_blocks(uint64_t len);
uint64_t cachefile_body(uint64_t len);

#endif
