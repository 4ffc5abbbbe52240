// SPDX-License-Identifier: GPL-2.0-only
/*
 * The member of a variable at an address, "[3].lock", by the types in debug information. One walk
 * through a file lists its variables by address: those outside of functions, and only when none of
 * them has the address those inside, as functions have most of the entries. Types are then read for
 * the variables that are asked about.
 * A path goes down to the member at the address, but not into a lock: "conn.lock", and not
 * "conn.lock.__data.__lock". Where members overlap, that with a lock counts, and without one, or
 * with several, the path ends. Each entry is a step, and steps are limited, as in dwarf.c.
 */
#include "dwarf-file.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WALK_MOST = 64 << 20, /* entries of a file */
	TYPE_STEPS = 1 << 16, /* for one address */
	DEPTH_MOST = 64,
	DIMS_MOST = 8,
	TEXT_SIZE = 512,
	VARIABLES_MOST = 1 << 24,
};

void dwarf_variables_deinit(struct dwarf_file *d)
{
	for (size_t i = 0; i < DWARF_SCOPES; i++)
		mem_free(d->variables[i].items);
}

/* Only of what has one address in the file: no registers, no memory of threads. */
static bool address_of(Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Attribute a, at;
	Dwarf_Block b;

	if (!dwarf_attr(die, DW_AT_location, &a) || dwarf_formblock(&a, &b) != 0 || b.length < 2)
		return false;
	if (b.data[0] == DW_OP_addr && b.length == 1 + sizeof(*ret)) {
		memcpy(ret, b.data + 1, sizeof(*ret));
		return true;
	}
	Dwarf_Op *op;
	size_t n;
	if (b.data[0] != DW_OP_addrx || dwarf_getlocation(&a, &op, &n) != 0 || n != 1 ||
	    dwarf_getlocation_attr(&a, op, &at) != 0)
		return false;
	Dwarf_Addr addr;
	if (dwarf_formaddr(&at, &addr) != 0)
		return false;
	*ret = addr;
	return true;
}

static bool add_variable(struct dwarf_variables *v, Dwarf_Die *die, Dwarf_Off function)
{
	uint64_t addr;

	if (!address_of(die, &addr))
		return true;
	if (v->n >= VARIABLES_MOST || mem_grow(&v->items, &v->cap, v->n, sizeof(*v->items)) < 0)
		return false;
	v->items[v->n++] = (struct dwarf_variable){addr, dwarf_dieoffset(die), function};
	return true;
}

static bool is_searched(int tag, bool inside)
{
	if (tag == DW_TAG_namespace || tag == DW_TAG_module)
		return true;
	return inside && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block);
}

/* Of functions the variables within @function count. False: too many entries, or no memory. */
static bool walk(struct dwarf_file *d, Dwarf_Die *in, unsigned depth, bool inside,
		 Dwarf_Off function)
{
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(in, &die) != 0)
		return true;
	do {
		int tag = dwarf_tag(&die);
		Dwarf_Off within = tag == DW_TAG_subprogram ? dwarf_dieoffset(&die) : function;
		if (--d->steps <= 0)
			return false;
		if (tag == DW_TAG_variable && inside == (function != 0) &&
		    !add_variable(&d->variables[inside], &die, function))
			return false;
		if (is_searched(tag, inside) && !walk(d, &die, depth + 1, inside, within))
			return false;
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct dwarf_variable *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static const struct dwarf_variables *variables_of(struct dwarf_file *d, bool inside)
{
	struct dwarf_variables *v = &d->variables[inside];
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	bool more = true;

	if (v->read)
		return v;
	v->read = true;
	d->steps = WALK_MOST;
	while (more && dwarf_get_units(d->main.dwarf, cu, &cu, &version, &type, &die, NULL) == 0)
		more = type == DW_UT_type || walk(d, &die, 0, inside, 0);
	if (v->n)
		qsort(v->items, v->n, sizeof(*v->items), by_addr);
	return v;
}

/* The way to the member. */
struct way {
	struct dwarf_file *d;
	char text[TEXT_SIZE];
	size_t len;
	size_t lock_len; /* of the text where a lock begins */
	bool has_lock;	 /* the last type was within one */
	bool failed;	 /* no room, or too many steps */
	uint64_t rest;	 /* bytes into the last member */
};

static bool step(struct way *w)
{
	w->failed |= --w->d->steps <= 0;
	return !w->failed;
}

__attribute__((format(printf, 2, 3))) static void add_text(struct way *w, const char *format, ...)
{
	size_t room = sizeof(w->text) - w->len;
	va_list args;

	va_start(args, format);
	int n = vsnprintf(w->text + w->len, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		w->failed = true;
	else
		w->len += (size_t)n;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, ret);
}

/* Nothing within these has a name of its own. */
static bool is_lock(const char *name)
{
	static const char *const names[] = {
		"pthread_mutex_t",
		"pthread_rwlock_t",
		"pthread_spinlock_t",
		"pthread_cond_t",
		"pthread_barrier_t",
		"sem_t",
		"mtx_t",
		"cnd_t",
		"mutex",
		"timed_mutex",
		"recursive_mutex",
		"recursive_timed_mutex",
		"shared_mutex",
		"shared_timed_mutex",
		"condition_variable",
		"_GMutex",
		"_GRWLock",
		"_GRecMutex",
		"GMutex",
		"GRWLock",
		"GRecMutex",
	};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return name && !strncmp(name, "counting_semaphore<", 19);
}

/* Those of Rust contain what they protect, which may have locks: "Mutex<T>". */
static bool is_around(const char *name)
{
	size_t n = name ? strcspn(name, "<") : 0;

	return (n == 5 && !strncmp(name, "Mutex", n)) || (n == 6 && !strncmp(name, "RwLock", n));
}

/* A type with units of its own is elsewhere: here is its signature. */
static bool follow_signature(Dwarf_Die *type)
{
	Dwarf_Attribute a;

	return dwarf_attr(type, DW_AT_signature, &a) && dwarf_formref_die(&a, type);
}

/* Removes names of types and qualifiers. False: no type, or too many. @ret_lock: one is a lock. */
static bool peel(struct way *w, Dwarf_Die *type, bool *ret_lock)
{
	*ret_lock = false;
	while (step(w)) {
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
			*ret_lock |= is_lock(dwarf_diename(type));
			break;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			if (follow_signature(type))
				continue;
			*ret_lock |= is_lock(dwarf_diename(type));
			return true;
		}
		if (!type_of(type, type))
			return false;
	}
	return false;
}

