// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common parts of the unwinders: tables of files, read when a stack first has code of theirs, the
 * mappings of a process, and the registers of a sample by DWARF number. The architecture decides
 * once which library finds the frames: libunwind for this machine's, since it is faster, and libdw
 * for all others or in builds without libunwind.
 */
#include "internal.h"
#include "kontend/bisect.h"
#include "kontend/mem.h"
#include "kontend/unwind.h"
#include "user/internal.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	READS_FIRST = 1 << 16, /* words that a stack may read; backends add some per frame */
};

static const int8_t x86_regs[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
static const int8_t arm64_regs[] = {0,	1,  2,	3,  4,	5,  6,	7,  8,	9,  10,
				    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

static const struct unwind_machine machines[] = {
	{"x86_64", EM_X86_64, 6, 7, 8, sizeof(x86_regs), x86_regs},
	{"aarch64", EM_AARCH64, 29, 31, 32, sizeof(arm64_regs), arm64_regs},
};

static bool get_perf_reg(const struct unwind_sample *s, unsigned perf, uint64_t *ret)
{
	uint64_t bit = 1ull << perf;

	if (!(s->regs_mask & bit))
		return false;
	*ret = s->regs[__builtin_popcountll(s->regs_mask & (bit - 1))];
	return true;
}

bool unwind_reg(const struct unwind_space *s, unsigned reg, uint64_t *ret)
{
	const struct unwind_machine *m = s->u->machine;

	return reg < m->n_regs && get_perf_reg(s->sample, (unsigned)m->perf_regs[reg], ret);
}

bool unwind_stack_word(const struct unwind_space *s, uint64_t addr, uint64_t *ret)
{
	uint64_t at = addr - s->sp;

	if (s->sample->stack_len < sizeof(*ret) || at > s->sample->stack_len - sizeof(*ret))
		return false;
	memcpy(ret, (const char *)s->sample->stack + at, sizeof(*ret));
	return true;
}

/* Tables of an object, read at the first call. NULL: out of memory. */
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
	struct unwind_tables *t = u->tables[object];
	if (t) {
		t->used = u->clock;
		return t;
	}
	t = mem_calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->used = u->clock;
	t->answer = usersym_open(u->files, u->files->objects[object], &e, &root);
	if (t->answer == USERSYM_OK) {
		/* Without memory, continue as if it had no tables. */
		if (unwind_tables_load(t, &e) < 0)
			unwind_tables_deinit(t);
		elfimg_close(&e);
		if (root >= 0)
			close(root);
	}
	if (!t->bytes && u->config.recorded)
		unwind_tables_take(t, u->config.recorded(u->config.ctx, object));
	u->tables[object] = t;
	return t;
}

bool unwind_tables_get(const struct unwind *u, uint32_t file, struct cfisnap *ret)
{
	const struct unwind_tables *t = file < u->cap ? u->tables[file] : NULL;

	if (!t || !t->bytes)
		return false;
	*ret = (struct cfisnap){
		.head = {.addr = t->addr, .header = t->header, .entries = t->entries},
		.bytes = t->bytes,
		.n_bytes = t->len,
		.segments = t->segments,
		.n_segments = t->n_segments,
	};
	return true;
}

static void forget_tables(struct unwind *u, size_t i)
{
	unwind_tables_deinit(u->tables[i]);
	mem_free(u->tables[i]);
	u->tables[i] = NULL;
}

void unwind_look_again(struct unwind *u)
{
	for (size_t i = 0; i < u->cap; i++)
		if (u->tables[i] && !u->tables[i]->bytes)
			forget_tables(u, i);
}

static size_t bytes_of(const struct unwind_tables *t)
{
	return t ? sizeof(*t) + t->n_segments * sizeof(*t->segments) + t->len : 0;
}

static size_t least_recent(const struct unwind *u)
{
	size_t least = u->cap;

	for (size_t i = 0; i < u->cap; i++)
		if (u->tables[i] &&
		    (least == u->cap || u->tables[i]->used < u->tables[least]->used))
			least = i;
	return least;
}

size_t unwind_tidy(struct unwind *u, size_t most)
{
	size_t now = 0, n = 0, at;

	u->clock++;
	for (size_t i = 0; i < u->cap; i++)
		now += bytes_of(u->tables[i]);
	if (now <= most)
		return 0;
	/* Some more than needed, so that not every new file starts this. */
	while (now > most - most / 8 && (at = least_recent(u)) < u->cap) {
		now -= bytes_of(u->tables[at]);
		forget_tables(u, at);
		n++;
	}
	return n;
}

const struct unwind_map *unwind_find_map(const struct unwind_space *s, uint64_t ip)
{
	size_t low = BISECT(s->maps, s->n_maps, start, ip);

	return low && ip < s->maps[low - 1].end ? &s->maps[low - 1] : NULL;
}

const struct unwind_view *unwind_view_of(struct unwind_space *s, const struct unwind_map *m)
{
	const struct unwind_tables *t = tables_of(s->u, m->object);
	uint64_t addr;

	if (!t || !t->bytes ||
	    !elfimg_code_at(t->segments, t->n_segments, m->file_offset,
			    m->file_offset + (m->end - m->start), &addr))
		return NULL;
	for (size_t i = 0; i < s->n_views; i++)
		if (s->views[i].tables == t && s->views[i].bias == m->start - addr) {
			s->last = i;
			return &s->views[i];
		}
	if (mem_grow(&s->views, &s->cap_views, s->n_views, sizeof(*s->views)) < 0)
		return NULL;
	s->last = s->n_views++;
	s->views[s->last] = (struct unwind_view){t, m->start - addr};
	return &s->views[s->last];
}

void unwind_put_frame(const struct unwind_space *s, uint64_t ip, bool is_return,
		      struct unwind_frame *ret)
{
	uint64_t at = ip - (is_return ? 1 : 0);
	const struct unwind_map *m = unwind_find_map(s, at);

	*ret = (struct unwind_frame){.ip = ip, .at = at, .is_known = m != NULL};
	if (m) {
		ret->file_offset = at - m->start + m->file_offset;
		ret->object = m->object;
	}
}

enum unwind_end unwind_no_tables(const struct unwind_space *s)
{
	const struct unwind_map *m = unwind_find_map(s, s->unknown_ip);
	const struct unwind_tables *t = m ? tables_of(s->u, m->object) : NULL;

	switch (t ? t->answer : USERSYM_OK) {
	case USERSYM_NO_FILE:
		return UNWIND_NO_FILE;
	case USERSYM_NO_RIGHT:
		return UNWIND_NO_RIGHT;
	case USERSYM_OTHER_FILE:
	case USERSYM_CHANGED:
	case USERSYM_UNSURE:
		return UNWIND_OTHER_FILE;
	default:
		return UNWIND_NO_INFO;
	}
}

static const struct unwind_machine *find_machine(const char *name)
{
	struct utsname u = {0};

	if (!name || !*name) {
		uname(&u);
		name = u.machine;
	}
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (!strcmp(machines[i].name, name))
			return &machines[i];
	return NULL;
}

static const struct unwind_backend *find_backend(const struct unwind_machine *m,
						 enum unwind_way way)
{
	const struct unwind_backend *known[] = {
		way == UNWIND_LIBDW ? NULL : unwind_by_libunwind(),
		way == UNWIND_LIBUNWIND ? NULL : unwind_by_libdw(),
	};

	for (size_t i = 0; m && i < sizeof(known) / sizeof(*known); i++)
		if (known[i] && known[i]->is_for(m))
			return known[i];
	return NULL;
}

int unwind_new(struct unwind **ret, struct usersyms *files, const struct unwind_config *c,
	       struct error *err)
{
	const struct unwind_machine *m = find_machine(c->machine);
	const struct unwind_backend *b = find_backend(m, c->way);
	struct unwind *u;

	if (!b)
		return error_set(err, -ENOTSUP,
				 "kontend was built without an unwinder for stacks of %s",
				 c->machine && *c->machine ? c->machine : "this machine");
	u = mem_calloc(1, sizeof(*u));
	if (!u)
		return error_enomem(err, "unwinding stacks");
	u->machine = m;
	u->backend = b;
	u->files = files;
	u->config = *c;
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
	struct unwind_space *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->u = u;
	if (u->backend->open(s) < 0) {
		mem_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void unwind_space_free(struct unwind_space *s)
{
	if (!s)
		return;
	s->u->backend->close(s);
	mem_free(s->views);
	mem_free(s);
}

void unwind_space_set(struct unwind_space *s, const struct unwind_map *maps, size_t n)
{
	s->u->backend->forget(s);
	s->maps = maps;
	s->n_maps = n;
	s->n_views = s->last = 0;
}

size_t unwind_stack(struct unwind_space *s, const struct unwind_sample *sample,
		    struct unwind_frame *ret, size_t most, enum unwind_end *ret_end)
{
	const struct unwind_machine *m = s->u->machine;

	*ret_end = UNWIND_BAD;
	if (!most || !get_perf_reg(sample, m->perf_ip, &s->ip) ||
	    !get_perf_reg(sample, m->perf_sp, &s->sp))
		return 0;
	s->sample = sample;
	s->reads_left = READS_FIRST;
	s->is_cut = s->is_unknown = false;
	unwind_put_frame(s, s->ip, false, &ret[0]);
	return s->u->backend->walk(s, ret, most, ret_end);
}

/* Why a chain ends, for users. */

const char *unwind_reason(enum unwind_end e)
{
	static const char *const reasons[UNWIND_ENDS] = {
		[UNWIND_DONE] = "complete",
		[UNWIND_CUT] = "stack dump ends",
		[UNWIND_NO_INFO] = "no unwind tables",
		[UNWIND_LOOP] = "frames in a loop",
		[UNWIND_MOST] = "too many frames",
		[UNWIND_BAD] = "damaged, or no registers",
		[UNWIND_NO_FILE] = "file not found",
		[UNWIND_NO_RIGHT] = "file not readable",
		[UNWIND_OTHER_FILE] = "maybe another file",
		[UNWIND_32BIT] = "32-bit program",
		[UNWIND_NO_MAPS] = "mappings not known",
		[UNWIND_NONE] = "no unwinder",
	};

	return (unsigned)e < UNWIND_ENDS ? reasons[e] : "unknown";
}

static size_t read_file(void *ctx, uint64_t at, void *ret, size_t n)
{
	const struct elfimg *e = ctx;
	size_t most = at < e->size && e->size - at < n ? (size_t)(e->size - at) : n;

	return elfimg_read(e, at, ret, most) ? most : 0;
}

/* Distances within a file are those within its mapping. */
static int rule_by_code(struct unwind_space *s, const struct unwind_map *m, uint64_t addr,
			struct unwind_rule *ret)
{
	struct unwind *u = s->u;
	struct elfimg e;
	const struct unwind_code code = {.read = read_file, .ctx = &e};
	int root, answer = -ENOENT;

	if (u->machine->elf != EM_X86_64 || m->object >= u->files->n_objects)
		return -ENOENT;
	if (usersym_open(u->files, u->files->objects[m->object], &e, &root) != USERSYM_OK)
		return -ENOENT;
	answer = unwind_rule_by_code(&code, unwind_goes_on(&code, addr - m->start + m->file_offset),
				     ret);
	elfimg_close(&e);
	if (root >= 0)
		close(root);
	return answer;
}

static int rule_by_table(struct unwind_space *s, const struct unwind_map *m, uint64_t addr,
			 struct unwind_rule *ret)
{
	const struct unwind_view *v = unwind_view_of(s, m);

	return v ? unwind_rule_by_libdw((struct unwind_tables *)(uintptr_t)v->tables, s->u->machine,
					addr - v->bias, ret)
		 : -ENOENT;
}

/* An entry of the header: where a function begins, counted from the header. */
static int compare_begin(const void *entry, const void *key)
{
	int32_t begin;

	memcpy(&begin, entry, sizeof(begin));
	return begin < *(const int64_t *)key ? -1 : begin > *(const int64_t *)key;
}

uint64_t unwind_begin_of(struct unwind_space *s, uint64_t addr)
{
	const struct unwind_map *m = unwind_find_map(s, addr);
	const struct unwind_view *v = m && unwind_has_table(s, addr) ? unwind_view_of(s, m) : NULL;

	if (!v)
		return 0;
	const struct unwind_tables *t = v->tables;
	uint64_t from = t->header - t->addr + UNWIND_HEADER_SIZE;
	size_t most = from < t->len ? (size_t)(t->len - from) / UNWIND_ENTRY_SIZE : 0;
	int64_t key = (int64_t)(addr - v->bias - t->header);
	size_t n = bisect_by(t->bytes + from, t->entries < most ? t->entries : most,
			     UNWIND_ENTRY_SIZE, &key, compare_begin);
	int32_t begin;

	if (!n)
		return 0;
	memcpy(&begin, t->bytes + from + (n - 1) * UNWIND_ENTRY_SIZE, sizeof(begin));
	return v->bias + t->header + (uint64_t)(int64_t)begin;
}

bool unwind_has_table(struct unwind_space *s, uint64_t addr)
{
	const struct unwind_map *m = unwind_find_map(s, addr);
	struct unwind_rule r;

	return m && rule_by_table(s, m, addr, &r) != -ENOENT;
}

int unwind_rule_of(struct unwind_space *s, uint64_t addr, struct unwind_rule *ret)
{
	const struct unwind_map *m = unwind_find_map(s, addr);

	if (!m)
		return -ENXIO;
	int code = rule_by_table(s, m, addr, ret);
	return code == -ENOENT ? rule_by_code(s, m, addr, ret) : code;
}
