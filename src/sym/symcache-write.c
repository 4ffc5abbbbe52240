// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing a table, block by block, into a file of another name that nobody else can know: it gets
 * its own name when it is whole. The header comes last. Who is ended in between leaves a file that
 * is never read, which symcache_evict() removes.
 */
#include "kontend/cachefolder.h"
#include "kontend/mem.h"
#include "symcache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STEP = 64 /* blocks */ };

static void put_name(struct symcache_write *w)
{
	size_t at = 0;

	for (size_t i = 0; i < w->head.key.id_len; i++)
		at += (size_t)snprintf(w->name + at, sizeof(w->name) - at, "%02x",
				       w->head.key.id[i]);
	snprintf(w->name + at, sizeof(w->name) - at, ".syms");
	snprintf(w->temporary, sizeof(w->temporary), "%s.%d.new", w->name, (int)getpid());
}

int symcache_find(struct symtab *ret, const struct symcache_key *key)
{
	struct symcache_write names = {.head.key = *key};
	int folder = cachefolder_open_sub("symbols", false);

	if (folder < 0)
		return folder;
	put_name(&names);
	int fd = openat(folder, names.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	int r = fd < 0 ? -errno : 0;
	close(folder);
	if (r < 0)
		return r;
	if (!cachefolder_is_ours(fd, S_IFREG)) {
		close(fd);
		return -EPERM;
	}
	/* When it was used last is when it was changed last. */
	futimens(fd, NULL);
	return symcache_open(ret, fd, key);
}

static int open_file(struct symcache_write *w, uint64_t most)
{
	uint64_t size = w->head.body + w->head.n * sizeof(*w->table->entries) + w->head.text_len;

	w->folder = cachefolder_open_sub("symbols", true);
	if (w->folder < 0)
		return w->folder;
	int r = symcache_evict(w->folder, size, most);
	if (r < 0)
		return r;
	w->sums = mem_calloc(w->n_blocks, sizeof(*w->sums));
	w->block = mem_calloc(1, SYMCACHE_BLOCK);
	if (!w->sums || !w->block)
		return -ENOMEM;
	unlinkat(w->folder, w->temporary, 0);
	w->fd = openat(w->folder, w->temporary,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return w->fd < 0 ? -errno : 0;
}

int symcache_write_begin(struct symcache_write *w, const struct symtab *t,
			 const struct symcache_key *key, uint64_t most)
{
	*w = (struct symcache_write){.table = t, .folder = -1, .fd = -1};
	w->head = (struct symcache_head){.version = SYMCACHE_VERSION,
					 .block = SYMCACHE_BLOCK,
					 .n = t->n,
					 .text_len = t->text_len,
					 .key = *key};
	memcpy(w->head.magic, SYMCACHE_MAGIC, sizeof(w->head.magic));
	w->n_blocks = symcache_blocks(t->n, t->text_len);
	w->head.body = symcache_body(w->n_blocks);
	put_name(w);
	int r = open_file(w, most);
	if (r < 0)
		symcache_write_end(w);
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

/* Bytes of the body from @at on: entries, then texts. */
static size_t copy(const struct symcache_write *w, uint64_t at, uint8_t *to, size_t most)
{
	uint64_t entries = w->head.n * sizeof(*w->table->entries), done = 0;

	if (at < entries) {
		done = entries - at < most ? entries - at : most;
		memcpy(to, (const char *)w->table->entries + at, (size_t)done);
	}
	uint64_t text = at + done - entries, left = w->head.text_len - text;
	if (done < most) {
		left = left < most - done ? left : most - done;
		memcpy(to + done, w->table->text + text, (size_t)left);
		done += left;
	}
	return (size_t)done;
}

static int write_block(struct symcache_write *w)
{
	uint64_t at = w->at * (uint64_t)SYMCACHE_BLOCK;
	size_t n = copy(w, at, w->block, SYMCACHE_BLOCK);

	w->sums[w->at++] = symcache_sum(w->block, n);
	return write_at(w->fd, w->head.body + at, w->block, n);
}

static int finish(struct symcache_write *w)
{
	size_t n = w->n_blocks * sizeof(*w->sums);

	w->head.sums_sum = symcache_sum(w->sums, n);
	w->head.sum = symcache_sum(&w->head, offsetof(struct symcache_head, sum));
	int r = write_at(w->fd, sizeof(w->head), w->sums, n);
	r = r ? r : write_at(w->fd, 0, &w->head, sizeof(w->head));
	if (!r && close(w->fd) < 0)
		r = -errno;
	w->fd = r ? w->fd : -1;
	return r || renameat(w->folder, w->temporary, w->folder, w->name) == 0 ? r : -errno;
}

int symcache_write_step(struct symcache_write *w)
{
	int r = 0;

	for (size_t i = 0; i < STEP && w->at < w->n_blocks && r == 0; i++)
		r = write_block(w);
	if (r == 0 && w->at < w->n_blocks)
		return 1;
	r = r ? r : finish(w);
	symcache_write_end(w);
	return r;
}

void symcache_write_end(struct symcache_write *w)
{
	if (!w->table)
		return;
	if (w->fd >= 0)
		close(w->fd);
	/* If it has its own name by now, there is none of this. */
	if (w->folder >= 0) {
		unlinkat(w->folder, w->temporary, 0);
		close(w->folder);
	}
	mem_free(w->sums);
	mem_free(w->block);
	w->table = NULL;
}
