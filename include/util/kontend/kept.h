/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KEPT_H
#define KONTEND_KEPT_H

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
	KEPT_VERSION = 1,
	KEPT_BLOCK = 16 << 10,
	KEPT_PAGE = 4 << 10,
	KEPT_STAMP = 96,
	KEPT_NAME = 64,
	KEPT_PARTS = 2,
};

#define KEPT_MAGIC "kontkept" /* without its end */

/* Which file it is, and what it has to be of to be taken. */
struct kept_key {
	/* In the folder of kept files: "symbols"; NULL: that folder itself. With a slash in front:
	 * a folder for all users, who believe root's files and their own. */
	const char *folder;
	char name[KEPT_NAME];
	char form[8];		   /* what the parts are, with a version: "symtab 1" */
	uint8_t stamp[KEPT_STAMP]; /* what they were made from: another stamp, another content */
};

struct kept_head {
	char magic[8];
	uint32_t version, block;
	char form[8];
	uint8_t stamp[KEPT_STAMP];
	uint64_t len[KEPT_PARTS];
	uint64_t sums_sum; /* of the checksums */
	uint64_t sum;	   /* of all before */
};

struct kept_part {
	const void *bytes;
	size_t len;
};

struct kept;

/*
 * 0; -EPERM: somebody else may have written it; -EBADMSG: damaged; or another errno (-ENOENT: there
 * is none, or it is of another version, form or stamp).
 */
int kept_open(struct kept **ret, const struct kept_key *key);
/* The same of a file that is open; @fd is closed in any case. */
int kept_open_fd(struct kept **ret, int fd, const struct kept_key *key);
void kept_close(struct kept *k); /* NULL is fine */
/* To be looked at after kept_is_sound() or kept_text(). */
struct kept_part kept_part(const struct kept *k, size_t i);
/* Are these bytes, which are in a part, as they were written? No: all of it is broken. */
bool kept_is_sound(struct kept *k, const void *p, size_t len);
bool kept_is_broken(const struct kept *k);
/* The text at @offset of the last part, if it is sound and ends; else NULL. */
const char *kept_text(struct kept *k, size_t offset);

/* A file that is being written, in steps of a millisecond or so; `= {0}`: none is. */
struct kept_write {
	struct kept_part parts[KEPT_PARTS]; /* they stay as they are until the end */
	struct kept_head head;
	int folder, fd;
	char name[KEPT_NAME], temporary[KEPT_NAME + 16];
	uint64_t *sums;
	size_t n_blocks, at; /* blocks */
	uint8_t *block;
};

/*
 * Before the first step; the first part must not be empty. Files whose names end in ".syms" take no
 * more than @most bytes together: what was not used for longest goes. 0 or a negative errno.
 */
int kept_write_begin(struct kept_write *w, const struct kept_key *key,
		     const struct kept_part parts[KEPT_PARTS], uint64_t most);
/* 1: there is more to do; 0: the file is there, whole, in place of the one before it; or a negative
 * errno: nothing has changed. It has ended if it is not 1. */
int kept_write_step(struct kept_write *w);
/* Gives up what is not finished. */
void kept_write_end(struct kept_write *w);

/* All of it at once. 0 or a negative errno: nothing has changed. */
int kept_store(const struct kept_key *key, const struct kept_part parts[KEPT_PARTS]);

/* Where @name is, if it is there; false: there is no folder of kept files. */
bool kept_path(const char *name, char *ret, size_t size);
/* How many files in @folder end in ".syms", and their bytes. 0 or a negative errno. */
int kept_usage(const char *folder, size_t *ret_n, uint64_t *ret_size);

/* For tests, which make such files: a checksum; how many blocks parts take; where these begin. */
uint64_t kept_sum(const void *p, size_t len);
size_t kept_blocks(uint64_t len);
uint64_t kept_body(uint64_t len);

#endif
