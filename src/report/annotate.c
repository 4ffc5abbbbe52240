// SPDX-License-Identifier: GPL-2.0-only
/*
 * Annotated functions in reports, as perf annotate --stdio prints them: each instruction after its
 * share of the function's samples, with the waits of its calls on the lines below it.
 */
#include "internal.h"
#include "kontend/maps.h"
#include "kontend/query-load.h"
#include "kontend/text.h"
#include "kontend/units.h"

#include <errno.h>
#include <string.h>

static const uint64_t WAIT_NS = 30000000000;

static const char *const kinds[] = {
	[DISASM_PLAIN] = "plain",   [DISASM_JUMP] = "jump",   [DISASM_CALL] = "call",
	[DISASM_RETURN] = "return", [DISASM_UNKNOWN] = "bad",
};

static int ask_once(struct report_data *d, struct error *err)
{
	uint64_t start;
	int r = query_annotate_find(d->q, d->spec->annotate, &start, err);

	return r < 0 ? r : query_annotate(d->q, start, &d->annotate, err);
}

/* The programs that call the function have names only if their symbols are loaded: load them
 * first. */
int report_annotate_ask(struct report_data *d, struct error *err)
{
	struct error last = {0};
	int r;

	do {
		last = (struct error){0};
		r = ask_once(d, &last);
	} while (r != -ENOMEM && query_load_wait(d->q, WAIT_NS));
	if (r == -ENOENT)
		return error_set(err, -EINVAL, "%s", last.text);
	return r;
}

static void put_head(const struct query_annotate *a, FILE *out)
{
	char name[160], object[160], n[UNITS_BUF], pct[UNITS_BUF], ns[UNITS_BUF], w[UNITS_BUF];
	const char *names = a->recorded ? "; names: from the recording" : "";

	fprintf(out, "#\n# annotate %s in %s: %s samples, %s%% of all",
		text_clean(name, sizeof(name), a->symbol),
		text_clean(object, sizeof(object), a->object), units_count(n, a->samples),
		a->samples ? units_pct(pct, a->pct) : "0");
	if (a->waits)
		fprintf(out, "; %s waited below it, %s%%", units_ns(ns, a->wait_ns),
			a->wait_ns ? units_pct(w, a->wait_pct) : "0");
	fputc('\n', out);
	if (a->note)
		fprintf(out, "# %s\n", a->note);
	if (a->source)
		fprintf(out, "# code: %s%s, %llu bytes\n",
			text_clean(name, sizeof(name), a->source), names,
			(unsigned long long)a->size);
	else
		fprintf(out, "# no code: %s%s\n", text_clean(name, sizeof(name), a->why), names);
}

static bool is_same_line(const struct srclines_place *a, const struct srclines_place *b)
{
	return a && b && a->frames[0].line == b->frames[0].line &&
	       !strcmp(a->frames[0].file, b->frames[0].file);
}

/* The source line, above the instructions compiled from it. */
static void put_source(const struct query_code_line *l, FILE *out)
{
	const struct srclines_frame *f = &l->place->frames[0];
	const char *slash = strrchr(f->file, '/'), *text = l->source_text ? l->source_text : "";

	fprintf(out, "  %6s  %6s  %7s   %s:%u  %s\n", "", "", "", slash ? slash + 1 : f->file,
		f->line, text + strspn(text, " "));
}

static void put_line(const struct query_code_line *l, bool hottest, bool ascii, FILE *out)
{
	char pct[UNITS_BUF], ns[UNITS_BUF], offset[UNITS_BUF], line[QUERY_ANNOTATE_TEXT],
		text[QUERY_ANNOTATE_TEXT];
	const char *zero = ascii ? "." : "·";

	snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)l->offset);
	/* The width in columns, not in bytes: the middle dot takes two bytes. */
	fprintf(out, "  %*s  %*s  %7s", 6 + (!l->samples && !ascii),
		l->samples ? units_pct(pct, l->pct) : zero, 6 + (!l->wait_ns && !ascii),
		l->wait_ns ? units_ns(ns, l->wait_ns) : zero, offset);
	if (l->text)
		fprintf(out, " %c %s", hottest ? '>' : ' ',
			text_clean(text, sizeof(text), query_annotate_text(l, line)));
	fputs(!l->text && hottest ? " >\n" : "\n", out);
}

