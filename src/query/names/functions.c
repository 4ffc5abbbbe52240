// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that were met, for a recording that is to be read elsewhere. Those of programs are kept
 * by name; the kernel's names are in the recording anyway. Code is kept of functions that have
 * samples of their own, or a wait below them in the kernel, by their cost.
 */
#include "kontend/cell.h"
#include "kontend/profile.h"
#include "kontend/query-functions.h"
#include "kontend/stack.h"

#include "hot/annotate.h"
#include "kontend/disasm.h"
#include "kontend/funcsnap.h"
#include "kontend/mem.h"
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct query_functions_limits query_functions_usual = {
	.functions = 1 << 16, .names = 4 << 20, .code = 4 << 20};

static size_t least(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

struct query_functions_limits query_functions_within(uint64_t bytes)
{
	const struct query_functions_limits *u = &query_functions_usual;

	return (struct query_functions_limits){
		.functions = least(bytes / 4 / sizeof(struct funcsnap_func), u->functions),
		.names = least(bytes / 4, u->names),
		.code = least(bytes / 2, u->code),
	};
}

struct met {
	uint32_t func;
	uint64_t frame; /* one that is in it */
	uint64_t cost;	/* of samples in itself, or of waits below it: ns */
};

struct meeting {
	struct query *q;
	struct met *items;
	size_t n, cap;
	uint32_t *places; /* by number of the function: index + 1 */
	size_t n_places;
	uint32_t *objects; /* by number in the model: index + 1 in `out` */
	struct funcsnap *out;
	struct disasm *disasm; /* NULL: there is none for this machine */
};

static struct met *meet(struct meeting *m, uint64_t frame)
{
	uint32_t func = query_func(m->q, frame);

	if (func >= m->n_places) {
		size_t n = (size_t)func * 2 + 1024;
		uint32_t *p = mem_resize(m->places, n, sizeof(*p));
		if (!p)
			return NULL;
		memset(p + m->n_places, 0, (n - m->n_places) * sizeof(*p));
		m->places = p;
		m->n_places = n;
	}
	if (m->places[func])
		return &m->items[m->places[func] - 1];
	if (mem_grow(&m->items, &m->cap, m->n, sizeof(*m->items)) < 0)
		return NULL;
	m->items[m->n++] = (struct met){.func = func, .frame = frame};
	m->places[func] = (uint32_t)m->n;
	return &m->items[m->n - 1];
}

static int meet_chains(struct meeting *m, const struct stack_table *t)
{
	for (uint32_t i = 1; i < t->n; i++)
		for (uint32_t k = 0; t->stacks[i].used && k < t->stacks[i].n; k++)
			if (!meet(m, stack_frames(t, i)[k]))
				return -ENOMEM;
	return 0;
}

/* Waits count for the kernel's functions, which are shown with them. */
static void add_costs(struct meeting *m)
{
	const struct profile *p = m->q->model->profile;
	const struct cell_table *waits = m->q->model->cells;
	const struct stack_table *t = m->q->model->stacks;

	for (size_t i = 0; i < p->n; i++) {
		const struct profile_cell *c = &p->cells[i];
		if (p->stacks.stacks[c->stack].n)
			meet(m, stack_frames(&p->stacks, c->stack)[0])->cost +=
				p->period ? c->period : c->n;
	}
	for (size_t i = 0; i < waits->n; i++) {
		uint32_t stack = waits->cells[i].stack;
		for (uint32_t k = 0; k < t->stacks[stack].n; k++) {
			struct met *at = meet(m, stack_frames(t, stack)[k]);
			if (map_frame_is_kernel(at->frame) && !at->cost)
				at->cost = 1;
		}
	}
}

/* The hottest first. */
static int by_cost(const void *a, const void *b)
{
	const struct met *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->func > y->func) - (x->func < y->func);
}

/* Index + 1 in the result; 0: no memory. */
static uint32_t object_of(struct meeting *m, uint32_t index)
{
	const struct map_objects *all = m->q->model->profile->spaces.objects;
	const struct map_object *o = map_object_get(all, index);
	struct funcsnap_object item = {.pid = o->pid, .maj = o->maj, .min = o->min, .ino = o->ino};

	if (m->objects[index])
		return m->objects[index];
	item.id_len = o->id_len;
	memcpy(item.id, o->id, o->id_len);
	if (!item.id_len)
		item.id_len = (uint8_t)query_user_build_id(m->q, index, item.id);
	item.path = funcsnap_add_text(m->out, o->path);
	m->objects[index] = item.path ? funcsnap_add_object(m->out, &item) : 0;
	return m->objects[index];
}

/* 0, 1: it has no name that is worth keeping, or -ENOMEM. */
static int name_one(struct meeting *m, const struct met *at, struct funcsnap_func *ret)
{
	struct usersym sym;

	/* Records have the names of code that the kernel made; the code itself is gone by then. */
	if (engine_ksym(m->q->engine, at->frame))
		return 1;
	if (map_frame_is_kernel(at->frame)) {
		ret->start = m->q->cache->funcs[at->func].start;
		return at->cost ? 0 : 1;
	}
	if (query_user_symbol(m->q, at->frame, &sym) != USERSYM_OK)
		return 1;
	ret->start = sym.start;
	ret->size = sym.size;
	ret->name = funcsnap_add_text(m->out, sym.name);
	ret->object = ret->name ? object_of(m, map_frame_object(at->frame)) : 0;
	return ret->object ? 0 : -ENOMEM;
}

