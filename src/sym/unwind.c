// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks by libunwind, as of a process elsewhere: it asks for registers, memory and tables by the
 * functions below, which know the sample's dump and the tables of files, and nothing else. It keeps
 * by itself how the registers of a place are found; that is by address, so each process has an
 * address space of its own, and learns anew when its mappings change.
 *
 * libunwind trusts tables to end. So every word that it reads is counted: who asks for too many, in
 * a loop of an expression or a function that never ends, is told that there are no more.
 */
#include "kontend/unwind.h"
#include "kontend/mem.h"
#include "unwind-tables.h"
#include "usersyms-int.h"

#include <errno.h>
#include <libunwind.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	READS_FIRST = 1 << 16, /* words a stack may need */
	READS_FRAME = 1 << 10, /* and for each of its frames */
	CACHE_SIZE = 4096,     /* places whose rules are kept */
};

/* Not in its headers, but there for who finds tables by himself. */
#define search_table UNW_OBJ(dwarf_search_unwind_table)
int search_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int, void *);

struct unwind {
	struct usersyms *files;
	struct unwind_tables **tables; /* by object; NULL: not read yet */
	size_t cap;
};

/* The tables of a file as they are mapped in a process. */
struct view {
	const struct unwind_tables *tables;
	uint64_t bias; /* address in the process - address in the file */
};

struct unwind_space {
	struct unwind *u;
	unw_addr_space_t as;
	const struct unwind_map *maps;
	size_t n_maps;
	struct view *views;
	size_t n_views, cap_views, last;
	/* Of the stack that is being unwound. */
	const struct unwind_sample *sample;
	uint64_t sp, unknown_ip;
	long reads_left;
	bool is_cut, is_unknown, is_searching;
};

