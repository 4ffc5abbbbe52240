// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of source, and functions that are inlined. The model has addresses, whatever was inlined
 * there: a frame becomes several functions when it is shown, and before debug information has been
 * read it is one. An inlined function is identified by its name and the function that it is in, so
 * that an open or selected node of a tree stays so.
 */
#include "names.h"

#include "kontend/hash.h"
#include "kontend/maps.h"
#include "kontend/profile.h"
#include "kontend/srclines.h"

#include <errno.h>
#include <string.h>

static int open_lines(struct query *q)
{
	struct error err;

	return q->lines ? 0 : srclines_new(&q->lines, q->users, q->engine->lines, &err);
}

static enum srclines_answer find_in_kernel(struct query *q, uint64_t frame, bool is_return,
					   const struct srclines_place **ret, const char **ret_why)
{
	uint32_t file;
	uint64_t addr;

	if (!q->engine->lines)
		return SRCLINES_KERNEL;
	enum srclines_answer a = query_vmlinux(q, frame - is_return, &file, &addr, ret_why);
	if (a != SRCLINES_OK)
		return a;
	if (open_lines(q) < 0)
		return SRCLINES_NO_MEMORY;
	*ret_why = srclines_why(q->lines, file);
	return srclines_find_addr(q->lines, file, addr, ret);
}

/* Of a function that an interpreter runs: its frame has the line. */
static enum srclines_answer find_code(struct query *q, uint64_t frame,
				      const struct srclines_place **ret)
{
	const struct code *c = codes_get(q->model->profile->codes, frame);
	uint32_t func = query_func(q, frame);

	if (!c || !func || !map_code_line(frame))
		return SRCLINES_NO_LINE;
	struct srclines_place *p = arena_alloc(&q->arena, sizeof(*p));
	if (!p)
		return SRCLINES_NO_MEMORY;
	*p = (struct srclines_place){.n = 1};
	p->frames[0] = (struct srclines_frame){.function = query_func_name(q, func),
					       .file = q->cache->funcs[func].object,
					       .line = map_code_line(frame)};
	*ret = p;
	return SRCLINES_OK;
}

static enum srclines_answer find_place(struct query *q, uint64_t frame, bool is_return,
				       const struct srclines_place **ret, const char **ret_why)
{
	uint32_t file;

	if (map_frame_is_kernel(frame))
		return find_in_kernel(q, frame, is_return, ret, ret_why);
	if (map_frame_is_code(frame))
		return find_code(q, frame, ret);
	int r = q->engine->lines ? query_user_file(q, frame, &file) : -ENOENT;

	if (r == -ENOENT)
		return SRCLINES_NO_INFO;
	if (r < 0 || open_lines(q) < 0)
		return SRCLINES_NO_MEMORY;
	*ret_why = srclines_why(q->lines, file);
	return srclines_find(q->lines, file, map_frame_offset(frame) - is_return, ret);
}

enum srclines_answer query_place(struct query *q, uint64_t frame, bool is_return,
				 const struct srclines_place **ret, const char **ret_why)
{
	*ret_why = NULL;
	enum srclines_answer a = find_place(q, frame, is_return, ret, ret_why);
	*ret_why = *ret_why ? *ret_why : srclines_reason(a);
	return a;
}

enum srclines_answer query_member(struct query *q, uint32_t file, uint64_t at,
				  struct srclines_member *ret)
{
	if (!q->engine->lines)
		return SRCLINES_NO_INFO;
	return open_lines(q) < 0 ? SRCLINES_NO_MEMORY : srclines_member(q->lines, file, at, ret);
}

const char *query_place_text(struct query *q, const struct srclines_frame *f)
{
	if (!*f->file || !f->line)
		return NULL;
	return arena_printf(&q->arena, "%s:%u", f->file, f->line);
}

/* Names of places are interned, so their addresses stand for them. */
static uint32_t inlined_func(struct query *q, uint32_t outer, const char *name)
{
	uint64_t start = hash_u64((uintptr_t)name ^ q->cache->funcs[outer].start * 31);

	start &= ~(1ull << 63);
	const uint32_t *known = map64_get(&q->cache->by_addr, start);
	if (known)
		return *known;
	const char *shown = arena_printf(&q->cache->text, "%s (inlined)", *name ? name : "?");
	uint32_t func = shown ? query_func_add(q, start, shown, q->cache->funcs[outer].object) : 0;
	q->cache->failed |= !func;
	q->cache->funcs[func].inlined_in = func ? outer : 0;
	return func;
}

/* Functions inlined at @frame in @outer, innermost first. */
static uint32_t add_inlined(struct query *q, uint64_t frame, bool is_return, uint32_t outer,
			    uint32_t *ret, uint32_t most)
{
	const struct srclines_place *p;
	const char *why;
	uint32_t n = 0;

	if (!q->engine->lines || q->engine->lines->no_inline)
		return 0;
	enum srclines_answer a = query_place(q, frame, is_return, &p, &why);
	q->cache->pending |= a == SRCLINES_PENDING;
	if (a != SRCLINES_OK)
		return 0;
	for (size_t i = 0; i + 1 < p->n && n < most; i++)
		ret[n++] = inlined_func(q, outer, p->frames[i].function);
	return n;
}

uint32_t query_chain_funcs(struct query *q, const uint64_t *frames, uint32_t n, uint32_t *ret,
			   uint32_t most)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t func = query_func(q, frames[i]);
		/*
		 * The sampled address, or that of the entry into the kernel, is exact; others are
		 * return addresses.
		 */
		bool is_return =
			i && map_frame_is_kernel(frames[i]) == map_frame_is_kernel(frames[i - 1]);
		at += add_inlined(q, frames[i], is_return, func, ret + at, most - at - (n - i));
		ret[at++] = func;
	}
	return at;
}

static bool file_at(struct query *q, uint64_t frame, uint32_t *ret)
{
	const char *why;
	uint64_t addr;

	if (map_frame_is_kernel(frame))
		return query_vmlinux(q, frame, ret, &addr, &why) == SRCLINES_OK;
	return query_user_file(q, frame, ret) == 0;
}

const char *query_source_text(struct query *q, uint64_t frame, const struct srclines_frame *f)
{
	char text[SRCLINES_TEXT_MOST];
	struct error err;
	uint32_t file;

	if (!*f->file || !f->line || !file_at(q, frame, &file) ||
	    (!q->texts && srclines_text_new(&q->texts, q->users, &err) < 0) ||
	    !srclines_text_line(q->texts, file, f->file, f->line, text))
		return NULL;
	return arena_strndup(&q->arena, text, strlen(text));
}

void query_lines_deinit(struct query *q)
{
	srclines_text_free(q->texts);
	srclines_free(q->lines);
	query_vmlinux_deinit(q);
	q->texts = NULL;
	q->lines = NULL;
}
