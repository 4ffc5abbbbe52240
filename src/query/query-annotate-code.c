// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code of a function: of the kernel that runs here as it is now, of another one as it is in the
 * recording, of a program out of its file. Places that it jumps to or calls are named.
 */
#include "kontend/codesource.h"
#include "kontend/textsnap.h"
#include "kontend/thisboot.h"
#include "query-annotate.h"
#include "query-users.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Longer ones are shown up to here. */
enum { MOST_BYTES = 256 << 10 };

/* Up to the next symbol. */
static size_t kernel_size(const struct query *q, uint64_t start)
{
	const struct sym_entry *e = sym_find(q->sym, start);
	const struct sym_entry *end = q->sym->entries + q->sym->n;

	if (!e || e->addr != start)
		return 0;
	while (e < end && e->addr == start)
		e++;
	uint64_t size = e < end ? e->addr - start : MOST_BYTES;
	return size < MOST_BYTES ? (size_t)size : MOST_BYTES;
}

static bool is_running(const struct query *q)
{
	const struct record_host *h = &q->model->host;

	return thisboot_saw(h->release, h->wall_ns, h->clock_ns);
}

static bool recorded_code(const struct query *q, uint64_t start, struct annotate_code *ret)
{
	const struct snapshot *s = snapshot_set_get(&q->model->snapshots, SNAPSHOT_TEXT);

	if (!s || !textsnap_find(s->bytes, s->len, start, &ret->bytes, &ret->n))
		return false;
	ret->source = "recording";
	return true;
}

static int running_code(struct query *q, uint64_t start, struct annotate_code *ret)
{
	const struct codesource *c = q->engine->code;
	size_t size = kernel_size(q, start), n = 0;
	uint8_t *bytes;

	if (!c->name) {
		ret->why = c->why;
		return 0;
	}
	if (!size) {
		ret->why = "where it ends is not known";
		return 0;
	}
	bytes = arena_alloc(&q->arena, size);
	if (!bytes)
		return -ENOMEM;
	int r = c->read(c->ctx, start, bytes, size, &n);
	if (r < 0 || !n) {
		ret->why =
			arena_printf(&q->arena, "%s: %s", c->name, strerror(r < 0 ? -r : EFAULT));
		return ret->why ? 0 : -ENOMEM;
	}
	*ret = (struct annotate_code){.bytes = bytes, .n = n, .source = c->name};
	return 0;
}

static int kernel_code(struct query *q, uint64_t start, struct annotate_code *ret)
{
	if (recorded_code(q, start, ret))
		return 0;
	if (q->engine->code && is_running(q))
		return running_code(q, start, ret);
	ret->why = "the code of this function is not in the recording";
	return 0;
}

static int user_code(struct query *q, uint64_t start, struct annotate_code *ret)
{
	uint8_t *bytes = arena_alloc(&q->arena, MOST_BYTES);
	enum usersym_answer a;

	if (!bytes)
		return -ENOMEM;
	a = query_user_bytes(q, start, bytes, MOST_BYTES, &ret->n, &ret->source);
	if (a == USERSYM_NO_MEMORY)
		return -ENOMEM;
	if (a == USERSYM_OK && ret->n)
		ret->bytes = bytes;
	else
		ret->why = a == USERSYM_PENDING ? "loading" : usersym_reason(a);
	return 0;
}

int annotate_code(struct query *q, uint64_t start, struct annotate_code *ret)
{
	*ret = (struct annotate_code){0};
	return map_frame_is_kernel(start) ? kernel_code(q, start, ret) : user_code(q, start, ret);
}

static enum disasm_machine machine_of(const struct query *q)
{
	const char *m = q->model->host.machine;

	if (!strcmp(m, "x86_64"))
		return DISASM_X86_64;
	return !strcmp(m, "aarch64") ? DISASM_ARM64 : DISASM_OTHER;
}

