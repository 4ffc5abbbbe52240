// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a kept file of symbols: as they are, where nearly all are refused, and with lengths
 * and checksums made right, so that their content is trusted. The seed is the cache file of a
 * program of seven functions that tests/lib/elfmake.c made.
 */
#include "../../src/sym/user/symtab.h"
#include "fuzz.h"
#include "kontend/cachefile.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void ask_symbols(struct symtab *t, uint64_t addr, struct strpool *names)
{
	const struct symtab_entry *e = symtab_find(t, addr);
	const char *name = e && addr - e->addr < e->size ? symtab_show(t, e, names) : NULL;

	if (name)
		fuzz_require(strnlen(name, 5000) < 5000);
}

static void ask_all(struct symtab *t)
{
	struct strpool names = {0};

	for (size_t i = 0; i < t->n && i < 64; i++)
		if (cachefile_is_sound(t->kept, &t->entries[i], sizeof(*t->entries)))
			ask_symbols(t, t->entries[i].addr, &names);
	ask_symbols(t, 0, &names);
	ask_symbols(t, UINT64_MAX, &names);
	strpool_deinit(&names);
}

static void look_at(const uint8_t *data, size_t size)
{
	struct cachefile_head h = {0};
	struct cachefile_key key = {0};
	struct symtab t = {0};
	struct cachefile *k;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	memcpy(&h, data, size < sizeof(h) ? size : sizeof(h));
	memcpy(key.form, h.form, sizeof(key.form));
	memcpy(key.stamp, h.stamp, sizeof(key.stamp));
	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (cachefile_open_fd(&k, fd, &key) < 0)
		return;
	if (!symtab_from_kept(&t, k)) {
		cachefile_close(k);
		return;
	}
	ask_all(&t);
	symtab_deinit(&t);
}

/* As a file of @n entries that has all its checksums. */
static void seal(uint8_t *p, size_t size, uint64_t n)
{
	const uint64_t entries = n * sizeof(struct symtab_entry);
	struct cachefile_head h;
	uint64_t sums[64] = {0};

	memcpy(&h, p, sizeof(h));
	memcpy(h.magic, CACHEFILE_MAGIC, sizeof(h.magic));
	h.version = CACHEFILE_VERSION;
	h.block = CACHEFILE_BLOCK;
	h.len[0] = entries;
	h.len[1] = size - CACHEFILE_PAGE - entries;
	size_t blocks = cachefile_blocks(h.len[0] + h.len[1]);
	for (size_t i = 0; i < blocks; i++) {
		size_t from = CACHEFILE_PAGE + i * CACHEFILE_BLOCK, left = size - from;
		sums[i] = cachefile_sum(p + from, left < CACHEFILE_BLOCK ? left : CACHEFILE_BLOCK);
	}
	memcpy(p + sizeof(h), sums, blocks * sizeof(*sums));
	h.sums_sum = cachefile_sum(sums, blocks * sizeof(*sums));
	h.sum = cachefile_sum(&h, offsetof(struct cachefile_head, sum));
	memcpy(p, &h, sizeof(h));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at(data, size);
	if (size <= CACHEFILE_PAGE + sizeof(struct symtab_entry) || size > 64 * CACHEFILE_BLOCK)
		return 0;
	uint8_t *copy = malloc(size);
	fuzz_require(copy != NULL);
	memcpy(copy, data, size);
	size_t n = (size - CACHEFILE_PAGE) / sizeof(struct symtab_entry);
	seal(copy, size, n < 7 ? n : 7);
	look_at(copy, size);
	free(copy);
	return 0;
}
