// SPDX-License-Identifier: GPL-2.0-only
/*
 * An array sorted by address. Sorting is a stable radix sort with 11-bit digits, lowest first, in
 * steps of some milliseconds however many symbols there are, so that the screen can be drawn in
 * between. Symbols nest (labels in functions), seldom deeply: a lookup goes back a few entries for
 * the nearest one that reaches the address.
 * Of several symbols at one address the same one is kept as in perf, so that both show the same
 * names.
 */
#include "symtab.h"
#include "kontend/cachefile.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "optional.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
	STEP = 1 << 16,	  /* entries */
	NAME_MOST = 4096, /* shown bytes of a name */
	NEST_MOST = 16,
	LAST_SIZE = 4096, /* size of a last symbol without one */
};

enum sort_phase { SORT_COUNT, SORT_MOVE, SORT_MERGE, SORT_SIZES };

/* Progress of sorting: a phase goes through all entries. */
struct symtab_sort {
	enum sort_phase phase;
	size_t pos, kept;
	unsigned bit; /* sorted by the bits below */
	size_t at[DIGITS];
};

void symtab_deinit(struct symtab *t)
{
	if (!t->kept) {
		mem_free(t->entries);
		mem_free(t->text);
	}
	cachefile_close(t->kept);
	mem_free(t->sort);
	mem_free(t->room);
	mem_free(t->shown);
	mem_free(t->shown_at);
	*t = (struct symtab){0};
}

bool symtab_from_kept(struct symtab *ret, struct cachefile *k)
{
	struct cachefile_part entries = cachefile_part(k, 0), text = cachefile_part(k, 1);
	size_t n = entries.len / sizeof(*ret->entries);

	if (!n || entries.len % sizeof(*ret->entries) || n > SYMTAB_MOST ||
	    text.len > SYMTAB_TEXT_MOST)
		return false;
	*ret = (struct symtab){.entries = (void *)(uintptr_t)entries.bytes,
			       .n = n,
			       .text = (void *)(uintptr_t)text.bytes,
			       .text_len = text.len,
			       .kept = k,
			       .sorted = true};
	return true;
}

int symtab_reserve_text(struct symtab *t, size_t len)
{
	size_t cap = t->text_cap ? t->text_cap : 4096;

	if (len > SYMTAB_TEXT_MOST - t->text_len)
		return -EFBIG;
	if (t->text_len + len <= t->text_cap)
		return 0;
	while (cap < t->text_len + len)
		cap *= 2;
	char *p = mem_resize(t->text, cap, 1);
	if (!p)
		return -ENOMEM;
	t->text = p;
	t->text_cap = cap;
	return 0;
}

int symtab_add(struct symtab *t, const struct symtab_entry *e)
{
	if (t->n >= SYMTAB_MOST)
		return -EFBIG;
	if (t->n >= t->cap && mem_grow(&t->entries, &t->cap, t->n, sizeof(*t->entries)) < 0)
		return -ENOMEM;
	t->entries[t->n++] = *e;
	t->most = e->addr > t->most ? e->addr : t->most;
	return 0;
}

int symtab_add_text(struct symtab *t, const struct symtab_entry *e, const char *name, size_t len)
{
	struct symtab_entry with = *e;
	int code = symtab_reserve_text(t, len + 1);

	if (code < 0)
		return code;
	with.name = (uint32_t)t->text_len;
	memcpy(t->text + t->text_len, name, len);
	t->text[t->text_len + len] = '\0';
	code = symtab_add(t, &with);
	t->text_len += code ? 0 : len + 1;
	return code;
}

