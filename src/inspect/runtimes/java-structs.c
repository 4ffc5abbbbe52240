// SPDX-License-Identifier: GPL-2.0-only
/*
 * HotSpot exports tables of its own structures, for debuggers: for each member the name of the
 * structure, its own, and its place; for each structure its size. Variables say how the tables are
 * built; they end with an entry without a name. Which members there are differs by version. The
 * tables are in the memory of a process, so all of it is checked.
 */
#include "internal.h"

#include <string.h>

enum { ENTRIES_MOST = 1 << 14, STEP_MOST = 256, TEXT = 64, PART = 16, PLACE_MOST = 1 << 14 };
enum { FLAGS_MOST = 1 << 13 };

/* The part of a member that is wanted. */
enum what { OFFSET, ADDRESS, VARIABLE, VARIABLE_32 };

struct member {
	const char *type, *name;
	enum java_place to;
	enum what what;
};

/* A member that moved is there several times. */
static const struct member members[] = {
	{"ThreadsSMRSupport", "_java_thread_list", JAVA_LIST, ADDRESS},
	{"ThreadsList", "_length", JAVA_LIST_LENGTH, OFFSET},
	{"ThreadsList", "_threads", JAVA_LIST_VECTOR, OFFSET},
	{"Threads", "_thread_list", JAVA_FIRST, ADDRESS},
	{"JavaThread", "_next", JAVA_NEXT, OFFSET},
	{"JavaThread", "_osthread", JAVA_OSTHREAD, OFFSET},
	{"Thread", "_osthread", JAVA_OSTHREAD, OFFSET},
	{"OSThread", "_thread_id", JAVA_NUMBER, OFFSET},
	{"JavaThread", "_threadObj", JAVA_THREAD_OBJECT, OFFSET},
	{"JavaThread", "_current_pending_monitor", JAVA_PENDING, OFFSET},
	{"Thread", "_current_pending_monitor", JAVA_PENDING, OFFSET},
	{"JavaThread", "_stack_base", JAVA_STACK_BASE, OFFSET},
	{"JavaThread", "_stack_size", JAVA_STACK_SIZE, OFFSET},
	{"JavaThread", "_monitor_owner_id", JAVA_OWNER_ID, OFFSET},
	{"JavaThread", "_lock_stack", JAVA_LOCK_STACK, OFFSET},
	{"LockStack", "_top", JAVA_LOCK_TOP, OFFSET},
	{"LockStack", "_base[0]", JAVA_LOCK_BASE, OFFSET},
	{"ObjectMonitor", "_object", JAVA_MONITOR_OBJECT, OFFSET},
	{"ObjectMonitor", "_owner", JAVA_MONITOR_OWNER, OFFSET},
	{"Klass", "_name", JAVA_KLASS_NAME, OFFSET},
	{"Klass", "_super", JAVA_KLASS_SUPER, OFFSET},
	{"Klass", "_java_mirror", JAVA_KLASS_MIRROR, OFFSET},
	{"java_lang_Class", "_klass_offset", JAVA_MIRROR_KLASS, VARIABLE_32},
	{"Symbol", "_length", JAVA_SYMBOL_LENGTH, OFFSET},
	{"Symbol", "_body[0]", JAVA_SYMBOL_BODY, OFFSET},
	{"InstanceKlass", "_constants", JAVA_CONSTANTS, OFFSET},
	{"InstanceKlass", "_fields", JAVA_FIELD_WORDS, OFFSET},
	{"InstanceKlass", "_java_fields_count", JAVA_FIELD_COUNT, OFFSET},
	{"InstanceKlass", "_fieldinfo_stream", JAVA_FIELD_STREAM, OFFSET},
	{"Universe", "_narrow_klass._base", JAVA_KLASS_BASE, VARIABLE},
	{"CompressedKlassPointers", "_narrow_klass._base", JAVA_KLASS_BASE, VARIABLE},
	{"CompressedKlassPointers", "_base", JAVA_KLASS_BASE, VARIABLE},
	{"Universe", "_narrow_klass._shift", JAVA_KLASS_SHIFT, VARIABLE_32},
	{"CompressedKlassPointers", "_narrow_klass._shift", JAVA_KLASS_SHIFT, VARIABLE_32},
	{"CompressedKlassPointers", "_shift", JAVA_KLASS_SHIFT, VARIABLE_32},
	{"Universe", "_narrow_oop._base", JAVA_OOP_BASE, VARIABLE},
	{"CompressedOops", "_narrow_oop._base", JAVA_OOP_BASE, VARIABLE},
	{"CompressedOops", "_base", JAVA_OOP_BASE, VARIABLE},
	{"Universe", "_narrow_oop._shift", JAVA_OOP_SHIFT, VARIABLE_32},
	{"CompressedOops", "_narrow_oop._shift", JAVA_OOP_SHIFT, VARIABLE_32},
	{"CompressedOops", "_shift", JAVA_OOP_SHIFT, VARIABLE_32},
	{"JVMFlag", "flags", JAVA_FLAGS, VARIABLE},
	{"JVMFlag", "numFlags", JAVA_N_FLAGS, VARIABLE},
	{"JVMFlag", "_name", JAVA_FLAG_NAME, OFFSET},
	{"JVMFlag", "_addr", JAVA_FLAG_AT, OFFSET},
};