/* Jump and call targets in a program's code are shown by name, too. */
static int meet_targets(struct meeting *m, uint64_t frame, uint64_t start,
			const struct annotate_code *code)
{
	uint64_t base = frame & ~((1ull << MAP_OFFSET_BITS) - 1);
	struct disasm_line line;

	for (size_t at = 0;
	     m->disasm && disasm_line(m->disasm, code->bytes, code->n, at, start, &line);
	     at += line.length)
		if (line.has_target && line.target - start >= code->n &&
		    !(line.target >> MAP_OFFSET_BITS) && !meet(m, base | line.target))
			return -ENOMEM;
	return 0;
}

static int code_one(struct meeting *m, const struct met *at, size_t most, struct funcsnap_func *f)
{
	struct annotate_code code;
	int r = annotate_code(m->q, m->q->cache->funcs[at->func].start, &code);

	if (r < 0)
		return r;
	if (!code.bytes) {
		m->out->head.no_code++;
		return 0;
	}
	if (code.n > most - m->out->n_code) {
		m->out->head.left_code++;
		return 0;
	}
	if (map_frame_is_kernel(at->frame))
		f->size = code.n;
	r = funcsnap_add_code(m->out, f, code.bytes, code.n);
	return r < 0 || f->object == 0 ? r : meet_targets(m, at->frame, f->start, &code);
}

/* Parts of a function that a recording gets. */
enum { REPORT_NAME = 1, REPORT_CODE };

static bool is_reported(const struct meeting *m, const struct met *at, const struct map64 *reported)
{
	const uint32_t *what =
		reported ? map64_get(reported, m->q->cache->funcs[at->func].start) : NULL;

	return what && *what >= (at->cost ? REPORT_CODE : REPORT_NAME);
}

static int note_reported(const struct meeting *m, const struct met *at, struct map64 *reported)
{
	return reported ? map64_put(reported, m->q->cache->funcs[at->func].start,
				    at->cost ? REPORT_CODE : REPORT_NAME)
			: 0;
}

static int keep_one(struct meeting *m, const struct met *at, const struct query_functions_limits *l)
{
	struct funcsnap_func f = {0};
	int r;

	if (is_reported(m, at, l->reported))
		return 0;
	if (m->out->n_funcs >= l->functions || m->out->n_strings >= l->names) {
		m->out->head.left_names++;
		return 0;
	}
	r = name_one(m, at, &f);
	if (r)
		return r < 0 ? r : 0;
	if (at->cost)
		r = code_one(m, at, l->code, &f);
	if (r == 0)
		r = note_reported(m, at, l->reported);
	if (r < 0 || (!f.object && !f.code_len))
		return r;
	return funcsnap_add_func(m->out, &f);
}

static int collect(struct meeting *m, const struct query_functions_limits *l)
{
	const struct model *model = m->q->model;
	int r = meet_chains(m, &model->profile->stacks);

	if (r == 0)
		r = meet_chains(m, model->stacks);
	m->objects = mem_calloc(model->profile->spaces.objects->n, sizeof(*m->objects));
	if (r < 0 || !m->objects)
		return -ENOMEM;
	add_costs(m);
	if (m->n)
		qsort(m->items, m->n, sizeof(*m->items), by_cost);
	/* More are met on the way. */
	for (size_t i = 0; r == 0 && i < m->n; i++) {
		struct met at = m->items[i];
		r = keep_one(m, &at, l);
	}
	if (r == 0)
		r = query_variables(m->q, l, m->out);
	funcsnap_sort(m->out);
	return r;
}

int query_functions(struct query *q, const struct query_functions_limits *l, struct funcsnap *ret,
		    struct error *err)
{
	struct meeting m = {.q = q, .out = ret};
	int r = query_sync(q);

	if (r == 0 && disasm_open(&m.disasm, disasm_machine_here(), err) == -ENOMEM)
		r = -ENOMEM;
	if (r == 0)
		r = collect(&m, l);
	disasm_close(m.disasm);
	mem_free(m.items);
	mem_free(m.places);
	mem_free(m.objects);
	if (r == 0 && !q->cache->failed)
		return 0;
	funcsnap_deinit(ret);
	return query_enomem(err, "functions");
}

int query_functions_meet(struct query *q, struct error *err)
{
	struct meeting m = {.q = q};
	int r = query_sync(q);

	if (r == 0)
		r = meet_chains(&m, &q->model->profile->stacks);
	if (r == 0)
		r = meet_chains(&m, q->model->stacks);
	mem_free(m.items);
	mem_free(m.places);
	return r < 0 || q->cache->failed ? query_enomem(err, "functions") : 0;
}
