// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of Java. The head of an object leads to its class, the class to an object of its own,
 * java.lang.Class, and that back to the class: memory that is no object does not have this circle.
 * The collector moves objects and does not stop for us, so the same circle shows that an address is
 * still that of an object.
 *
 * Where a field is depends on the version and on settings. Each class has a list of its fields with
 * their names; until version 20 six half words a field, then a stream of numbers of 1 to 5 bytes.
 */
#include "internal.h"

#include <string.h>

enum { MARK_SHIFT = 42, KLASS_AT = 8, SHIFT_MOST = 16 };
enum { SUPERS_MOST = 32, FIELDS_MOST = 1024, NAME_MOST = 64 };
enum { WORDS = 6, W_NAME = 1, W_LOW = 4, W_HIGH, W_TAG = 2 }; /* of a field */
/* Flags of a field in the stream: more numbers follow. */
enum { F_VALUE = 1, F_GENERIC = 4, F_CONTENDED = 16 };

static bool read_u16(const struct runtime_process *p, uint64_t addr, uint16_t *ret)
{
	return !(addr & 1) && p->read(p->arg, addr, ret, sizeof(*ret));
}

static uint64_t widen(uint64_t base, uint64_t shift, uint32_t value)
{
	return value && shift <= SHIFT_MOST ? base + ((uint64_t)value << shift) : 0;
}

static bool read_klass(const struct java_object *o, uint64_t *ret)
{
	const struct java_places *j = o->j;
	uint64_t mark;
	uint32_t value;

	if (!j->compact && !j->short_klass)
		return runtime_read_u64(o->process, o->at + KLASS_AT, ret);
	if (!java_has(j, JAVA_KLASS_BASE) || !java_has(j, JAVA_KLASS_SHIFT))
		return false;
	if (!j->compact && !runtime_read_u32(o->process, o->at + KLASS_AT, &value))
		return false;
	if (j->compact && !runtime_read_u64(o->process, o->at, &mark))
		return false;
	*ret = widen(j->at[JAVA_KLASS_BASE], j->at[JAVA_KLASS_SHIFT],
		     j->compact ? (uint32_t)(mark >> MARK_SHIFT) : value);
	return true;
}

/* The circle. */
static bool is_klass(const struct runtime_process *p, const struct java_places *j, uint64_t klass)
{
	uint64_t handle, mirror, back;

	return klass && java_has(j, JAVA_KLASS_MIRROR) && java_has(j, JAVA_MIRROR_KLASS) &&
	       runtime_read_u64(p, klass + j->at[JAVA_KLASS_MIRROR], &handle) &&
	       runtime_read_u64(p, handle, &mirror) &&
	       runtime_read_u64(p, mirror + j->at[JAVA_MIRROR_KLASS], &back) && back == klass;
}

static bool prove(struct java_object *o)
{
	return o->at && read_klass(o, &o->klass) && is_klass(o->process, o->j, o->klass);
}

bool java_object_from(const struct runtime_process *p, const struct java_places *j, uint64_t word,
		      struct java_object *ret)
{
	*ret = (struct java_object){.process = p, .j = j};
	if (!runtime_read_u64(p, word, &ret->at) ||
	    (j->handles && !runtime_read_u64(p, ret->at, &ret->at)))
		return false;
	return prove(ret);
}

static bool read_symbol(const struct runtime_process *p, const struct java_places *j,
			uint64_t symbol, char *ret, size_t n)
{
	uint16_t len;

	if (!java_has(j, JAVA_SYMBOL_LENGTH) || !java_has(j, JAVA_SYMBOL_BODY) ||
	    !read_u16(p, symbol + j->at[JAVA_SYMBOL_LENGTH], &len) || !len)
		return false;
	size_t left_out = len < n ? 0 : len - (n - 1);
	ret[len - left_out] = '\0';
	return p->read(p->arg, symbol + j->at[JAVA_SYMBOL_BODY] + left_out, ret, len - left_out) &&
	       !memchr(ret, '\0', len - left_out);
}

static bool klass_name(const struct java_object *o, uint64_t klass, char *ret, size_t n)
{
	uint64_t symbol;

	return java_has(o->j, JAVA_KLASS_NAME) &&
	       runtime_read_u64(o->process, klass + o->j->at[JAVA_KLASS_NAME], &symbol) &&
	       read_symbol(o->process, o->j, symbol, ret, n);
}

bool java_class_name(const struct java_object *o, char *ret, size_t n)
{
	return klass_name(o, o->klass, ret, n);
}

/* The class above; 0: none. */
static uint64_t super_of(const struct java_object *o, uint64_t klass)
{
	uint64_t ret;

	return java_has(o->j, JAVA_KLASS_SUPER) &&
			       runtime_read_u64(o->process, klass + o->j->at[JAVA_KLASS_SUPER],
						&ret)
		       ? ret
		       : 0;
}

bool java_is_a(const struct java_object *o, const char *name)
{
	char text[RUNTIME_NAME];
	uint64_t klass = o->klass;

	for (int i = 0; klass && i < SUPERS_MOST; i++, klass = super_of(o, klass))
		if (klass_name(o, klass, text, sizeof(text)) && !strcmp(text, name))
			return true;
	return false;
}

/* A class whose fields are read. */
struct fields {
	const struct java_object *o;
	const char *name;
	uint64_t constants;
};