enum { MEMBERS = sizeof(members) / sizeof(*members) };

/* A longer text is cut. */
static bool read_text(const struct runtime_process *p, uint64_t addr, char ret[TEXT])
{
	size_t n = 0;

	while (n + PART < TEXT) {
		if (!p->read(p->arg, addr + n, ret + n, PART))
			return false;
		if (memchr(ret + n, '\0', PART))
			return true;
		n += PART;
	}
	ret[n] = '\0';
	return true;
}

/* A word of an entry. */
static uint64_t word_at(const uint8_t entry[STEP_MOST], uint64_t at)
{
	uint64_t ret;

	memcpy(&ret, entry + at, sizeof(ret));
	return ret;
}

/* How a table is built: variables of the process, each a place in an entry; the last is its size.
 */
static bool read_layout(const struct runtime_process *p, const struct runtime *t,
			enum java_symbol first, enum java_symbol last, uint64_t ret[JAVA_SYMBOLS])
{
	for (unsigned i = first; i <= (unsigned)last; i++)
		if (!runtime_read_u64(p, t->symbols[i], &ret[i]))
			return false;
	if (!ret[last] || ret[last] > STEP_MOST)
		return false;
	for (unsigned i = first + 1; i < (unsigned)last; i++)
		if (ret[i] > ret[last] || ret[last] - ret[i] < sizeof(uint64_t))
			return false;
	return true;
}

static bool take_member(const struct runtime_process *p, const struct member *m, uint64_t offset,
			uint64_t address, struct java_places *ret)
{
	uint32_t small = 0;
	uint64_t value = m->what == OFFSET ? offset : address;
	bool ok = m->what == OFFSET	? offset < PLACE_MOST
		  : m->what == ADDRESS	? true
		  : m->what == VARIABLE ? runtime_read_u64(p, address, &value)
					: runtime_read_u32(p, address, &small);

	if (m->what == VARIABLE_32)
		value = small;
	if (ok) {
		ret->at[m->to] = value;
		ret->have |= 1ull << m->to;
	}
	return ok;
}

/* The type of a member. */
static bool take_type(const struct runtime_process *p, const struct member *m, uint64_t name_at,
		      struct java_places *ret)
{
	char name[TEXT] = "";

	if (m->to != JAVA_THREAD_OBJECT && m->to != JAVA_MONITOR_OWNER)
		return true;
	if (name_at && !read_text(p, name_at, name))
		return false;
	if (m->to == JAVA_THREAD_OBJECT)
		ret->handles = strcmp(name, "oop") != 0;
	else
		ret->owners_by_id = !strcmp(name, "int64_t");
	return true;
}

static bool read_member(const struct runtime_process *p, const uint64_t layout[JAVA_SYMBOLS],
			const uint8_t entry[STEP_MOST], const char *type, struct java_places *ret)
{
	char name[TEXT] = "";

	for (size_t i = 0; i < MEMBERS; i++) {
		const struct member *m = &members[i];
		if (strcmp(m->type, type) != 0)
			continue;
		if (!*name && !read_text(p, word_at(entry, layout[JAVA_MEMBER_NAME]), name))
			return false;
		if (strcmp(m->name, name) != 0)
			continue;
		return take_member(p, m, word_at(entry, layout[JAVA_MEMBER_OFFSET]),
				   word_at(entry, layout[JAVA_MEMBER_ADDRESS]), ret) &&
		       take_type(p, m, word_at(entry, layout[JAVA_MEMBER_TYPE_OF]), ret);
	}
	return true;
}

