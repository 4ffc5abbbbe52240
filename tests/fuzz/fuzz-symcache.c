// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a file of kept symbols: as they are, where nearly all are refused, and with lengths
 * and checksums made right, so that what they say is believed. The seed is what is kept of a
 * program of seven functions that tests/lib/elfmake.c made.
 */
#include "../../src/sym/user/symcache.h"
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void ask(struct symtab *t, uint64_t addr, struct strpool *names)
{
	const struct symtab_entry *e = symtab_find(t, addr);
	const char *name = e && addr - e->addr < e->size ? symtab_show(t, e, names) : NULL;

	if (name)
		fuzz_require(strnlen(name, 5000) < 5000);
}

static void look_at(const uint8_t *data, size_t size)
{
	struct symcache_head h = {0};
	struct symtab t = {0};
	struct strpool names = {0};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	memcpy(&h, data, size < sizeof(h) ? size : sizeof(h));
	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (symcache_open(&t, fd, &h.key) < 0)
		return;
	for (size_t i = 0; i < t.n && i < 64; i++)
		if (symcache_is_sound(t.kept, &t.entries[i], sizeof(*t.entries)))
			ask(&t, t.entries[i].addr, &names);
	ask(&t, 0, &names);
	ask(&t, UINT64_MAX, &names);
	symtab_deinit(&t);
	strpool_deinit(&names);
}

/* As a file of @n entries that has all its checksums. */
static void seal(uint8_t *p, size_t size, uint64_t n)
{
	const uint64_t entries = n * sizeof(struct symtab_entry);
	struct symcache_head h;
	uint64_t sums[64] = {0};

	memcpy(&h, p, sizeof(h));
	memcpy(h.magic, SYMCACHE_MAGIC, sizeof(h.magic));
	h.version = SYMCACHE_VERSION;
	h.block = SYMCACHE_BLOCK;
	h.n = n;
	h.body = SYMCACHE_PAGE;
	h.text_len = size - SYMCACHE_PAGE - entries;
	size_t blocks = symcache_blocks(h.n, h.text_len);
	for (size_t i = 0; i < blocks; i++) {
		size_t from = SYMCACHE_PAGE + i * SYMCACHE_BLOCK, left = size - from;
		sums[i] = symcache_sum(p + from, left < SYMCACHE_BLOCK ? left : SYMCACHE_BLOCK);
	}
	memcpy(p + sizeof(h), sums, blocks * sizeof(*sums));
	h.sums_sum = symcache_sum(sums, blocks * sizeof(*sums));
	h.sum = symcache_sum(&h, offsetof(struct symcache_head, sum));
	memcpy(p, &h, sizeof(h));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at(data, size);
	if (size <= SYMCACHE_PAGE + sizeof(struct symtab_entry) || size > 64 * SYMCACHE_BLOCK)
		return 0;
	uint8_t *copy = malloc(size);
	fuzz_require(copy != NULL);
	memcpy(copy, data, size);
	size_t n = (size - SYMCACHE_PAGE) / sizeof(struct symtab_entry);
	seal(copy, size, n < 7 ? n : 7);
	look_at(copy, size);
	free(copy);
	return 0;
}