/* Numbers of elements, the outermost first; of one without a limit 0. Their number; 0: not known.
 */
static size_t dims_of(struct way *w, Dwarf_Die *array, uint64_t ret[DIMS_MOST])
{
	Dwarf_Attribute a;
	Dwarf_Die die;
	Dwarf_Word v;
	size_t n = 0;

	if (dwarf_hasattr(array, DW_AT_byte_stride) || dwarf_hasattr(array, DW_AT_bit_stride) ||
	    dwarf_child(array, &die) != 0)
		return 0;
	do {
		if (!step(w) || dwarf_tag(&die) != DW_TAG_subrange_type || n == DIMS_MOST ||
		    (dwarf_attr(&die, DW_AT_lower_bound, &a) &&
		     (dwarf_formudata(&a, &v) != 0 || v)))
			return 0;
		ret[n] = 0;
		if (dwarf_attr(&die, DW_AT_count, &a) && dwarf_formudata(&a, &v) == 0)
			ret[n] = v;
		else if (dwarf_attr(&die, DW_AT_upper_bound, &a) && dwarf_formudata(&a, &v) == 0)
			ret[n] = v + 1;
		n++;
	} while (dwarf_siblingof(&die, &die) == 0);
	return n;
}

/* 0: not known. */
static uint64_t size_of(struct way *w, Dwarf_Die type, unsigned depth)
{
	uint64_t dims[DIMS_MOST], size;
	bool lock;

	if (depth > DEPTH_MOST || !peel(w, &type, &lock))
		return 0;
	int bytes = dwarf_bytesize(&type), tag = dwarf_tag(&type);
	if (bytes > 0)
		return (uint64_t)bytes;
	if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	    tag == DW_TAG_rvalue_reference_type)
		return sizeof(uint64_t);
	if (tag != DW_TAG_array_type)
		return 0;
	size_t n = dims_of(w, &type, dims);
	if (!n || !type_of(&type, &type))
		return 0;
	size = size_of(w, type, depth + 1);
	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(size, dims[i], &size))
			return 0;
	return size;
}

static void go_down(struct way *w, Dwarf_Die type, uint64_t at, unsigned depth);

/* "[3][1]", and into the element. */
static void into_array(struct way *w, Dwarf_Die *array, uint64_t at, unsigned depth)
{
	uint64_t dims[DIMS_MOST], stride[DIMS_MOST];
	size_t n = dims_of(w, array, dims);
	Dwarf_Die type;

	w->rest = at;
	if (!n || !type_of(array, &type))
		return;
	uint64_t size = size_of(w, type, depth);
	for (size_t i = n; i-- > 0;) {
		stride[i] = size;
		if (i && __builtin_mul_overflow(size, dims[i], &size))
			return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!stride[i] || (dims[i] && at / stride[i] >= dims[i]))
			return;
		add_text(w, "[%" PRIu64 "]", at / stride[i]);
		at %= stride[i];
	}
	go_down(w, type, at, depth + 1);
}

/* The part of @in that @die is, if it has the byte @at: where that is in it. */
static bool has_byte(struct way *w, Dwarf_Die *die, Dwarf_Die *ret_type, uint64_t *at)
{
	int tag = dwarf_tag(die);
	Dwarf_Word begin = 0;
	Dwarf_Attribute a;

	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
	    dwarf_hasattr(die, DW_AT_external) || dwarf_hasattr(die, DW_AT_declaration) ||
	    dwarf_hasattr(die, DW_AT_bit_size) || dwarf_hasattr(die, DW_AT_virtuality) ||
	    !type_of(die, ret_type))
		return false;
	/* Of virtual bases it is an expression. */
	if (dwarf_attr(die, DW_AT_data_member_location, &a) && dwarf_formudata(&a, &begin) != 0)
		return false;
	uint64_t size = size_of(w, *ret_type, 0);
	if (*at < begin || *at - begin >= size)
		return false;
	*at -= begin;
	return true;
}

