// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading: opening a file reads the header and the checksums, a thousandth of it. Each block is
 * verified when it is first used, since a file truncated by a crash or damaged by a disk looks
 * complete.
 * Writing: block by block, into a file with another name, which gets its final name when it is
 * complete. The header is written last. A process that ends in between leaves a file that is never
 * read, and that a later writer removes.
 */
#include "kontend/cachefile.h"
#include "cachedir.h"
#include "kontend/fdio.h"
#include "kontend/mapguard.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct cachefile {
	uint8_t *map;
	size_t size, body, len[CACHEFILE_PARTS];
	struct mapguard guard;
	uint64_t *sums;
	uint8_t *seen; /* blocks verified */
	bool broken;
};

/* Four independent sums, as a multiplication takes longer than a read. */
uint64_t cachefile_sum(const void *p, size_t len)
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

size_t cachefile_blocks(uint64_t len)
{
	return (size_t)((len + CACHEFILE_BLOCK - 1) / CACHEFILE_BLOCK);
}

uint64_t cachefile_body(uint64_t len)
{
	uint64_t end = sizeof(struct cachefile_head) + cachefile_blocks(len) * sizeof(uint64_t);

	return (end + CACHEFILE_PAGE - 1) / CACHEFILE_PAGE * CACHEFILE_PAGE;
}

/* A file of another version is not damaged; its checksum may be at another offset. */
static int check_head(const struct cachefile_head *h, uint64_t size,
		      const struct cachefile_key *key)
{
	if (memcmp(h->magic, CACHEFILE_MAGIC, sizeof(h->magic)) != 0 ||
	    h->version != CACHEFILE_VERSION)
		return -ENOENT;
	if (cachefile_sum(h, offsetof(struct cachefile_head, sum)) != h->sum)
		return -EBADMSG;
	if (h->block != CACHEFILE_BLOCK || memcmp(h->form, key->form, sizeof(h->form)) != 0 ||
	    memcmp(h->stamp, key->stamp, sizeof(h->stamp)) != 0)
		return -ENOENT;
	/* Compare each length first, so that their sum cannot overflow. */
	if (h->len[0] > size || h->len[1] > size ||
	    size != cachefile_body(h->len[0] + h->len[1]) + h->len[0] + h->len[1])
		return -EBADMSG;
	return 0;
}

static int read_sums(struct cachefile *k, int fd, const struct cachefile_head *h)
{
	size_t n = cachefile_blocks(h->len[0] + h->len[1]);

	k->sums = mem_calloc(n, sizeof(*k->sums));
	k->seen = mem_calloc(n, sizeof(*k->seen));
	if (!k->sums || !k->seen)
		return -ENOMEM;
	if (!fdio_read_at(fd, sizeof(*h), k->sums, n * sizeof(*k->sums)) ||
	    cachefile_sum(k->sums, n * sizeof(*k->sums)) != h->sums_sum)
		return -EBADMSG;
	return 0;
}

static int map(struct cachefile *k, int fd, const struct cachefile_head *h, uint64_t size)
{
	void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	k->map = p;
	k->size = (size_t)size;
	for (size_t i = 0; i < CACHEFILE_PARTS; i++)
		k->len[i] = (size_t)h->len[i];
	k->body = k->size - k->len[0] - k->len[1];
	mapguard_add(&k->guard, p, k->size);
	return 0;
}

static int open_with(struct cachefile **ret, int fd, const struct cachefile_key *key)
{
	struct cachefile_head h;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !fdio_read_at(fd, 0, &h, sizeof(h)))
		return -EBADMSG;
	int r = check_head(&h, (uint64_t)st.st_size, key);
	if (r < 0)
		return r;
	struct cachefile *k = *ret = mem_calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	r = read_sums(k, fd, &h);
	return r < 0 ? r : map(k, fd, &h, (uint64_t)st.st_size);
}

int cachefile_open_fd(struct cachefile **ret, int fd, const struct cachefile_key *key)
{
	*ret = NULL;
	int r = open_with(ret, fd, key);
	close(fd);
	if (r < 0) {
		cachefile_close(*ret);
		*ret = NULL;
	}
	return r;
}

