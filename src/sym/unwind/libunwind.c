// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwinds stacks with libunwind, as if of a remote process: it reads registers, memory and tables
 * through the functions below, which serve them from the sample's dump and the tables of files, and
 * from nothing else. It caches the unwind rules of a place by address, so each process has an
 * address space of its own, whose cache is flushed when mappings change.
 * libunwind trusts tables to end. So every word that it reads is counted: in a loop of an
 * expression or in a function without end, further reads fail.
 */
#include "internal.h"
#include "kontend/mem.h"

#include <elf.h>
#include <errno.h>
#include <libunwind.h>
#include <string.h>

enum {
	READS_FRAME = 1 << 10, /* words that a frame may read */
	CACHE_SIZE = 4096,     /* cached places with their rules */
};

/* Exported, though not in the headers, for callers that find tables themselves. */
#define search_table UNW_OBJ(dwarf_search_unwind_table)
int search_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int, void *);

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need,
			  void *arg)
{
	struct unwind_space *s = arg;
	const struct unwind_map *m = unwind_find_map(s, ip);
	const struct unwind_view *v = m ? unwind_view_of(s, m) : NULL;

	s->unknown_ip = ip;
	if (!v) {
		s->is_unknown = true;
		return -UNW_ENOINFO;
	}
	unw_dyn_info_t di = {
		.start_ip = m->start, .end_ip = m->end, .format = UNW_INFO_FORMAT_REMOTE_TABLE};
	di.u.rti.segbase = v->tables->header + v->bias;
	di.u.rti.table_data = di.u.rti.segbase + UNWIND_HEADER_SIZE;
	di.u.rti.table_len = v->tables->entries * UNWIND_ENTRY_SIZE / sizeof(unw_word_t);
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

/* Reads a word of the tables; the last one may extend into the zeros after them. */
static bool read_tables(const struct unwind_view *v, uint64_t addr, unw_word_t *ret)
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

	(void)as;
	if (write || --s->reads_left < 0)
		return -UNW_EINVAL;
	if (unwind_stack_word(s, addr, ret))
		return 0;
	if (s->last < s->n_views && read_tables(&s->views[s->last], addr, ret))
		return 0;
	for (size_t i = 0; i < s->n_views; i++)
		if (read_tables(&s->views[i], addr, ret)) {
			s->last = i;
			return 0;
		}
	/* The personality routine is in data, and is not needed. */
	*ret = 0;
	if (s->is_searching)
		return 0;
	/* Of code without tables it looks whether the code is there: else it takes the call for one
	 * to a wrong address, and adds a frame. */
	if (unwind_find_map(s, addr))
		return 0;
	s->is_cut = true;
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *ret, int write, void *arg)
{
	const struct unwind_space *s = arg;
	uint64_t value;

	(void)as;
	if (write || reg < 0 || !unwind_reg(s, (unsigned)reg, &value))
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

/* The library is built for one architecture: this one. */
static bool is_for(const struct unwind_machine *m)
{
#if defined(__x86_64__)
	return m->elf == EM_X86_64;
#elif defined(__aarch64__)
	return m->elf == EM_AARCH64;
#else
	return false;
#endif
}

static int open_space(struct unwind_space *s)
{
	unw_accessors_t a = {find_proc_info, put_unwind_info, no_dyn_info, access_mem,
			     access_reg,     access_fpreg,    no_resume,   no_name};
	unw_addr_space_t as = unw_create_addr_space(&a, 0);

	if (!as)
		return -ENOMEM;
	unw_set_caching_policy(as, UNW_CACHE_GLOBAL);
	unw_set_cache_size(as, CACHE_SIZE, 0);
	s->own = as;
	return 0;
}

static void close_space(struct unwind_space *s)
{
	unw_destroy_addr_space(s->own);
}

static void forget(struct unwind_space *s)
{
	unw_flush_cache(s->own, 0, 0);
}

/* Why there is no further frame. */
static enum unwind_end end_of(const struct unwind_space *s, int code)
{
	if (s->reads_left < 0)
		return UNWIND_BAD;
	/* Code without tables is unwound by frame pointers, which may lead out of the dump. */
	if (s->is_unknown)
		return unwind_no_tables(s);
	if (s->is_cut)
		return UNWIND_CUT;
	if (code == -UNW_ENOINFO)
		return UNWIND_NO_INFO;
	return code == 0 ? UNWIND_DONE : UNWIND_BAD;
}

static size_t walk(struct unwind_space *s, struct unwind_frame *ret, size_t most,
		   enum unwind_end *ret_end)
{
	unw_cursor_t c;
	unw_word_t ip, sp, last = s->sp;
	size_t n = 1;
	int code;

	if (unw_init_remote(&c, s->own, s) < 0)
		return 1;
	for (; (code = unw_step(&c)) > 0; n++) {
		s->reads_left += READS_FRAME;
		s->is_unknown = s->is_cut = false;
		if (unw_get_reg(&c, UNW_REG_IP, &ip) < 0 || unw_get_reg(&c, UNW_REG_SP, &sp) < 0)
			break;
		/* The outermost function has no return address. */
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
		unwind_put_frame(s, ip, unw_is_signal_frame(&c) <= 0, &ret[n]);
	}
	*ret_end = code > 0 ? UNWIND_DONE : end_of(s, code);
	return n;
}

static const struct unwind_backend backend = {is_for, open_space, close_space, forget, walk};

const struct unwind_backend *unwind_by_libunwind(void)
{
	return &backend;
}
