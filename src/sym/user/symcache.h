/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_SYMCACHE_H
#define KONTEND_SYM_SYMCACHE_H

#include "symtab.h"

#include <sys/stat.h>

/*
 * Sorted tables of symbols in files, by build id, to be mapped and asked without being read. Names
 * of files are "BUILDID.syms". A file is a header, a checksum of each block of what follows, and
 * from the next page on the entries and the texts of a struct symtab. What is looked at is compared
 * with its checksum before, a block at a time.
 */
enum {
	/* Of the form of the file and of what symbols become entries: other ones are not read. */
	SYMCACHE_VERSION = 1,
	SYMCACHE_BLOCK = 16 << 10,
	SYMCACHE_PAGE = 4 << 10,
	SYMCACHE_ID_MOST = 20,
};

/* A file that symbols were read from. A build id says it, but whoever wrote it could say any. */
struct symcache_file {
	uint64_t ino, size, mtime_ns, ctime_ns;
};

/* What a table is of. */
struct symcache_key {
	uint8_t id[SYMCACHE_ID_MOST]; /* build id */
	uint32_t id_len;
	struct symcache_file program, debug; /* debug: separate symbols; zeros: there are none */
};

#define SYMCACHE_MAGIC "kontsyms" /* without its end */

struct symcache_head {
	char magic[8];
	uint32_t version, block;
	uint64_t n, text_len, body; /* entries; bytes; where they begin */
	struct symcache_key key;
	uint64_t sums_sum; /* of the checksums */
	uint64_t sum;	   /* of all before */
};

struct symcache_file symcache_file_of(const struct stat *st);
uint64_t symcache_sum(const void *p, size_t len);
/* So many blocks, each with a checksum, has a table of that size; and where they begin. */
size_t symcache_blocks(uint64_t n, uint64_t text_len);
uint64_t symcache_body(size_t n_blocks);

/*
 * A table of symbols from a file, which is closed in any case. 0; -ENOENT: it is of something else,
 * or of another version; -EBADMSG: damaged; or another errno. symtab_deinit() closes it.
 */
int symcache_open(struct symtab *ret, int fd, const struct symcache_key *key);
void symcache_close(struct symcache *c); /* NULL is fine */
/* Are these bytes, which are in the mapping, as they were written? No: all of it is broken. */
bool symcache_is_sound(struct symcache *c, const void *p, size_t len);
bool symcache_is_broken(const struct symcache *c);
/* The text at @offset, if it is sound and ends; else NULL. */
const char *symcache_text(struct symcache *c, uint32_t offset);

/* A table that is being written, in steps of a millisecond or so. */
struct symcache_write {
	const struct symtab *table; /* NULL: none is; stays as it is until the end */
	struct symcache_head head;
	int folder, fd;
	char name[2 * SYMCACHE_ID_MOST + 8], temporary[2 * SYMCACHE_ID_MOST + 32];
	uint64_t *sums;
	size_t n_blocks, at; /* blocks */
	uint8_t *block;
};

/* In bytes: so much all files may take, and one of them. */
#define SYMCACHE_MOST (1ull << 30)

/* Opens the file of @key->id. As symcache_open(). */
int symcache_find(struct symtab *ret, const struct symcache_key *key);
/* Before the first step. @most: SYMCACHE_MOST but for tests. 0 or a negative errno. */
int symcache_write_begin(struct symcache_write *w, const struct symtab *t,
			 const struct symcache_key *key, uint64_t most);
/* 1: there is more to do; 0: the file is there; or a negative errno. It has ended if it is not 1.
 */
int symcache_write_step(struct symcache_write *w);
/* Gives up what is not finished; `= {0}` is fine. */
void symcache_write_end(struct symcache_write *w);

/* Makes room for @need bytes: what was not used for longest goes. 0 or a negative errno. */
int symcache_evict(int folder, uint64_t need, uint64_t most);
/* What all files together take. 0 or a negative errno. */
int symcache_usage(size_t *ret_n, uint64_t *ret_size);

#endif
