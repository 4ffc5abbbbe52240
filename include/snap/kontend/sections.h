/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SECTIONS_H
#define KONTEND_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Format of the payloads of snapshots: a magic number, then sections, each preceded by the number
 * and the size of its items, 8-byte aligned, in native byte order. A reader takes the known part of
 * a longer item and fills a shorter one with zeros; it skips unknown sections. So fields and
 * sections can be added without a new version; a change of meaning needs one.
 * A section is described by the offsets of its array, count and capacity in the struct. Its number
 * in the payload is its place in the list + 1: new sections are appended, and none is ever removed.
 */
struct section {
	uint32_t size;	 /* of an item in memory */
	uint16_t items;	 /* offset of the array pointer; a single item: of the item itself */
	uint16_t n, cap; /* offsets; 0: a single item that must be present */
};

struct sections {
	uint64_t magic;
	const struct section *list;
	uint32_t n;
	uint32_t size; /* of the struct */
	/* True if all references of the items are valid. */
	bool (*fits)(const void *s);
	int (*finish)(void *s); /* computes other members: 0 or -ENOMEM; or NULL */
};

#define SECTION_HEAD(S)                                                                            \
	{                                                                                          \
		sizeof(((S *)NULL)->head), offsetof(S, head), 0, 0                                 \
	}
#define SECTION(S, NAME)                                                                           \
	{                                                                                          \
		sizeof(*((S *)NULL)->NAME), offsetof(S, NAME), offsetof(S, n_##NAME),              \
			offsetof(S, cap_##NAME)                                                    \
	}
#define SECTIONS(MAGIC, S, LIST, FITS, FINISH)                                                     \
	{                                                                                          \
		MAGIC, LIST, sizeof(LIST) / sizeof(*(LIST)), sizeof(S), FITS, FINISH               \
	}

/* A block of texts is a section of one-byte items, limited only by the payload. */
enum { SECTIONS_ITEMS_MAX = 1 << 17 };

size_t sections_size(const struct sections *k, const void *s);
/* Writes sections_size() bytes, 8-byte aligned. */
void sections_encode(const struct sections *k, const void *s, void *ret);
/*
 * Fills the arrays, which are emptied first and grow as needed. 0, -ENOMEM, -EPROTO: another magic
 * number, or -EBADMSG: damaged; @s is empty then.
 */
int sections_decode(const struct sections *k, void *s, const void *data, size_t len);
void sections_clear(const struct sections *k, void *s); /* keeps the memory */
void sections_deinit(const struct sections *k, void *s);

/* Appends an item to the @n of *@items. 0 or -ENOMEM. */
int sections_add(void *items, size_t *n, size_t *cap, const void *item, size_t size);
/*
 * Offset of @text in the block *@texts of NUL-terminated texts, the first of them empty; reuses an
 * equal recent text. 0 for "" and without memory: a missing text is no reason to lose the rest.
 */
uint32_t sections_add_text(char **texts, size_t *n, size_t *cap, const char *text);
/* True if each of the @n_offsets is 0 or inside of the block, which ends with NUL. */
bool sections_texts_fit(const char *texts, size_t n, const uint32_t *offsets, size_t n_offsets);

/* Declares the functions of a kind of snapshot, struct P, from its description P_sections. */
#define SECTIONS_FUNCTIONS(P)                                                                      \
	extern const struct sections P##_sections;                                                 \
	static inline size_t P##_size(const struct P *s)                                           \
	{                                                                                          \
		return sections_size(&P##_sections, s);                                            \
	}                                                                                          \
	static inline void P##_encode(const struct P *s, void *ret)                                \
	{                                                                                          \
		sections_encode(&P##_sections, s, ret);                                            \
	}                                                                                          \
	static inline int P##_decode(struct P *s, const void *data, size_t len)                    \
	{                                                                                          \
		return sections_decode(&P##_sections, s, data, len);                               \
	}                                                                                          \
	static inline void P##_clear(struct P *s)                                                  \
	{                                                                                          \
		sections_clear(&P##_sections, s);                                                  \
	}                                                                                          \
	static inline void P##_deinit(struct P *s)                                                 \
	{                                                                                          \
		sections_deinit(&P##_sections, s);                                                 \
	}                                                                                          \
	/* Of the block `strings`; "" where there is none; borrowed until the snapshot changes. */ \
	static inline const char *P##_text(const struct P *s, uint32_t offset)                     \
	{                                                                                          \
		return offset < s->n_strings ? s->strings + offset : "";                           \
	}

/* P_add_ITEM(s, item) for the array NAME: 0 or -ENOMEM. */
#define SECTIONS_ADD(P, ITEM, NAME, TYPE)                                                          \
	static inline int P##_add_##ITEM(struct P *s, const TYPE *item)                            \
	{                                                                                          \
		return sections_add(&s->NAME, &s->n_##NAME, &s->cap_##NAME, item, sizeof(*item));  \
	}
#define SECTIONS_ADD_VALUE(P, ITEM, NAME, TYPE)                                                    \
	static inline int P##_add_##ITEM(struct P *s, TYPE item)                                   \
	{                                                                                          \
		return sections_add(&s->NAME, &s->n_##NAME, &s->cap_##NAME, &item, sizeof(item));  \
	}
#define SECTIONS_ADD_TEXT(P)                                                                       \
	static inline uint32_t P##_add_text(struct P *s, const char *text)                         \
	{                                                                                          \
		return sections_add_text(&s->strings, &s->n_strings, &s->cap_strings, text);       \
	}

#endif
