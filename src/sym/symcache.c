// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kept table that is mapped: opening it reads the header and the checksums, a thousandth of it.
 * What is behind them is believed block by block, when it is first looked at, since a file that a
 * crash has left, or a disk has damaged, looks like a whole one. Offsets in entries are compared
 * with the lengths each time: so nothing of the file can lead anywhere but into it.
 */
#include "symcache.h"
#include "kontend/mapguard.h"
#include "kontend/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct symcache {
	uint8_t *map;
	size_t len, body;
	size_t text, text_len; /* where texts begin */
	struct mapguard guard;
	uint64_t *sums;
	uint8_t *seen; /* is a block known to be sound? */
	bool broken;
};

struct symcache_file symcache_file_of(const struct stat *st)
{
	return (struct symcache_file){
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns =
			(uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec,
		.ctime_ns =
			(uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec,
	};
}

/* Four sums beside each other, as multiplying takes longer than reading. */
uint64_t symcache_sum(const void *p, size_t len)
{
	const uint64_t prime = 0x9e3779b97f4a7c15;
	uint64_t lane[4] = {len, 1, 2, 3}, word;
	const uint8_t *at = p;

	for (; len >= 32; len -= 32, at += 32)
		for (size_t i = 0; i < 4; i++) {
			memcpy(&word, at + 8 * i, 8);
			lane[i] = (lane[i] ^ word) * prime;
			lane[i] ^= lane[i] >> 32;
		}
	for (; len; len--, at++)
		lane[0] = (lane[0] ^ *at) * prime;
	for (size_t i = 1; i < 4; i++)
		lane[0] = (lane[0] ^ lane[i] ^ lane[i] >> 29) * prime;
	return lane[0] ^ lane[0] >> 32;
}

size_t symcache_blocks(uint64_t n, uint64_t text_len)
{
	return (size_t)((n * sizeof(struct symtab_entry) + text_len + SYMCACHE_BLOCK - 1) /
			SYMCACHE_BLOCK);
}

uint64_t symcache_body(size_t n_blocks)
{
	uint64_t end = sizeof(struct symcache_head) + n_blocks * sizeof(uint64_t);

	return (end + SYMCACHE_PAGE - 1) / SYMCACHE_PAGE * SYMCACHE_PAGE;
}

static bool read_at(int fd, uint64_t offset, void *ret, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t k = pread(fd, (char *)ret + got, n - got, (off_t)(offset + got));
		if (k <= 0 && !(k < 0 && errno == EINTR))
			return false;
		got += k > 0 ? (size_t)k : 0;
	}
	return true;
}

/* Lengths are such that no sum of them is too large for what it is counted in. */
static int check_head(const struct symcache_head *h, uint64_t size, const struct symcache_key *key)
{
	if (memcmp(h->magic, SYMCACHE_MAGIC, sizeof(h->magic)) != 0 ||
	    symcache_sum(h, offsetof(struct symcache_head, sum)) != h->sum)
		return -EBADMSG;
	if (h->version != SYMCACHE_VERSION || memcmp(&h->key, key, sizeof(*key)) != 0)
		return -ENOENT;
	if (h->block != SYMCACHE_BLOCK || !h->n || h->n > SYMTAB_MOST ||
	    h->text_len > SYMTAB_TEXT_MOST ||
	    h->body != symcache_body(symcache_blocks(h->n, h->text_len)) ||
	    size != h->body + h->n * sizeof(struct symtab_entry) + h->text_len)
		return -EBADMSG;
	return 0;
}

static int read_sums(struct symcache *c, int fd, const struct symcache_head *h)
{
	size_t n = symcache_blocks(h->n, h->text_len);

	c->sums = mem_calloc(n, sizeof(*c->sums));
	c->seen = mem_calloc(n, sizeof(*c->seen));
	if (!c->sums || !c->seen)
		return -ENOMEM;
	if (!read_at(fd, sizeof(*h), c->sums, n * sizeof(*c->sums)) ||
	    symcache_sum(c->sums, n * sizeof(*c->sums)) != h->sums_sum)
		return -EBADMSG;
	return 0;
}

static int map(struct symcache *c, int fd, const struct symcache_head *h, uint64_t size)
{
	void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	c->map = p;
	c->len = (size_t)size;
	c->body = (size_t)h->body;
	c->text = c->body + (size_t)h->n * sizeof(struct symtab_entry);
	c->text_len = (size_t)h->text_len;
	mapguard_add(&c->guard, p, c->len);
	return 0;
}

static int open_with(struct symcache **ret, int fd, const struct symcache_key *key,
		     struct symcache_head *h)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !read_at(fd, 0, h, sizeof(*h)))
		return -EBADMSG;
	int r = check_head(h, (uint64_t)st.st_size, key);
	if (r < 0)
		return r;
	*ret = mem_calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	r = read_sums(*ret, fd, h);
	return r < 0 ? r : map(*ret, fd, h, (uint64_t)st.st_size);
}

int symcache_open(struct symtab *ret, int fd, const struct symcache_key *key)
{
	struct symcache *c = NULL;
	struct symcache_head h;
	int r = open_with(&c, fd, key, &h);

	close(fd);
	if (r < 0) {
		symcache_close(c);
		return r;
	}
	*ret = (struct symtab){.entries = (void *)(c->map + c->body),
			       .n = (size_t)h.n,
			       .text = (char *)(c->map + c->text),
			       .text_len = c->text_len,
			       .kept = c,
			       .sorted = true};
	return 0;
}

void symcache_close(struct symcache *c)
{
	if (!c)
		return;
	if (c->map) {
		mapguard_del(&c->guard);
		munmap(c->map, c->len);
	}
	mem_free(c->sums);
	mem_free(c->seen);
	mem_free(c);
}

bool symcache_is_broken(const struct symcache *c)
{
	return c->broken || c->guard.broken;
}

static bool block_is_sound(struct symcache *c, size_t block)
{
	size_t from = c->body + block * SYMCACHE_BLOCK, left = c->len - from;

	if (!c->seen[block]) {
		c->seen[block] = symcache_sum(c->map + from,
					      left < SYMCACHE_BLOCK ? left : SYMCACHE_BLOCK) ==
				 c->sums[block];
		c->broken |= !c->seen[block];
	}
	return !symcache_is_broken(c);
}

bool symcache_is_sound(struct symcache *c, const void *p, size_t len)
{
	size_t at = (size_t)((const uint8_t *)p - c->map) - c->body;

	for (size_t block = at / SYMCACHE_BLOCK; block <= (at + len - 1) / SYMCACHE_BLOCK; block++)
		if (!block_is_sound(c, block))
			return false;
	return true;
}

/* By pieces that each lie in one block. */
const char *symcache_text(struct symcache *c, uint32_t offset)
{
	size_t at = c->text + offset, end = c->text + c->text_len;

	for (size_t from = at; offset < c->text_len && from < end;) {
		size_t block = (from - c->body) / SYMCACHE_BLOCK;
		size_t to = c->body + (block + 1) * SYMCACHE_BLOCK;
		to = to < end ? to : end;
		if (!block_is_sound(c, block))
			return NULL;
		if (memchr(c->map + from, '\0', to - from))
			return (const char *)(c->map + at);
		from = to;
	}
	c->broken = true;
	return NULL;
}
