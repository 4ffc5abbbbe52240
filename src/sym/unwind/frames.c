// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds .eh_frame_hdr for files that have only .eh_frame, as static programs do: reads each entry
 * of the section, and puts a sorted table after it, at addresses that the file does not use for
 * tables. Both unwinders and recordings then have tables of one form. Each entry costs a bounded
 * time, whatever its bytes are; an entry that makes no sense is left out, a damaged length ends the
 * list. See the Linux Standard Base, "Exception Frames".
 */
#include "internal.h"
#include "kontend/cursor.h"
#include "kontend/mem.h"
#include "kontend/sort.h"

#include <errno.h>
#include <string.h>

enum {
	LETTERS_MOST = 16, /* of an augmentation; compilers use 4 */
	/* DW_EH_PE_* */
	ENCODED_OMIT = 0xff,
	ENCODED_PLACE = 0x70, /* what the value is relative to */
	ENCODED_PCREL = 0x10,
	ENCODED_INDIRECT = 0x80,
	ENCODED_FORM = 0x0f,
};

struct entry {
	int32_t place, frame; /* relative to the header */
};

struct frames {
	const uint8_t *bytes;
	size_t len;
	uint64_t addr, header;
	bool is_64;
	uint64_t cie; /* offset of the last one that was read */
	int encoding; /* of its addresses, or ENCODED_OMIT: not known */
	struct entry *entries;
	size_t n, cap;
};

