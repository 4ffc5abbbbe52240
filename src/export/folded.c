// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks. The format has no way to quote: a frame ends at a semicolon, the stack at the last
 * blank of the line. So semicolons in names become colons and names are cleaned; blanks in names
 * are allowed. The last frame of a wait is the type of the lock in brackets, an annotation like
 * those of off-CPU tools: colours and searches can separate readers from writers by it.
 */
#include "kontend/folded.h"
#include "kontend/query-flame.h"
#include "kontend/query-stacks.h"
#include "kontend/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { DEEPEST = 512 };

static void put_name(FILE *out, const char *name)
{
	char buf[256];

	text_clean(buf, sizeof(buf), name);
	for (char *s = buf; *s; s++)
		if (*s == ';')
			*s = ':';
	fputs(buf, out);
}

static void put_frame(FILE *out, const char *name, bool mark)
{
	put_name(out, name);
	fputs(mark ? "_[k];" : ";", out);
}

static void put_row(FILE *out, const struct query_stacks_row *r, const struct folded_spec *s)
{
	put_frame(out, r->comm ? r->comm : "[unknown]", false);
	for (uint32_t i = 0; i < r->n_frames; i++)
		put_frame(out, r->frames[i], s->mark_kernel);
	if (!r->n_frames)
		put_frame(out, "[no call chain]", false);
	fprintf(out, "[%s%s] %" PRIu64 "\n", locktype_name(r->type),
		r->waiting ? ", still waiting" : "", r->total_ns);
}

static int write_waits(struct query *q, const struct folded_spec *s, FILE *out)
{
	struct query_stacks stacks;
	int r = query_stacks(q, NULL, s->zoom, &stacks);

	for (size_t i = 0; r == 0 && i < stacks.n; i++)
		put_row(out, &stacks.rows[i], s);
	return r;
}

static uint64_t weight(const struct query_node *n, bool by_wait)
{
	return by_wait ? n->total_ns : n->n;
}

/* Its own weight: samples in the function itself and in no function that it called. */
static uint64_t own(const struct query_tree *t, size_t node, bool by_wait)
{
	uint64_t n = weight(&t->nodes[node], by_wait);
	uint16_t depth = t->nodes[node].depth;

	for (size_t i = node + 1; i < t->n && t->nodes[i].depth > depth; i++)
		n -= t->nodes[i].depth == depth + 1 ? weight(&t->nodes[i], by_wait) : 0;
	return n;
}

static void put_chain(FILE *out, const struct query_tree *t, const size_t *path, uint16_t depth,
		      bool mark_kernel)
{
	for (uint16_t i = 0; i <= depth; i++) {
		const struct query_node *n = &t->nodes[path[i]];
		put_name(out, n->name);
		if (mark_kernel && n->object && query_flame_frame(n) >= FRAME_KERNEL)
			fputs("_[k]", out);
		fputc(i < depth ? ';' : ' ', out);
	}
}

static struct query_flame_spec flame_spec(const struct folded_spec *s)
{
	return (struct query_flame_spec){.zoom = s->zoom, .by_wait = s->blame, .blame = s->blame};
}

static int write_tree(struct query *q, const struct folded_spec *s, FILE *out)
{
	const struct query_flame_spec spec = flame_spec(s);
	size_t path[DEEPEST];
	struct query_tree t;
	int r = query_flame_named(q, &spec, &t);

	for (size_t i = 0; r == 0 && i < t.n; i++) {
		const uint16_t depth = t.nodes[i].depth;
		uint64_t n = depth < DEEPEST ? own(&t, i, s->blame) : 0;
		if (depth < DEEPEST)
			path[depth] = i;
		if (!n)
			continue;
		put_chain(out, &t, path, depth, s->mark_kernel);
		fprintf(out, "%" PRIu64 "\n", n);
	}
	return r;
}

int folded_write(struct query *q, const struct folded_spec *s, FILE *out, struct error *err)
{
	const struct query_flame_spec spec = flame_spec(s);
	const char *why = s->blame ? query_flame_no_blame(q, &spec) : NULL;
	int r;

	if (why)
		return error_set(err, -ENODATA, "Cannot show blame: %s", why);
	errno = 0;
	r = s->samples || s->blame ? write_tree(q, s, out) : write_waits(q, s, out);
	if (r < 0)
		return error_set(err, r,
				 "Cannot sum up the call chains: out of memory, end other "
				 "programs");
	if (fflush(out) != 0 || ferror(out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the stacks");
	return 0;
}