/* "schedule", "schedule+0x12"; NULL: not known. */
static const char *target_name(struct query *q, uint64_t start, uint64_t target)
{
	bool kernel = map_frame_is_kernel(start);
	uint64_t base = start & ~((1ull << MAP_OFFSET_BITS) - 1);
	uint64_t frame = kernel ? target : base | map_frame_offset(target);

	if (kernel ? !map_frame_is_kernel(target) || !sym_find(q->sym, target)
		   : target >> MAP_OFFSET_BITS)
		return NULL;
	uint32_t func = query_func(q, frame);
	const char *name = query_func_name(q, func);
	if (!func || !name || *name == '(')
		return NULL;
	uint64_t off = frame - q->cache->funcs[func].start;
	return off ? arena_printf(&q->arena, "%s+0x%llx", name, (unsigned long long)off) : name;
}

/* The text with the last operand, which is the target, as @to. */
static const char *text_to(struct query *q, const struct disasm_line *l, const char *to)
{
	const char *operands = l->text + l->operands, *comma = strrchr(operands, ',');
	int n = (int)((comma ? comma + 1 : operands) - l->text);

	return arena_printf(&q->arena, "%.*s%s", n, l->text, to);
}

static int set_text(struct query *q, uint64_t start, uint64_t base, size_t size,
		    const struct disasm_line *d, struct query_code_line *l)
{
	char inside[32];

	l->text = NULL;
	if (d->has_target && d->target >= base && d->target < base + size &&
	    d->kind == DISASM_JUMP) {
		l->jumps = true;
		l->jump = d->target - base;
		snprintf(inside, sizeof(inside), "+0x%llx", (unsigned long long)l->jump);
		l->text = text_to(q, d, inside);
		return l->text ? 0 : -ENOMEM;
	}
	if (d->has_target)
		l->call = target_name(q, start, d->target);
	l->text = l->call ? text_to(q, d, l->call)
			  : arena_strndup(&q->arena, d->text, strlen(d->text));
	return l->text ? 0 : -ENOMEM;
}

/* What fills the room up to the next function. */
static bool is_padding(const struct query_code_line *l)
{
	return l->kind == DISASM_PLAIN && (!strncmp(l->text, "nop", 3) || !strcmp(l->text, "int3"));
}

/* Jumps into the middle of an instruction have no line to go to. */
static void check_jumps(struct query_code_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t low = 0, high = n;

		while (lines[i].jumps && low < high) {
			size_t mid = low + (high - low) / 2;

			if (lines[mid].offset < lines[i].jump)
				low = mid + 1;
			else
				high = mid;
		}
		lines[i].jumps = lines[i].jumps && low < n && lines[low].offset == lines[i].jump;
	}
}

static int read_lines(struct query *q, struct disasm *d, const struct annotate_code *code,
		      struct query_annotate *ret)
{
	bool kernel = map_frame_is_kernel(ret->start);
	uint64_t base = kernel ? ret->start : map_frame_offset(ret->start);
	struct query_code_line *lines = arena_alloc(&q->arena, code->n * sizeof(*lines));
	struct disasm_line one;
	size_t n = 0;

	if (!lines)
		return -ENOMEM;
	for (size_t at = 0; disasm_line(d, code->bytes, code->n, at, base, &one);
	     at += one.length) {
		struct query_code_line *l = &lines[n++];
		*l = (struct query_code_line){.offset = at,
					      .length = one.length,
					      .code = code->bytes + at,
					      .kind = one.kind};
		if (set_text(q, ret->start, base, code->n, &one, l) < 0)
			return -ENOMEM;
	}
	while (n && is_padding(&lines[n - 1]))
		n--;
	check_jumps(lines, n);
	ret->lines = lines;
	ret->n = n;
	return 0;
}

int annotate_lines(struct query *q, const struct annotate_code *code, struct query_annotate *ret)
{
	struct error err = {0};
	struct disasm *d;
	int r = disasm_open(&d, machine_of(q), &err);

	if (r < 0) {
		ret->source = NULL;
		ret->why = arena_strndup(&q->arena, err.text, strlen(err.text));
		return r == -ENOMEM || !ret->why ? -ENOMEM : 0;
	}
	r = read_lines(q, d, code, ret);
	disasm_close(d);
	return q->cache->failed ? -ENOMEM : r;
}