static bool read_members(const struct runtime_process *p, const struct runtime *t,
			 struct java_places *ret)
{
	uint64_t layout[JAVA_SYMBOLS] = {0}, last = 0;
	uint8_t entry[STEP_MOST];
	char type[TEXT] = "";

	if (!read_layout(p, t, JAVA_MEMBERS, JAVA_MEMBER_STEP, layout))
		return false;
	uint64_t step = layout[JAVA_MEMBER_STEP];
	for (size_t i = 0; i < ENTRIES_MOST; i++) {
		if (!p->read(p->arg, layout[JAVA_MEMBERS] + i * step, entry, step))
			return false;
		uint64_t type_at = word_at(entry, layout[JAVA_MEMBER_TYPE]);
		if (!type_at)
			return true;
		if (type_at != last && !read_text(p, type_at, type))
			return false;
		last = type_at;
		if (!read_member(p, layout, entry, type, ret))
			return false;
	}
	return false;
}

static bool read_sizes(const struct runtime_process *p, const struct runtime *t,
		       struct java_places *ret)
{
	uint64_t layout[JAVA_SYMBOLS] = {0};
	uint8_t entry[STEP_MOST];
	char name[TEXT];

	if (!read_layout(p, t, JAVA_TYPES, JAVA_TYPE_STEP, layout))
		return false;
	uint64_t step = layout[JAVA_TYPE_STEP];
	for (size_t i = 0; i < ENTRIES_MOST; i++) {
		if (!p->read(p->arg, layout[JAVA_TYPES] + i * step, entry, step))
			return false;
		uint64_t name_at = word_at(entry, layout[JAVA_TYPE_NAME]);
		if (!name_at)
			return true;
		if (!read_text(p, name_at, name))
			return false;
		uint64_t size = word_at(entry, layout[JAVA_TYPE_SIZE]);
		if (size < STEP_MOST && !strcmp(name, "ConstantPool"))
			ret->pool_size = size;
		if (size < STEP_MOST && !strcmp(name, "JVMFlag"))
			ret->flag_size = size;
	}
	return false;
}

/* Settings of the process; one that its version does not have is off. */
static bool read_flags(const struct runtime_process *p, struct java_places *ret)
{
	const struct {
		const char *name;
		bool *to;
	} wanted[] = {{"UseCompressedOops", &ret->short_oop},
		      {"UseCompressedClassPointers", &ret->short_klass},
		      {"UseCompactObjectHeaders", &ret->compact}};
	uint64_t n = ret->at[JAVA_N_FLAGS];
	char name[TEXT];

	if (!ret->flag_size || !java_has(ret, JAVA_FLAGS) || !java_has(ret, JAVA_FLAG_NAME) ||
	    !java_has(ret, JAVA_FLAG_AT) || n > FLAGS_MOST)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t flag = ret->at[JAVA_FLAGS] + i * ret->flag_size, name_at, at;
		if (!runtime_read_u64(p, flag + ret->at[JAVA_FLAG_NAME], &name_at) ||
		    !runtime_read_u64(p, flag + ret->at[JAVA_FLAG_AT], &at))
			return false;
		if (!name_at) /* the last one */
			continue;
		if (!read_text(p, name_at, name))
			return false;
		for (size_t k = 0; k < sizeof(wanted) / sizeof(*wanted); k++) {
			uint8_t value;
			if (strcmp(name, wanted[k].name) != 0)
				continue;
			if (!p->read(p->arg, at, &value, sizeof(value)))
				return false;
			*wanted[k].to = value != 0;
		}
	}
	return true;
}

/* Without the others there are no names of classes, or no owners. */
static bool has_threads(const struct java_places *j)
{
	static const enum java_place needed[] = {JAVA_OSTHREAD, JAVA_NUMBER, JAVA_PENDING,
						 JAVA_MONITOR_OWNER};
	bool ok = (java_has(j, JAVA_LIST) && java_has(j, JAVA_LIST_LENGTH) &&
		   java_has(j, JAVA_LIST_VECTOR)) ||
		  (java_has(j, JAVA_FIRST) && java_has(j, JAVA_NEXT));

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		ok = ok && java_has(j, needed[i]);
	return ok;
}

bool java_read_places(const struct runtime_process *p, const struct runtime *t,
		      struct java_places *ret)
{
	*ret = (struct java_places){0};
	return read_members(p, t, ret) && has_threads(ret) && read_sizes(p, t, ret) &&
	       read_flags(p, ret);
}
