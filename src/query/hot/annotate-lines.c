// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes of a function as lines of instructions. The targets of jumps and calls are named, and so
 * are fixed addresses of kernel data that it reads and writes: that shows which lock is taken.
 */
#include "annotate.h"
#include "kontend/bisect.h"
#include "kontend/maps.h"
#include "names/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum disasm_machine machine_of(const struct query *q)
{
	const char *m = q->model->host->machine;

	if (!strcmp(m, "x86_64"))
		return DISASM_X86_64;
	return !strcmp(m, "aarch64") ? DISASM_ARM64 : DISASM_OTHER;
}

/* A place in the code, @target of @start's kind, as frames have it; 0: there is none such. */
static uint64_t frame_of(uint64_t start, uint64_t target)
{
	if (map_frame_is_kernel(start))
		return map_frame_is_kernel(target) ? target : 0;
	return target >> MAP_OFFSET_BITS ? 0 : (start & ~((1ull << MAP_OFFSET_BITS) - 1)) | target;
}

static const char *with_offset(struct query *q, const char *name, uint64_t off)
{
	return off ? arena_printf(&q->arena, "%s+0x%llx", name, (unsigned long long)off) : name;
}

/* "schedule", "schedule+0x12"; NULL: not known. */
static const char *target_name(struct query *q, uint64_t frame)
{
	if (!frame || (map_frame_is_kernel(frame) && !sym_find(q->sym, frame)))
		return NULL;
	uint32_t func = query_func(q, frame);
	const char *name = query_func_name(q, func);
	if (!func || !name || *name == '(')
		return NULL;
	return with_offset(q, name, frame - q->cache->funcs[func].start);
}

/* "jiffies_64", "tasklist_lock+0x4". In a program that would be its own address, not a place in its
 * file. */
static const char *data_name(struct query *q, uint64_t start, uint64_t data)
{
	uint64_t off = 0;
	const char *name = map_frame_is_kernel(start) && map_frame_is_kernel(data)
				   ? sym_name(q->sym, data, &off)
				   : NULL;

	return name ? with_offset(q, name, off) : NULL;
}

/* The text with the last operand, which is the target, as @to. */
static const char *text_to(struct query *q, const struct disasm_line *l, const char *to)
{
	const char *operands = l->text + l->operands, *comma = strrchr(operands, ',');
	int n = (int)((comma ? comma + 1 : operands) - l->text);

	return arena_printf(&q->arena, "%.*s%s", n, l->text, to);
}

static int set_text(struct query *q, uint64_t base, size_t size, const struct disasm_line *d,
		    struct query_code_line *l)
{
	char inside[32];

	if (d->has_target && d->target >= base && d->target < base + size &&
	    d->kind == DISASM_JUMP) {
		l->jumps = true;
		l->jump = d->target - base;
		snprintf(inside, sizeof(inside), "+0x%llx", (unsigned long long)l->jump);
		l->text = text_to(q, d, inside);
		return l->text ? 0 : -ENOMEM;
	}
	if (d->has_target)
		l->call = target_name(q, l->target);
	l->text = l->call ? text_to(q, d, l->call)
			  : arena_strndup(&q->arena, d->text, strlen(d->text));
	return l->text ? 0 : -ENOMEM;
}

static int set_line(struct query *q, const struct annotate_code *code, uint64_t start,
		    const struct disasm_line *d, struct query_code_line *ret)
{
	uint64_t base = map_frame_is_kernel(start) ? start : map_frame_offset(start);

	*ret = (struct query_code_line){.offset = d->offset,
					.length = d->length,
					.code = code->bytes + d->offset,
					.operands = d->operands,
					.kind = d->kind};
	if (d->has_target)
		ret->target = frame_of(start, d->target);
	ret->has_target = ret->target;
	if (d->has_data)
		ret->data = data_name(q, start, d->data);
	return set_text(q, base, code->n, d, ret);
}

/* Padding up to the next function. */
static bool is_padding(const struct query_code_line *l)
{
	return l->kind == DISASM_PLAIN && (!strncmp(l->text, "nop", 3) || !strcmp(l->text, "int3"));
}

/* Jumps into the middle of an instruction have no line to go to. */
static void check_jumps(struct query_code_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t until = lines[i].jumps ? BISECT(lines, n, offset, lines[i].jump) : 0;

		lines[i].jumps = until && lines[until - 1].offset == lines[i].jump;
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
	for (size_t at = 0; disasm_line(d, code->bytes, code->n, at, base, &one); at += one.length)
		if (set_line(q, code, ret->start, &one, &lines[n++]) < 0)
			return -ENOMEM;
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

const char *query_annotate_note(const struct query_code_line *l)
{
	return l->skid ? "irq-off region?" : l->data;
}

const char *query_annotate_text(const struct query_code_line *l, char buf[QUERY_ANNOTATE_TEXT])
{
	enum { MNEMONIC = 6 };
	const char *text = l->text ? l->text : "", *note = query_annotate_note(l);
	bool has_operands = l->text && text[l->operands];
	int n = has_operands ? l->operands - 1 : (int)strlen(text);

	snprintf(buf, QUERY_ANNOTATE_TEXT, "%-*.*s%s%s%s%s", has_operands ? MNEMONIC : 0, n, text,
		 has_operands ? " " : "", has_operands ? text + l->operands : "",
		 note ? "  # " : "", note ? note : "");
	return buf;
}
