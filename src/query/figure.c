// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a field of a struct by its description. Whole numbers may have 1, 2, 4 or 8 bytes; rates
 * and shares are doubles; a text is a pointer, or an array of characters.
 */
#include "kontend/figure.h"

#include <string.h>

static uint64_t whole_number(const char *p, unsigned size)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (size) {
	case sizeof(u64):
		memcpy(&u64, p, size);
		return u64;
	case sizeof(u32):
		memcpy(&u32, p, size);
		return u32;
	case sizeof(u16):
		memcpy(&u16, p, size);
		return u16;
	default:
		return (uint8_t)*p;
	}
}

static int64_t signed_number(const char *p, unsigned size)
{
	uint64_t u = whole_number(p, size);

	return size == sizeof(int32_t) ? (int32_t)u : (int64_t)u;
}

static void take_text(struct value *v, const struct figure *f, const char *p)
{
	if (f->flags & FIGURE_CHARS)
		v->s = *p ? p : NULL;
	else
		memcpy(&v->s, p, sizeof(v->s));
	v->known &= v->s != NULL;
}

struct value figure_value(const struct figure *f, const void *base, uint32_t missing)
{
	const char *p = (const char *)base + f->offset;
	struct value v = {.known = !(f->needs & missing)};

	if (f->when_size)
		v.known &= whole_number((const char *)base + f->when, f->when_size) != 0;
	switch (f->type) {
	case COLUMN_TEXT:
		take_text(&v, f, p);
		break;
	case COLUMN_INT:
		v.i = signed_number(p, f->size);
		break;
	case COLUMN_RATE:
	case COLUMN_NSRATE:
	case COLUMN_NSDIFF:
	case COLUMN_PCT:
		memcpy(&v.d, p, sizeof(v.d));
		break;
	default:
		v.u = whole_number(p, f->size);
	}
	return v;
}