/* A member that another one hides: only one of them may have a lock there. */
static void take_better(struct way *w, const struct way *tried, size_t *n, size_t *n_locks)
{
	*n_locks += tried->has_lock;
	*n += 1;
	if (*n == 1 || (tried->has_lock && *n_locks == 1))
		*w = *tried;
}

/* The members, or bases of a class, which have no name, with that byte. False: there is none. */
static bool into_members(struct way *w, Dwarf_Die *in, uint64_t at, unsigned depth, int tag)
{
	const struct way before = *w;
	size_t n = 0, n_locks = 0;
	Dwarf_Die die, type;

	if (dwarf_child(in, &die) != 0)
		return false;
	do {
		struct way tried = before;
		uint64_t into = at;
		if (!step(w))
			return true;
		if (dwarf_tag(&die) != tag || !has_byte(w, &die, &type, &into))
			continue;
		const char *name = tag == DW_TAG_member ? dwarf_diename(&die) : NULL;
		if (name && *name)
			add_text(&tried, ".%s", name);
		/* It is what the lock protects. */
		tried.has_lock &= !name || strcmp(name, "data") != 0;
		go_down(&tried, type, into, depth + 1);
		take_better(w, &tried, &n, &n_locks);
	} while (dwarf_siblingof(&die, &die) == 0);
	if (n > 1 && n_locks != 1) {
		*w = before;
		w->rest = at;
	}
	return n > 0;
}

static void go_down(struct way *w, Dwarf_Die type, uint64_t at, unsigned depth)
{
	bool lock;

	w->rest = at;
	if (depth > DEPTH_MOST || !peel(w, &type, &lock))
		return;
	int tag = dwarf_tag(&type);
	bool around = is_around(dwarf_diename(&type));
	if ((lock || around) && !w->has_lock) {
		w->has_lock = true;
		w->lock_len = w->len;
	}
	if (lock)
		return;
	if (tag == DW_TAG_array_type)
		into_array(w, &type, at, depth);
	else if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
		 tag == DW_TAG_union_type)
		(void)(into_members(w, &type, at, depth, DW_TAG_member) ||
		       into_members(w, &type, at, depth, DW_TAG_inheritance));
}

/* The variable that begins at or before @addr, and reaches it. */
static const struct dwarf_variable *
find_variable(struct dwarf_file *d, const struct dwarf_variables *v, uint64_t addr, struct way *w)
{
	size_t low = 0, high = v->n;
	Dwarf_Die die, type;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (v->items[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	const struct dwarf_variable *x = low ? &v->items[low - 1] : NULL;
	if (!x || !dwarf_offdie(d->main.dwarf, x->entry, &die) || !type_of(&die, &type))
		return NULL;
	uint64_t at = addr - x->addr;
	if (at > UINT32_MAX || at >= size_of(w, type, 0))
		return NULL;
	go_down(w, type, at, 0);
	return w->failed ? NULL : x;
}

/* The function that a variable is within, as C has it; "" outside of functions. */
static const char *function_of(struct dwarf_file *d, const struct dwarf_variable *v)
{
	const char *name = NULL;
	Dwarf_Die die;

	if (v->function && dwarf_offdie(d->main.dwarf, v->function, &die))
		name = dwarf_diename(&die);
	return name ? name : "";
}

static enum srclines_answer fill(struct way *w, const struct dwarf_variable *v, uint64_t addr,
				 struct strpool *names, struct srclines_place *ret)
{
	char clean[TEXT_SIZE], within[TEXT_SIZE];

	if (w->has_lock)
		w->text[w->lock_len] = '\0';
	else if (w->rest)
		add_text(w, "+0x%" PRIx64, w->rest);
	ret->n = 1;
	ret->frames[0] = (struct srclines_frame){
		.function = strpool_intern(names, text_clean(clean, sizeof(clean), w->text)),
		.file = strpool_intern(names,
				       text_clean(within, sizeof(within), function_of(w->d, v))),
		.line = (uint32_t)(addr - v->addr)};
	return ret->frames[0].function && ret->frames[0].file ? SRCLINES_OK : SRCLINES_NO_MEMORY;
}

enum srclines_answer dwarf_file_member(struct dwarf_file *d, uint64_t addr, struct strpool *names,
				       struct srclines_place *ret)
{
	*ret = (struct srclines_place){0};
	for (int inside = 0; inside < DWARF_SCOPES; inside++) {
		const struct dwarf_variables *all = variables_of(d, inside);
		struct way w = {.d = d};
		d->steps = TYPE_STEPS;
		const struct dwarf_variable *v = find_variable(d, all, addr, &w);
		if (v)
			return fill(&w, v, addr, names, ret);
	}
	return SRCLINES_NO_LINE;
}
