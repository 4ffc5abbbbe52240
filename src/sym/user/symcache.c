// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kept table that is mapped: opening it reads the header and the checksums, a thousandth of it.
 * What is behind them is believed block by block, when it is first looked at, since a file that a
 * crash has left, or a disk has damaged, looks like a whole one. Offsets in entries are compared
 * with the lengths each time: so nothing of the file can lead anywhere but into it.
 */
#include "symcache.h"
#include "kontend/cachefolder.h"
#include "kontend/mapguard.h"
#include "kontend/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
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

/*
 * Writing a table, block by block, into a file of another name that nobody else can know: it gets
 * its own name when it is whole. The header comes last. Who is ended in between leaves a file that
 * is never read, which symcache_evict() removes.
 */

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

/*
 * Room in the folder of tables. Several of us may do this at once: a file that is gone meanwhile is
 * no error, and one that is mapped stays until it is not.
 */

enum { FILES_MOST = 1 << 16, FORGOTTEN_S = 3600 };

struct kept {
	struct symcache_file file;
	char name[2 * SYMCACHE_ID_MOST + 8];
};

struct folder {
	struct kept *files;
	size_t n, cap;
	uint64_t size;
};

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

static int look_at(struct folder *f, int fd, const char *name)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	/* Who writes one now has begun it lately. */
	if (ends_in(name, ".new") && st.st_mtim.tv_sec + FORGOTTEN_S < time(NULL))
		unlinkat(fd, name, 0);
	if (!ends_in(name, ".syms") || strlen(name) >= sizeof(f->files->name) || f->n >= FILES_MOST)
		return 0;
	if (mem_grow(&f->files, &f->cap, f->n, sizeof(*f->files)) < 0)
		return -ENOMEM;
	struct kept *k = &f->files[f->n++];
	k->file = symcache_file_of(&st);
	strcpy(k->name, name);
	f->size += k->file.size;
	return 0;
}

static int list(struct folder *f, int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = again < 0 ? NULL : fdopendir(again);

	if (!d) {
		r = -errno;
		if (again >= 0)
			close(again);
		return r;
	}
	for (struct dirent *e; r == 0 && (e = readdir(d));)
		r = look_at(f, fd, e->d_name);
	closedir(d);
	return r;
}

static void remove_oldest(struct folder *f, int fd)
{
	size_t oldest = 0;

	for (size_t i = 1; i < f->n; i++)
		if (f->files[i].file.mtime_ns < f->files[oldest].file.mtime_ns)
			oldest = i;
	unlinkat(fd, f->files[oldest].name, 0);
	f->size -= f->files[oldest].file.size;
	f->files[oldest] = f->files[--f->n];
}

int symcache_evict(int folder, uint64_t need, uint64_t most)
{
	struct folder f = {0};
	int r = need > most ? -EFBIG : list(&f, folder);

	while (r == 0 && f.n && f.size + need > most)
		remove_oldest(&f, folder);
	mem_free(f.files);
	return r;
}

int symcache_usage(size_t *ret_n, uint64_t *ret_size)
{
	int folder = cachefolder_open_sub("symbols", false);
	struct folder f = {0};

	if (folder < 0)
		return folder;
	int r = list(&f, folder);
	close(folder);
	mem_free(f.files);
	*ret_n = f.n;
	*ret_size = f.size;
	return r;
}