static uint8_t take_byte(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

/* Passes a LEB128 number. */
static void pass_number(struct cursor *c)
{
	for (int i = 0; i < 10; i++)
		if (!(take_byte(c) & 0x80))
			return;
	c->bad = true;
}

/* An address or a length; false: in a form that no compiler writes here. */
static bool take_value(const struct frames *f, struct cursor *c, unsigned encoding, uint64_t *ret)
{
	uint64_t at = f->addr + (uint64_t)(c->pos - f->bytes);
	unsigned relative = encoding & ENCODED_PLACE, form = encoding & ENCODED_FORM;
	uint16_t half = 0;

	if (encoding & ENCODED_INDIRECT || (relative && relative != ENCODED_PCREL))
		return false;
	if (!form)
		form = f->is_64 ? 4 : 3;
	if (form == 4 || form == 0xc) {
		*ret = cursor_u64(c);
	} else if (form == 3 || form == 0xb) {
		uint32_t word = cursor_u32(c);
		*ret = form == 3 ? word : (uint64_t)(int64_t)(int32_t)word;
	} else if (form == 2 || form == 0xa) {
		const void *p = cursor_bytes(c, sizeof(half));
		memcpy(&half, p ? p : &half, sizeof(half));
		*ret = form == 2 ? half : (uint64_t)(int64_t)(int16_t)half;
	} else {
		return false;
	}
	if (relative)
		*ret += at;
	return !c->bad;
}

/* How a CIE's addresses are encoded, from its version on. ENCODED_OMIT: not known. */
static int read_encoding(const struct frames *f, struct cursor c)
{
	uint8_t version = take_byte(&c), encoding;
	uint64_t unused;
	const char *letters = (const char *)c.pos;
	size_t n =
		strnlen(letters, cursor_left(&c) < LETTERS_MOST ? cursor_left(&c) : LETTERS_MOST);

	cursor_bytes(&c, n + 1);
	if (c.bad || letters[n] || (version != 1 && version != 3))
		return ENCODED_OMIT;
	if (!n)
		return 0;
	if (*letters != 'z')
		return ENCODED_OMIT;
	pass_number(&c);
	pass_number(&c);
	if (version == 1)
		take_byte(&c);
	else
		pass_number(&c);
	pass_number(&c);
	for (const char *l = letters + 1; *l; l++) {
		switch (*l) {
		case 'R':
			encoding = take_byte(&c);
			return c.bad ? ENCODED_OMIT : encoding;
		case 'L':
			take_byte(&c);
			break;
		case 'P':
			/* Only its size matters. */
			if (!take_value(f, &c, take_byte(&c) & ENCODED_FORM, &unused))
				return ENCODED_OMIT;
			break;
		case 'S':
		case 'B':
		case 'G':
			break;
		default:
			return ENCODED_OMIT;
		}
	}
	return c.bad ? ENCODED_OMIT : 0;
}

/* Passes the length of the entry at @at: *ret is the rest of it. False: none, or damaged. */
static bool take_entry(const struct frames *f, uint64_t at, struct cursor *ret, uint64_t *ret_id)
{
	struct cursor c = cursor_make(f->bytes + at, f->len - at);
	uint64_t len = cursor_u32(&c);
	bool is_long = len == UINT32_MAX;

	if (is_long)
		len = cursor_u64(&c);
	const uint8_t *p = cursor_bytes(&c, len);
	if (!p || len < sizeof(uint32_t))
		return false;
	*ret = cursor_make(p, len);
	*ret_id = is_long ? cursor_u64(ret) : cursor_u32(ret);
	return !ret->bad;
}

/* Remembers the CIE at @at, which thousands of functions share. */
static void use_cie(struct frames *f, uint64_t at)
{
	struct cursor c;
	uint64_t id;

	if (f->cie == at)
		return;
	f->cie = at;
	f->encoding = ENCODED_OMIT;
	if (at < f->len && take_entry(f, at, &c, &id) && !id)
		f->encoding = read_encoding(f, c);
}

static bool to_header(const struct frames *f, uint64_t addr, int32_t *ret)
{
	int64_t distance = (int64_t)(addr - f->header);

	*ret = (int32_t)distance;
	return distance == *ret;
}

/* A function's entry at @at; @c is at its address. 0 or -ENOMEM. */
static int add_frame(struct frames *f, uint64_t at, struct cursor c)
{
	unsigned encoding = (unsigned)f->encoding;
	struct entry e;
	uint64_t place, len;

	/* Functions that the linker has thrown away are at 0. */
	if (encoding == ENCODED_OMIT || !take_value(f, &c, encoding, &place) || !place ||
	    !take_value(f, &c, encoding & ENCODED_FORM, &len) || !len ||
	    !to_header(f, place, &e.place) || !to_header(f, f->addr + at, &e.frame))
		return 0;
	if (mem_grow(&f->entries, &f->cap, f->n, sizeof(e)) < 0)
		return -ENOMEM;
	f->entries[f->n++] = e;
	return 0;
}

static int read_frames(struct frames *f)
{
	uint64_t at = 0, id;
	struct cursor c;
	int code = 0;

	while (!code && f->len - at >= sizeof(uint32_t)) {
		/* An empty entry ends the list of one object file. */
		if (!memcmp(f->bytes + at, (uint8_t[4]){0}, 4)) {
			at += 4;
			continue;
		}
		if (!take_entry(f, at, &c, &id))
			return 0;
		/* The distance is from the identifier to the CIE. */
		uint64_t end = (uint64_t)(c.end - f->bytes), from = (uint64_t)(c.pos - f->bytes);
		uint64_t field = from - (from - at == 20 ? 8 : 4);
		if (id && id <= field) {
			use_cie(f, field - id);
			code = add_frame(f, at, c);
		}
		at = end;
	}
	return code;
}

static int is_before(const void *a, const void *b)
{
	return ((const struct entry *)a)->place < ((const struct entry *)b)->place;
}

/* Puts header and table after the section's bytes. */
static int append_table(struct unwind_tables *t, struct frames *f)
{
	const struct {
		uint8_t version, place, count_format, table;
		int32_t frames;
		uint32_t count;
	} head = {UNWIND_HEADER_VERSION,
		  UNWIND_ENCODED_PLACE,
		  UNWIND_ENCODED_COUNT,
		  UNWIND_ENCODED_TABLE,
		  (int32_t)(t->addr - (f->header + 4)),
		  (uint32_t)f->n};
	size_t at = (size_t)(f->header - t->addr), table = f->n * sizeof(*f->entries);
	struct entry *room = mem_calloc(f->n, sizeof(*room));
	/* Expressions are read by words that may begin before the last byte. */
	uint8_t *bytes = mem_calloc(1, at + sizeof(head) + table + sizeof(uint64_t));

	if (!room || !bytes) {
		mem_free(room);
		mem_free(bytes);
		return -ENOMEM;
	}
	sort_merge(f->entries, room, f->n, sizeof(*room), is_before);
	mem_free(room);
	memcpy(bytes, t->bytes, t->len);
	memcpy(bytes + at, &head, sizeof(head));
	memcpy(bytes + at + sizeof(head), f->entries, table);
	mem_free(t->bytes);
	t->bytes = bytes;
	t->len = at + sizeof(head) + table;
	t->header = f->header;
	t->entries = f->n;
	return 0;
}

int unwind_frames_index(struct unwind_tables *t, bool is_64)
{
	struct frames f = {.bytes = t->bytes,
			   .len = t->len,
			   .addr = t->addr,
			   .header = (t->addr + t->len + 7) & ~7ull,
			   .is_64 = is_64,
			   .cie = UINT64_MAX,
			   .encoding = ENCODED_OMIT};
	int code = f.header < f.addr ? 0 : read_frames(&f);

	if (!code && f.n)
		code = append_table(t, &f);
	if (code || !f.n) {
		mem_free(t->bytes);
		t->bytes = NULL;
		t->len = 0;
	}
	mem_free(f.entries);
	return code;
}