#if defined(__x86_64__)
/* Numbers of DWARF, as libunwind has them, to those of perf. */
static const int8_t perf_regs[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
enum { PERF_SP = 7, PERF_IP = 8 };
#elif defined(__aarch64__)
static const int8_t perf_regs[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				   11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				   22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
enum { PERF_SP = 31, PERF_IP = 32 };
#endif

static bool get_reg(const struct unwind_sample *s, int perf, uint64_t *ret)
{
	uint64_t bit = 1ull << perf;

	if (!(s->regs_mask & bit))
		return false;
	*ret = s->regs[__builtin_popcountll(s->regs_mask & (bit - 1))];
	return true;
}

/* The tables of an object, read at its first time. NULL: out of memory. */
static const struct unwind_tables *tables_of(struct unwind *u, uint32_t object)
{
	struct elfimg e;
	int root;

	if (object >= u->files->n_objects) /* UNWIND_NO_OBJECT, too */
		return NULL;
	while (object >= u->cap) {
		size_t before = u->cap;
		if (mem_grow(&u->tables, &u->cap, u->cap, sizeof(struct unwind_tables *)) < 0)
			return NULL;
		memset(u->tables + before, 0, (u->cap - before) * sizeof(struct unwind_tables *));
	}
	if (u->tables[object])
		return u->tables[object];
	struct unwind_tables *t = mem_calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->answer = usersym_open(u->files, u->files->objects[object], &e, &root);
	if (t->answer == USERSYM_OK) {
		/* Without memory for them it is as if there were none. */
		if (unwind_tables_load(t, &e) < 0)
			unwind_tables_deinit(t);
		elfimg_close(&e);
		if (root >= 0)
			close(root);
	}
	u->tables[object] = t;
	return t;
}

static const struct unwind_map *find_map(const struct unwind_space *s, uint64_t ip)
{
	size_t low = 0, n = s->n_maps;

	while (n) {
		size_t half = n / 2;

		if (s->maps[low + half].start <= ip) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low && ip < s->maps[low - 1].end ? &s->maps[low - 1] : NULL;
}

/* The tables that are for a mapping, where they are in its process. NULL: none. */
static const struct view *view_of(struct unwind_space *s, const struct unwind_map *m)
{
	const struct unwind_tables *t = tables_of(s->u, m->object);
	uint64_t addr;

	if (!t || !t->bytes || !elfimg_to_addr(t->segments, t->n_segments, m->file_offset, &addr))
		return NULL;
	for (size_t i = 0; i < s->n_views; i++)
		if (s->views[i].tables == t && s->views[i].bias == m->start - addr) {
			s->last = i;
			return &s->views[i];
		}
	if (mem_grow(&s->views, &s->cap_views, s->n_views, sizeof(*s->views)) < 0)
		return NULL;
	s->last = s->n_views++;
	s->views[s->last] = (struct view){t, m->start - addr};
	return &s->views[s->last];
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need,
			  void *arg)
{
	struct unwind_space *s = arg;
	const struct unwind_map *m = find_map(s, ip);
	const struct view *v = m ? view_of(s, m) : NULL;

	s->unknown_ip = ip;
	if (!v) {
		s->is_unknown = true;
		return -UNW_ENOINFO;
	}
	unw_dyn_info_t di = {
		.start_ip = m->start, .end_ip = m->end, .format = UNW_INFO_FORMAT_REMOTE_TABLE};
	di.u.rti.segbase = v->tables->header + v->bias;
	di.u.rti.table_data = di.u.rti.segbase + 12;
	di.u.rti.table_len = v->tables->entries * 8 / sizeof(unw_word_t);
	s->is_searching = true;
	int code = search_table(as, ip, &di, pi, need, arg);
	s->is_searching = false;
	if (code < 0)
		s->is_unknown = true;
	return code;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int no_dyn_info(unw_addr_space_t as, unw_word_t *ret, void *arg)
{
	(void)as;
	(void)ret;
	(void)arg;
	return -UNW_ENOINFO;
}

/* A word of the tables; the last one may reach beyond them, into zeros. */
static bool read_tables(const struct view *v, uint64_t addr, unw_word_t *ret)
{
	uint64_t at = addr - v->bias - v->tables->addr;

	if (at >= v->tables->len)
		return false;
	memcpy(ret, v->tables->bytes + at, sizeof(*ret));
	return true;
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *ret, int write, void *arg)
{
	struct unwind_space *s = arg;
	uint64_t at = addr - s->sp;

	(void)as;
	if (write || --s->reads_left < 0)
		return -UNW_EINVAL;
	if (s->sample->stack_len >= sizeof(*ret) && at <= s->sample->stack_len - sizeof(*ret)) {
		memcpy(ret, (const char *)s->sample->stack + at, sizeof(*ret));
		return 0;
	}
	if (s->last < s->n_views && read_tables(&s->views[s->last], addr, ret))
		return 0;
	for (size_t i = 0; i < s->n_views; i++)
		if (read_tables(&s->views[i], addr, ret)) {
			s->last = i;
			return 0;
		}
	/* Where the function for exceptions is stands in data, and is not needed. */
	*ret = 0;
	if (s->is_searching)
		return 0;
	s->is_cut = true;
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *ret, int write, void *arg)
{
	const struct unwind_space *s = arg;
	uint64_t value;

	(void)as;
	if (write || reg < 0 || (size_t)reg >= sizeof(perf_regs) ||
	    !get_reg(s->sample, perf_regs[reg], &value))
		return -UNW_EBADREG;
	*ret = value;
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *ret, int write,
			void *arg)
{
	(void)as;
	(void)reg;
	(void)ret;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
	(void)as;
	(void)c;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t addr, char *buf, size_t size, unw_word_t *off,
		   void *arg)
{
	(void)as;
	(void)addr;
	(void)buf;
	(void)size;
	(void)off;
	(void)arg;
	return -UNW_EINVAL;
}

int unwind_new(struct unwind **ret, struct usersyms *files, struct error *err)
{
	struct unwind *u = mem_calloc(1, sizeof(*u));

	if (!u)
		return error_set(err, -ENOMEM, "No memory for unwinding stacks");
	u->files = files;
	*ret = u;
	return 0;
}

void unwind_free(struct unwind *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->cap; i++) {
		if (u->tables[i])
			unwind_tables_deinit(u->tables[i]);
		mem_free(u->tables[i]);
	}
	mem_free(u->tables);
	mem_free(u);
}

int unwind_space_new(struct unwind_space **ret, struct unwind *u)
{
	unw_accessors_t a = {find_proc_info, put_unwind_info, no_dyn_info, access_mem,
			     access_reg,     access_fpreg,    no_resume,   no_name};
	struct unwind_space *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->u = u;
	s->as = unw_create_addr_space(&a, 0);
	if (!s->as) {
		mem_free(s);
		return -ENOMEM;
	}
	unw_set_caching_policy(s->as, UNW_CACHE_GLOBAL);
	unw_set_cache_size(s->as, CACHE_SIZE, 0);
	*ret = s;
	return 0;
}

void unwind_space_free(struct unwind_space *s)
{
	if (!s)
		return;
	unw_destroy_addr_space(s->as);
	mem_free(s->views);
	mem_free(s);
}

void unwind_space_set(struct unwind_space *s, const struct unwind_map *maps, size_t n)
{
	s->maps = maps;
	s->n_maps = n;
	s->n_views = s->last = 0;
	unw_flush_cache(s->as, 0, 0);
}

static void put_frame(const struct unwind_space *s, uint64_t ip, bool is_return,
		      struct unwind_frame *ret)
{
	uint64_t at = ip - (is_return ? 1 : 0);
	const struct unwind_map *m = find_map(s, at);

	*ret = (struct unwind_frame){.ip = ip, .at = at, .is_known = m != NULL};
	if (m) {
		ret->file_offset = at - m->start + m->file_offset;
		ret->object = m->object;
	}
}

/* Why there are no tables for the code that was reached. */
static enum unwind_end no_tables(const struct unwind_space *s)
{
	const struct unwind_map *m = find_map(s, s->unknown_ip);
	const struct unwind_tables *t = m ? tables_of(s->u, m->object) : NULL;

	switch (t ? t->answer : USERSYM_OK) {
	case USERSYM_NO_FILE:
		return UNWIND_NO_FILE;
	case USERSYM_NO_RIGHT:
		return UNWIND_NO_RIGHT;
	case USERSYM_OTHER_FILE:
	case USERSYM_UNSURE:
		return UNWIND_OTHER_FILE;
	default:
		return UNWIND_NO_INFO;
	}
}

/* Why there is no frame further out. */
static enum unwind_end end_of(const struct unwind_space *s, int code)
{
	if (s->reads_left < 0)
		return UNWIND_BAD;
	/* Who has no tables is tried by frame pointers, which may lead out of the dump. */
	if (s->is_unknown)
		return no_tables(s);
	if (s->is_cut)
		return UNWIND_CUT;
	if (code == -UNW_ENOINFO)
		return UNWIND_NO_INFO;
	return code == 0 ? UNWIND_DONE : UNWIND_BAD;
}

/* The frames outside of the first one. */
static size_t walk(struct unwind_space *s, unw_cursor_t *c, struct unwind_frame *ret, size_t most,
		   enum unwind_end *ret_end)
{
	unw_word_t ip, sp, last = s->sp;
	size_t n = 1;
	int code;

	for (; (code = unw_step(c)) > 0; n++) {
		s->reads_left += READS_FRAME;
		s->is_unknown = false;
		if (unw_get_reg(c, UNW_REG_IP, &ip) < 0 || unw_get_reg(c, UNW_REG_SP, &sp) < 0)
			break;
		/* The outermost function has nowhere to return to. */
		if (!ip)
			break;
		if (n >= most) {
			*ret_end = UNWIND_MOST;
			return n;
		}
		if (sp < last || (sp == last && n > 1)) {
			*ret_end = UNWIND_LOOP;
			return n;
		}
		last = sp;
		put_frame(s, ip, unw_is_signal_frame(c) <= 0, &ret[n]);
	}
	*ret_end = code > 0 ? UNWIND_DONE : end_of(s, code);
	return n;
}

size_t unwind_stack(struct unwind_space *s, const struct unwind_sample *sample,
		    struct unwind_frame *ret, size_t most, enum unwind_end *ret_end)
{
	unw_cursor_t c;
	uint64_t ip;

	*ret_end = UNWIND_BAD;
	if (!most || !get_reg(sample, PERF_IP, &ip) || !get_reg(sample, PERF_SP, &s->sp))
		return 0;
	s->sample = sample;
	s->reads_left = READS_FIRST;
	s->is_cut = s->is_unknown = false;
	put_frame(s, ip, false, &ret[0]);
	if (unw_init_remote(&c, s->as, s) < 0)
		return 1;
	return walk(s, &c, ret, most, ret_end);
}
