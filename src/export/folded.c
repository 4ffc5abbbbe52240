// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks. The format has no way to quote: a frame ends at a semicolon, the stack at the last
 * blank of the line. So semicolons in names become colons and names are cleaned; blanks in names
 * are allowed. The last frame of a wait is the type of the lock in brackets, an annotation like
 * those of off-CPU tools: colours and searches can separate readers from writers by it.
 */
#include "kontend/folded.h"
#include "kontend/query-flame-diff.h"
#include "kontend/query-load.h"
#include "kontend/query-stacks.h"
#include "kontend/query-tree.h"
#include "kontend/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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
	int r;

	do
		r = query_stacks(q, NULL, s->zoom, &stacks);
	while (r == 0 && query_load_again(q));
	for (size_t i = 0; r == 0 && i < stacks.n; i++)
		put_row(out, &stacks.rows[i], s);
	return r;
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

/* A line for each node with a weight of its own: samples in the function itself, and in none that
 * it called. */
static int write_tree(struct query *q, const struct folded_spec *s, FILE *out)
{
	const struct query_flame_spec spec = flame_spec(s);
	size_t path[QUERY_FLAME_LEVELS]; /* from the root to the node: no tree is deeper */
	struct query_tree t;
	int r = query_flame_named(q, &spec, &t);
	const struct query_span *spans = r == 0 ? query_flame_spans(q, &t, s->blame) : NULL;

	if (!spans)
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < t.n; i++) {
		uint64_t own = s->blame ? spans[i].self_ns : spans[i].self_n;
		path[t.nodes[i].depth] = i;
		if (!own)
			continue;
		put_chain(out, &t, path, t.nodes[i].depth, s->mark_kernel);
		fprintf(out, "%" PRIu64 "\n", own);
	}
	return 0;
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

int folded_write_diff(const struct query_flame_diff *d, bool mark_kernel, FILE *out,
		      struct error *err)
{
	size_t path[QUERY_FLAME_LEVELS];

	errno = 0;
	for (size_t i = 0; i < d->tree.n; i++) {
		const uint64_t a = d->own[FLAME_A][i], b = d->own[FLAME_B][i];
		path[d->tree.nodes[i].depth] = i;
		if (!a && !b)
			continue;
		put_chain(out, &d->tree, path, d->tree.nodes[i].depth, mark_kernel);
		fprintf(out, "%" PRIu64 " %" PRIu64 "\n", a, b);
	}
	if (fflush(out) != 0 || ferror(out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the stacks");
	return 0;
}
