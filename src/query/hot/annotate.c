// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function from inside. Where a call came back to stands for the call before it; what runs when
 * it is interrupted is the instruction itself. Without code the places are shown by their offsets
 * alone: shares are known all the same.
 */
#include "annotate.h"
#include "list.h"
#include "names/names.h"

#include "kontend/bisect.h"
#include "kontend/nearest.h"
#include "kontend/profile.h"
#include "kontend/stack.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* The line that @offset is in; NULL: none. */
static struct query_code_line *line_at(struct query_code_line *lines, size_t n, uint64_t offset)
{
	size_t until = BISECT(lines, n, offset, offset);

	if (!until || offset - lines[until - 1].offset >= lines[until - 1].length)
		return NULL;
	return &lines[until - 1];
}

static struct query_code_line *line_of(struct query_code_line *lines, size_t n,
				       const struct annotate_place *p)
{
	struct query_code_line *before =
		p->is_return && p->offset ? line_at(lines, n, p->offset - 1) : NULL;

	return before && before->kind == DISASM_CALL ? before : line_at(lines, n, p->offset);
}

static void add_place(struct query_code_line *l, const struct annotate_place *p)
{
	l->samples += p->samples;
	l->weight += p->weight;
	l->wait_ns += p->wait_ns;
}

/* In the order of offsets, each once. */
static int lines_of_places(struct query *q, const struct annotate_places *p,
			   struct query_annotate *ret)
{
	struct query_code_line *lines = arena_alloc(&q->arena, (p->n + 1) * sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		const struct annotate_place *at = &p->items[i];
		size_t k = ret->n;

		while (k && lines[k - 1].offset >= at->offset)
			k--;
		if (k == ret->n || lines[k].offset != at->offset) {
			memmove(lines + k + 1, lines + k, (ret->n - k) * sizeof(*lines));
			lines[k] = (struct query_code_line){.offset = at->offset};
			ret->n++;
		}
		add_place(&lines[k], at);
	}
	ret->lines = lines;
	return 0;
}

static int join(struct query *q, const struct annotate_places *p, struct query_annotate *ret)
{
	struct query_code_line *lines = ret->lines;

	if (!ret->source)
		return lines_of_places(q, p, ret);
	for (size_t i = 0; i < p->n; i++) {
		struct query_code_line *l = line_of(lines, ret->n, &p->items[i]);
		if (l)
			add_place(l, &p->items[i]);
	}
	return 0;
}

static void set_shares(struct query_annotate *a)
{
	struct query_code_line *lines = a->lines;
	const struct query_code_line *best = NULL;

	for (size_t i = 0; i < a->n; i++) {
		struct query_code_line *l = &lines[i];

		l->pct = units_percent(l->weight, a->weight);
		if (!l->weight && !l->wait_ns)
			continue;
		if (!best || l->weight > best->weight ||
		    (l->weight == best->weight && l->wait_ns > best->wait_ns))
			best = l;
	}
	a->hottest = best ? (size_t)(best - lines) : SIZE_MAX;
}

/* "sti", "popfq", "msr DAIFClr, #2" */
static bool allows_irqs(const struct query_code_line *l)
{
	static const char *const texts[] = {"sti", "popf", "msr daif"};

	for (size_t i = 0; l->text && i < sizeof(texts) / sizeof(*texts); i++)
		if (!strncasecmp(l->text, texts[i], strlen(texts[i])))
			return true;
	return false;
}

/* The interrupt of a clock comes an instruction or few after those that let it. */
static void mark_skid(struct query_annotate *a)
{
	enum { REACH = 4 };
	size_t allowed = SIZE_MAX;

	if (!a->is_time || !map_frame_is_kernel(a->start))
		return;
	for (size_t i = 0; i < a->n; i++) {
		a->lines[i].skid =
			a->lines[i].samples && allowed != SIZE_MAX && i - allowed <= REACH;
		allowed = allows_irqs(&a->lines[i]) ? i : allowed;
	}
}

/* The source line of each instruction; lines that are not read yet come with a later frame. */
static int set_places(struct query *q, struct query_annotate *a)
{
	bool any = false;

	for (size_t i = 0; i < a->n; i++) {
		struct query_code_line *l = &a->lines[i];
		const char *why;
		enum srclines_answer got =
			query_place(q, a->start + l->offset, false, &l->place, &why);
		if (got == SRCLINES_NO_MEMORY)
			return -ENOMEM;
		if (got == SRCLINES_OK)
			l->source_text = query_source_text(q, a->start, &l->place->frames[0]);
		any |= got == SRCLINES_OK;
		a->lines_why = why;
	}
	if (any)
		a->lines_why = NULL;
	return 0;
}