void report_annotate_text(const struct report_data *d, FILE *out)
{
	const struct query_annotate *a = &d->annotate;

	put_head(a, out);
	if (!a->n)
		return;
	fprintf(out, "# %6s  %6s  %7s%s\n", "CPU%", "WAIT", "OFFSET",
		a->source ? "   INSTRUCTION" : "");
	for (size_t i = 0; i < a->n; i++) {
		const struct srclines_place *before = i ? a->lines[i - 1].place : NULL;
		if (!d->spec->no_source && a->lines[i].place &&
		    !is_same_line(a->lines[i].place, before))
			put_source(&a->lines[i], out);
		put_line(&a->lines[i], i == a->hottest, d->spec->ascii, out);
	}
}

static void put_bytes(struct jsonw *j, const struct query_code_line *l)
{
	char hex[2 * DISASM_BYTES + 1];

	text_hex(hex, l->code, l->length < DISASM_BYTES ? l->length : DISASM_BYTES);
	jsonw_str(j, "bytes", l->length ? hex : NULL);
}

/* A kernel address, or an offset in the program's file. */
static uint64_t place_of(uint64_t frame)
{
	return map_frame_is_kernel(frame) ? frame : map_frame_offset(frame);
}

/* "dir/file.c:12"; NULL: unknown */
static const char *place_text(const struct srclines_frame *f, char *buf, size_t size)
{
	if (!*f->file || !f->line)
		return NULL;
	snprintf(buf, size, "%s:%u", f->file, f->line);
	return buf;
}

static void put_place(struct jsonw *j, const struct srclines_place *p)
{
	char buf[1100];

	jsonw_str(j, "source", p ? place_text(&p->frames[0], buf, sizeof(buf)) : NULL);
	jsonw_begin(j, "inlines", '[', true);
	for (size_t i = 0; p && i + 1 < p->n; i++) {
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "function", p->frames[i].function);
		jsonw_str(j, "called", place_text(&p->frames[i + 1], buf, sizeof(buf)));
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static void put_json_line(struct jsonw *j, const struct query_annotate *a, size_t i)
{
	const struct query_code_line *l = &a->lines[i];

	jsonw_begin(j, NULL, '{', true);
	jsonw_u64(j, "offset", l->offset);
	jsonw_double(j, "pct", l->pct);
	jsonw_u64(j, "samples", l->samples);
	jsonw_u64(j, "period", l->weight);
	if (a->waits)
		jsonw_u64(j, "wait_ns", l->wait_ns);
	else
		jsonw_null(j, "wait_ns");
	put_bytes(j, l);
	jsonw_str(j, "kind", l->text ? kinds[l->kind] : NULL);
	jsonw_str(j, "text", l->text);
	if (l->jumps)
		jsonw_u64(j, "jump", l->jump);
	else
		jsonw_null(j, "jump");
	jsonw_str(j, "call", l->call);
	if (l->has_target)
		jsonw_hex(j, "target", place_of(l->target));
	else
		jsonw_null(j, "target");
	jsonw_str(j, "data", l->data);
	put_place(j, l->place);
	jsonw_str(j, "source_text", l->source_text);
	jsonw_end(j, '}');
}

void report_annotate_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_annotate *a = &d->annotate;

	jsonw_begin(j, "annotate", '{', false);
	jsonw_str(j, "symbol", a->symbol);
	jsonw_str(j, "object", a->object);
	jsonw_str(j, "names", a->recorded ? "recording" : NULL);
	jsonw_hex(j, "start", a->place);
	jsonw_u64(j, "samples", a->samples);
	jsonw_u64(j, "period", a->weight);
	jsonw_str(j, "period_unit", a->is_time ? "ns" : "events");
	jsonw_double(j, "pct", a->pct);
	if (a->waits)
		jsonw_u64(j, "wait_ns", a->wait_ns);
	else
		jsonw_null(j, "wait_ns");
	jsonw_str(j, "source", a->source);
	if (a->source)
		jsonw_bool(j, "live", a->live);
	else
		jsonw_null(j, "live");
	jsonw_str(j, "reason", a->source ? NULL : a->why);
	jsonw_str(j, "note", a->note);
	jsonw_str(j, "lines_reason", a->lines_why);
	if (a->hottest == SIZE_MAX)
		jsonw_null(j, "hottest");
	else
		jsonw_u64(j, "hottest", a->lines[a->hottest].offset);
	jsonw_begin(j, "lines", '[', false);
	for (size_t i = 0; i < a->n; i++)
		put_json_line(j, a, i);
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}