int cachefile_open(struct cachefile **ret, const struct cachefile_key *key)
{
	int folder = cachedir_open(key->folder, false);

	*ret = NULL;
	if (folder < 0)
		return folder;
	int fd = openat(folder, key->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	int r = fd < 0 ? -errno : 0;
	close(folder);
	if (r < 0)
		return r;
	if (!cachedir_is_ours(fd, S_IFREG, cachedir_is_for_all(key->folder))) {
		close(fd);
		return -EPERM;
	}
	/* The modification time is the time of the last use. */
	futimens(fd, NULL);
	return cachefile_open_fd(ret, fd, key);
}

void cachefile_close(struct cachefile *k)
{
	if (!k)
		return;
	if (k->map) {
		mapguard_del(&k->guard);
		munmap(k->map, k->size);
	}
	mem_free(k->sums);
	mem_free(k->seen);
	mem_free(k);
}

void cachefile_unload(const struct cachefile *k)
{
	madvise(k->map, k->size, MADV_DONTNEED);
}

struct cachefile_part cachefile_part(const struct cachefile *k, size_t i)
{
	return (struct cachefile_part){k->map + k->body + (i ? k->len[0] : 0), k->len[i]};
}

bool cachefile_is_broken(const struct cachefile *k)
{
	return k->broken || k->guard.broken;
}

static bool block_is_sound(struct cachefile *k, size_t block)
{
	size_t from = k->body + block * CACHEFILE_BLOCK, left = k->size - from;

	if (!k->seen[block]) {
		k->seen[block] = cachefile_sum(k->map + from,
					       left < CACHEFILE_BLOCK ? left : CACHEFILE_BLOCK) ==
				 k->sums[block];
		k->broken |= !k->seen[block];
	}
	return !cachefile_is_broken(k);
}

bool cachefile_is_sound(struct cachefile *k, const void *p, size_t len)
{
	size_t at = (size_t)((const uint8_t *)p - k->map) - k->body;

	for (size_t block = at / CACHEFILE_BLOCK; len && block <= (at + len - 1) / CACHEFILE_BLOCK;
	     block++)
		if (!block_is_sound(k, block))
			return false;
	return true;
}

/* Verifies piece by piece, each within one block. */
const char *cachefile_text(struct cachefile *k, size_t offset)
{
	size_t at = k->size - k->len[1] + offset;

	for (size_t from = at; offset < k->len[1] && from < k->size;) {
		size_t block = (from - k->body) / CACHEFILE_BLOCK;
		size_t to = k->body + (block + 1) * CACHEFILE_BLOCK;
		to = to < k->size ? to : k->size;
		if (!block_is_sound(k, block))
			return NULL;
		if (memchr(k->map + from, '\0', to - from))
			return (const char *)(k->map + at);
		from = to;
	}
	k->broken = true;
	return NULL;
}

enum { STEP = 64 /* blocks */ };

static int open_file(struct cachefile_write *w, const char *folder, uint64_t most)
{
	uint64_t len = w->head.len[0] + w->head.len[1];

	w->folder = cachedir_open(folder, true);
	if (w->folder < 0)
		return w->folder;
	int r = cachedir_make_room(w->folder, cachefile_body(len) + len, most);
	if (r < 0)
		return r;
	w->sums = mem_calloc(w->n_blocks, sizeof(*w->sums));
	w->block = mem_calloc(1, CACHEFILE_BLOCK);
	if (!w->sums || !w->block)
		return -ENOMEM;
	unlinkat(w->folder, w->temporary, 0);
	w->fd = openat(w->folder, w->temporary,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return -errno;
	return cachedir_is_for_all(folder) && fchmod(w->fd, 0644) < 0 ? -errno : 0;
}

int cachefile_write_begin(struct cachefile_write *w, const struct cachefile_key *key,
			  const struct cachefile_part parts[CACHEFILE_PARTS], uint64_t most)
{
	*w = (struct cachefile_write){.folder = -1, .fd = -1};
	w->head = (struct cachefile_head){.version = CACHEFILE_VERSION, .block = CACHEFILE_BLOCK};
	memcpy(w->head.magic, CACHEFILE_MAGIC, sizeof(w->head.magic));
	memcpy(w->head.form, key->form, sizeof(w->head.form));
	memcpy(w->head.stamp, key->stamp, sizeof(w->head.stamp));
	for (size_t i = 0; i < CACHEFILE_PARTS; i++) {
		w->parts[i] = parts[i];
		w->head.len[i] = parts[i].len;
	}
	w->n_blocks = cachefile_blocks(w->head.len[0] + w->head.len[1]);
	snprintf(w->name, sizeof(w->name), "%s", key->name);
	/* Threads of one process may write the same file. */
	snprintf(w->temporary, sizeof(w->temporary), "%s.%d.new", w->name, (int)gettid());
	int r = open_file(w, key->folder, most);
	if (r < 0)
		cachefile_write_end(w);
	return r;
}

static int write_at(int fd, uint64_t offset, const void *p, size_t n)
{
	for (size_t put = 0; put < n;) {
		ssize_t k = pwrite(fd, (const char *)p + put, n - put, (off_t)(offset + put));
		if (k < 0 && errno != EINTR)
			return -errno;
		put += k > 0 ? (size_t)k : 0;
	}
	return 0;
}

/* Copies bytes of the parts from @at on. */
static size_t copy(const struct cachefile_write *w, uint64_t at, uint8_t *to, size_t most)
{
	size_t done = 0;

	for (size_t i = 0; i < CACHEFILE_PARTS && done < most; i++) {
		const struct cachefile_part *p = &w->parts[i];
		if (at < p->len) {
			size_t left = p->len - (size_t)at, room = most - done;
			size_t n = left < room ? left : room;
			memcpy(to + done, (const char *)p->bytes + at, n);
			done += n;
			at = 0;
		} else {
			at -= p->len;
		}
	}
	return done;
}

static int write_block(struct cachefile_write *w)
{
	uint64_t at = w->at * (uint64_t)CACHEFILE_BLOCK;
	size_t n = copy(w, at, w->block, CACHEFILE_BLOCK);

	w->sums[w->at++] = cachefile_sum(w->block, n);
	return write_at(w->fd, cachefile_body(w->head.len[0] + w->head.len[1]) + at, w->block, n);
}

static int finish(struct cachefile_write *w)
{
	size_t n = w->n_blocks * sizeof(*w->sums);

	w->head.sums_sum = cachefile_sum(w->sums, n);
	w->head.sum = cachefile_sum(&w->head, offsetof(struct cachefile_head, sum));
	int r = write_at(w->fd, sizeof(w->head), w->sums, n);
	r = r ? r : write_at(w->fd, 0, &w->head, sizeof(w->head));
	if (!r) {
		r = close(w->fd) < 0 ? -errno : 0;
		w->fd = -1;
	}
	return r || renameat(w->folder, w->temporary, w->folder, w->name) == 0 ? r : -errno;
}

int cachefile_write_step(struct cachefile_write *w)
{
	int r = 0;

	for (size_t i = 0; i < STEP && w->at < w->n_blocks && r == 0; i++)
		r = write_block(w);
	if (r == 0 && w->at < w->n_blocks)
		return 1;
	r = r ? r : finish(w);
	cachefile_write_end(w);
	return r;
}

void cachefile_write_end(struct cachefile_write *w)
{
	if (!w->parts[0].bytes)
		return;
	if (w->fd >= 0)
		close(w->fd);
	/* After the final rename the temporary name does not exist. */
	if (w->folder >= 0) {
		unlinkat(w->folder, w->temporary, 0);
		close(w->folder);
	}
	mem_free(w->sums);
	mem_free(w->block);
	w->parts[0].bytes = NULL;
}

int cachefile_store(const struct cachefile_key *key,
		    const struct cachefile_part parts[CACHEFILE_PARTS])
{
	struct cachefile_write w;
	int r = cachefile_write_begin(&w, key, parts, UINT64_MAX);

	if (r == 0)
		while ((r = cachefile_write_step(&w)) > 0)
			;
	return r;
}