static int annotate(struct query *q, uint32_t func, struct query_annotate *ret)
{
	struct annotate_places places;
	struct annotate_code code;
	int r = annotate_sum(q, func, &places, ret);

	if (r == 0)
		r = annotate_code(q, ret->start, &code);
	if (r < 0)
		return r;
	ret->recorded = q->cache->funcs[func].recorded;
	ret->source = code.source;
	ret->live = code.live;
	ret->loading = code.loading;
	ret->why = code.why;
	ret->size = code.n;
	if (code.bytes)
		r = annotate_lines(q, &code, ret);
	if (r == 0)
		r = join(q, &places, ret);
	if (r == 0)
		r = set_places(q, ret);
	set_shares(ret);
	mark_skid(ret);
	ret->all_samples = query_profile(q)->samples;
	if (places.all_weight)
		ret->pct = 100.0 * (double)ret->weight / (double)places.all_weight;
	if (places.all_wait_ns)
		ret->wait_pct = 100.0 * (double)ret->wait_ns / (double)places.all_wait_ns;
	return r;
}

int query_annotate(struct query *q, uint64_t start, struct query_annotate *ret, struct error *err)
{
	if (query_sync(q) < 0)
		return query_enomem(err, "code");
	uint32_t func = query_func(q, start);
	const struct query_func *f = &q->cache->funcs[func];

	*ret = (struct query_annotate){.symbol = f->name,
				       .object = f->object,
				       .start = f->start,
				       .place = map_frame_is_kernel(f->start)
							? query_kernel_address(q, f->start)
							: map_frame_offset(f->start),
				       .is_time = hot_is_clock(q),
				       .waits = map_frame_is_kernel(start)};
	if (ret->waits && func && sym_is_trylock(f->name))
		ret->note = sym_trylock_note;
	if (!func || annotate(q, func, ret) < 0)
		return query_enomem(err, "code");
	return 0;
}

void annotate_meet(struct query *q)
{
	const struct profile *p = q->model->profile;
	const struct stack_table *t = q->model->stacks;

	for (uint32_t i = 1; i < p->stacks.n; i++)
		if (p->stacks.stacks[i].used && p->stacks.stacks[i].n)
			query_func(q, stack_frames(&p->stacks, i)[0]);
	for (uint32_t i = 1; i < t->n; i++)
		for (uint32_t k = 0; t->stacks[i].used && k < t->stacks[i].n; k++)
			query_func(q, stack_frames(t, i)[k]);
}

static const struct sym_entry *find_symbol(const struct sym *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sym_entry *e = &s->entries[i];
		if ((e->type == 't' || e->type == 'T') && !strcmp(sym_text(s, e), name))
			return e;
	}
	return NULL;
}

static int not_found(struct query *q, const struct sym *s, const char *symbol, struct error *err)
{
	struct nearest near = {.word = symbol};

	for (uint32_t i = 1; i < q->cache->n_funcs; i++)
		nearest_consider(&near, q->cache->funcs[i].name);
	for (size_t i = 0; !near.n && i < s->n; i++)
		nearest_consider(&near, sym_text(s, &s->entries[i]));
	if (!near.n)
		return error_set(err, -ENOENT,
				 "No function '%s' was sampled or waited in, and the kernel has "
				 "none; '--view hot' lists those that were",
				 symbol);
	return error_set(err, -ENOENT, "No function '%s'; is it %s%s%s%s%s?", symbol, near.names[0],
			 near.n > 1 ? ", " : "", near.n > 1 ? near.names[1] : "",
			 near.n > 2 ? ", " : "", near.n > 2 ? near.names[2] : "");
}

/* Neither sampled nor waited in, but it may be a function of the kernel. */
static int find_unseen(struct query *q, const char *symbol, uint64_t *ret_start, struct error *err)
{
	const struct sym *s = sym_whole(q->sym);

	if (!s)
		return query_enomem(err, "code");
	const struct sym_entry *e = find_symbol(s, symbol);
	if (!e)
		return not_found(q, s, symbol, err);
	*ret_start = e->addr;
	return 0;
}

int query_annotate_find(struct query *q, const char *symbol, uint64_t *ret_start, struct error *err)
{
	struct query_annotate best = {0};
	bool found = false;

	if (query_sync(q) < 0)
		return query_enomem(err, "code");
	annotate_meet(q);
	for (uint32_t i = 1; i < q->cache->n_funcs; i++) {
		struct query_annotate one = {.start = q->cache->funcs[i].start};
		struct annotate_places places;
		if (strcmp(q->cache->funcs[i].name, symbol) != 0)
			continue;
		if (annotate_sum(q, i, &places, &one) < 0)
			return query_enomem(err, "code");
		if (!found || one.weight > best.weight ||
		    (one.weight == best.weight && one.wait_ns > best.wait_ns))
			best = one;
		found = true;
	}
	if (q->cache->failed)
		return query_enomem(err, "code");
	if (!found)
		return find_unseen(q, symbol, ret_start, err);
	*ret_start = best.start;
	return 0;
}