static bool is_named(const struct fields *f, uint32_t index)
{
	char text[NAME_MOST];
	uint64_t symbol;

	return index && index <= UINT16_MAX &&
	       runtime_read_u64(f->o->process,
				f->constants + f->o->j->pool_size + index * sizeof(symbol),
				&symbol) &&
	       read_symbol(f->o->process, f->o->j, symbol, text, sizeof(text)) &&
	       !strcmp(text, f->name);
}

/* 0: none with that name. */
static uint64_t find_in_words(const struct fields *f, uint64_t klass)
{
	const struct runtime_process *p = f->o->process;
	const struct java_places *j = f->o->j;
	uint16_t count, field[WORDS];
	uint64_t array;

	if (!runtime_read_u64(p, klass + j->at[JAVA_FIELD_WORDS], &array) ||
	    !read_u16(p, klass + j->at[JAVA_FIELD_COUNT], &count))
		return 0;
	for (size_t i = 0; i < count && i < FIELDS_MOST; i++) {
		uint64_t at = array + sizeof(uint32_t) + i * sizeof(field);
		if (!p->read(p->arg, at, field, sizeof(field)))
			return 0;
		if (is_named(f, field[W_NAME]))
			return ((uint32_t)field[W_HIGH] << 16 | field[W_LOW]) >> W_TAG;
	}
	return 0;
}

/* Numbers of 1 to 5 bytes: no byte is 0, and one from 192 on has another one after it. */
struct stream {
	uint8_t bytes[FIELDS_MOST * 8];
	size_t at, n;
	bool bad;
};

static uint32_t take_number(struct stream *s)
{
	uint32_t ret = 0;

	for (unsigned i = 0; i < 5; i++) {
		if (s->at == s->n || !s->bytes[s->at]) {
			s->bad = true;
			return 0;
		}
		uint8_t byte = s->bytes[s->at++];
		ret += (uint32_t)(byte - 1) << (6 * i);
		if (byte < 192)
			break;
	}
	return ret;
}

/* Places of names and offsets; the others are skipped. */
static void take_field(struct stream *s, uint32_t *ret_name, uint32_t *ret_offset)
{
	*ret_name = take_number(s);
	take_number(s); /* signature */
	*ret_offset = take_number(s);
	take_number(s); /* access */
	uint32_t flags = take_number(s);
	for (uint32_t more = flags & (F_VALUE | F_GENERIC | F_CONTENDED); more; more &= more - 1)
		take_number(s);
}

static uint64_t find_in_stream(const struct fields *f, uint64_t klass)
{
	const struct runtime_process *p = f->o->process;
	struct stream s = {.at = 0};
	uint32_t n, name, offset;
	uint64_t array;

	if (!runtime_read_u64(p, klass + f->o->j->at[JAVA_FIELD_STREAM], &array) ||
	    !runtime_read_u32(p, array, &n))
		return 0;
	s.n = n < sizeof(s.bytes) ? n : sizeof(s.bytes);
	if (!p->read(p->arg, array + sizeof(n), s.bytes, s.n))
		return 0;
	uint32_t count = take_number(&s);
	take_number(&s); /* fields that the machine adds */
	for (uint32_t i = 0; i < count && i < FIELDS_MOST && !s.bad; i++) {
		take_field(&s, &name, &offset);
		if (!s.bad && is_named(f, name))
			return offset;
	}
	return 0;
}

static uint64_t find_field(const struct java_object *o, const char *name)
{
	const struct java_places *j = o->j;
	struct fields f = {.o = o, .name = name};
	bool streams = java_has(j, JAVA_FIELD_STREAM);
	bool words = java_has(j, JAVA_FIELD_WORDS) && java_has(j, JAVA_FIELD_COUNT);
	uint64_t ret = 0, klass = o->klass;

	if (!j->pool_size || !java_has(j, JAVA_CONSTANTS) || !(streams || words))
		return 0;
	for (int i = 0; !ret && klass && i < SUPERS_MOST; i++, klass = super_of(o, klass)) {
		if (!runtime_read_u64(o->process, klass + j->at[JAVA_CONSTANTS], &f.constants))
			return 0;
		ret = streams ? find_in_stream(&f, klass) : find_in_words(&f, klass);
	}
	return ret;
}

static bool has_field(const struct java_object *o, const char *name, uint64_t *offset)
{
	if (!*offset)
		*offset = find_field(o, name);
	return *offset;
}

bool java_object_field(const struct java_object *o, const char *name, uint64_t *offset,
		       struct java_object *ret)
{
	const struct java_places *j = o->j;
	uint32_t value;

	*ret = (struct java_object){.process = o->process, .j = j};
	if (!has_field(o, name, offset))
		return false;
	if (!j->short_oop)
		return runtime_read_u64(o->process, o->at + *offset, &ret->at) && prove(ret);
	if (!java_has(j, JAVA_OOP_BASE) || !java_has(j, JAVA_OOP_SHIFT) ||
	    !runtime_read_u32(o->process, o->at + *offset, &value))
		return false;
	ret->at = widen(j->at[JAVA_OOP_BASE], j->at[JAVA_OOP_SHIFT], value);
	return prove(ret);
}

bool java_word_field(const struct java_object *o, const char *name, uint64_t *offset, uint64_t *ret)
{
	return has_field(o, name, offset) && runtime_read_u64(o->process, o->at + *offset, ret);
}