uint8_t symtab_rank(const struct elfimg_symbol *s)
{
	return (uint8_t)((s->size ? 4 : 0) | (s->bind != STB_WEAK ? 2 : 0) |
			 (s->bind == STB_GLOBAL ? 1 : 0));
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* True if @a is a better name than @b for their common address. */
static bool is_better(const struct symtab *t, const struct symtab_entry *a,
		      const struct symtab_entry *b)
{
	if (t->latest)
		return true;
	if (a->rank != b->rank)
		return a->rank > b->rank;
	const char *x = t->text + a->name, *y = t->text + b->name;
	if (underscores(x) != underscores(y))
		return underscores(x) < underscores(y);
	return strlen(x) > strlen(y);
}

static unsigned digit(const struct symtab *t, const struct symtab_entry *e)
{
	return e->addr >> t->sort->bit & (DIGITS - 1);
}

static int begin_sort(struct symtab *t)
{
	if (t->sort)
		return 0;
	/* Sorting moves the entries. */
	mem_free(t->shown_at);
	t->shown_at = NULL;
	t->n_shown = 0;
	t->sort = mem_calloc(1, sizeof(*t->sort));
	t->room = mem_calloc(t->n + 1, sizeof(*t->room));
	if (!t->sort || !t->room) {
		mem_free(t->sort);
		mem_free(t->room);
		t->sort = NULL;
		t->room = NULL;
		return -ENOMEM;
	}
	t->sorted = false;
	return 0;
}

/* Counts each digit, then computes the first position of each. */
static void count(struct symtab *t, size_t end)
{
	struct symtab_sort *s = t->sort;

	for (; s->pos < end; s->pos++)
		s->at[digit(t, &t->entries[s->pos])]++;
	if (end < t->n)
		return;
	for (size_t i = 0, sum = 0; i < DIGITS; i++) {
		size_t n = s->at[i];
		s->at[i] = sum;
		sum += n;
	}
	s->pos = 0;
	s->phase = SORT_MOVE;
}

static void move(struct symtab *t, size_t end)
{
	struct symtab_sort *s = t->sort;

	for (; s->pos < end; s->pos++) {
		const struct symtab_entry *e = &t->entries[s->pos];
		t->room[s->at[digit(t, e)]++] = *e;
	}
	if (end < t->n)
		return;
	struct symtab_entry *to = t->room;
	t->room = t->entries;
	t->entries = to;
	t->cap = t->n;
	memset(s->at, 0, sizeof(s->at));
	s->bit += DIGIT_BITS;
	s->pos = 0;
	s->phase = s->bit < 64 && t->most >> s->bit ? SORT_COUNT : SORT_MERGE;
}

/* Keeps the best entry per address. */
static void merge(struct symtab *t, size_t end)
{
	struct symtab_sort *s = t->sort;

	for (; s->pos < end; s->pos++) {
		const struct symtab_entry *e = &t->entries[s->pos];
		if (!s->kept || t->entries[s->kept - 1].addr != e->addr)
			t->entries[s->kept++] = *e;
		else if (is_better(t, e, &t->entries[s->kept - 1]))
			t->entries[s->kept - 1] = *e;
	}
	if (end < t->n)
		return;
	t->n = s->kept;
	s->pos = 0;
	s->phase = SORT_SIZES;
}

/* A symbol without a size reaches to the next one. */
static void set_sizes(struct symtab *t, size_t end)
{
	struct symtab_sort *s = t->sort;

	for (; s->pos < end; s->pos++) {
		struct symtab_entry *e = &t->entries[s->pos];
		bool is_last = s->pos + 1 == t->n || e[1].variable;
		uint64_t gap = is_last ? LAST_SIZE : e[1].addr - e->addr;
		if (!e->size)
			e->size = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
	}
	if (end < t->n)
		return;
	mem_free(t->room);
	mem_free(s);
	t->room = NULL;
	t->sort = NULL;
	t->sorted = true;
}

int symtab_sort_step(struct symtab *t, bool *ret_more)
{
	int code = begin_sort(t);

	if (code < 0)
		return code;
	size_t left = t->n - t->sort->pos, end = t->sort->pos + (left < STEP ? left : STEP);
	switch (t->sort->phase) {
	case SORT_COUNT:
		count(t, end);
		break;
	case SORT_MOVE:
		move(t, end);
		break;
	case SORT_MERGE:
		merge(t, end);
		break;
	default:
		set_sizes(t, end);
	}
	*ret_more = !t->sorted;
	return 0;
}

bool symtab_is_damaged(const struct symtab *t)
{
	return t->kept && cachefile_is_broken(t->kept);
}

/* Memory outside of a cache file is trusted: kontend wrote it. */
static bool is_sound(const struct symtab *t, const void *p, size_t len)
{
	return !t->kept || cachefile_is_sound(t->kept, p, len);
}

/* Number of entries that begin at or below @addr; SIZE_MAX: the cache file is damaged. */
static size_t find_end(const struct symtab *t, uint64_t addr)
{
	size_t low = 0, high = t->sorted ? t->n : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (!is_sound(t, &t->entries[mid], sizeof(*t->entries)))
			return SIZE_MAX;
		if (t->entries[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr)
{
	size_t end = find_end(t, addr);

	for (size_t i = 0; end != SIZE_MAX && i < NEST_MOST && i < end; i++) {
		const struct symtab_entry *e = &t->entries[end - 1 - i];
		if (!is_sound(t, e, sizeof(*e)))
			return NULL;
		if (addr - e->addr < e->size)
			return e;
	}
	return NULL;
}

const char *symtab_name(const struct symtab *t, const struct symtab_entry *e)
{
	if (!t->kept)
		return t->text + e->name;
	return is_sound(t, e, sizeof(*e)) ? cachefile_text(t->kept, e->name) : NULL;
}

/* Slot for the name that an entry is shown by; NULL: no memory. */
static uint32_t *shown_at(struct symtab *t, const struct symtab_entry *e)
{
	if (!t->shown_at)
		t->shown_at = mem_calloc(t->n, sizeof(*t->shown_at));
	return t->shown_at ? &t->shown_at[e - t->entries] : NULL;
}

const char *symtab_show(struct symtab *t, const struct symtab_entry *e, struct strpool *names)
{
	char raw[NAME_MOST], clean[NAME_MOST + 8];
	uint32_t *at = shown_at(t, e);

	if (at && *at)
		return t->shown[*at - 1];
	if (!at || (t->n_shown >= t->cap_shown &&
		    mem_grow(&t->shown, &t->cap_shown, t->n_shown, sizeof(*t->shown)) < 0))
		return NULL;
	const char *name = symtab_name(t, e);
	if (!name)
		return NULL;
	if (demangle(name, raw, sizeof(raw)))
		name = raw;
	text_clean(clean, NAME_MOST, name);
	if (e->plt)
		strcat(clean, "@plt");
	const char *shown = strpool_intern(names, clean);
	if (!shown)
		return NULL;
	t->shown[t->n_shown++] = shown;
	*at = (uint32_t)t->n_shown;
	return shown;
}
