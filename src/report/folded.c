// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks. The format has no way to quote: a frame ends at a semicolon, the stack at the last
 * blank of the line. So semicolons in names become colons, and names are cleaned; blanks within
 * them are fine. The last frame is the type of the lock in brackets, as tools for time off the CPU
 * annotate their stacks: colours and searches can tell readers from writers by it.
 */
#include "kontend/folded.h"
#include "kontend/query-stacks.h"
#include "kontend/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void put_frame(FILE *out, const char *name)
{
	char buf[256];

	text_clean(buf, sizeof(buf), name);
	for (char *s = buf; *s; s++)
		if (*s == ';')
			*s = ':';
	fprintf(out, "%s;", buf);
}

static void put_row(FILE *out, const struct query_stacks_row *r)
{
	put_frame(out, r->comm ? r->comm : "[unknown]");
	for (uint32_t i = 0; i < r->n_frames; i++)
		put_frame(out, r->frames[i]);
	if (!r->n_frames)
		put_frame(out, "[no call chain]");
	fprintf(out, "[%s%s] %" PRIu64 "\n", locktype_name(r->type),
		r->waiting ? ", still waiting" : "", r->total_ns);
}

int folded_write(struct query *q, FILE *out, struct error *err)
{
	struct query_stacks stacks;

	if (query_stacks(q, NULL, &stacks) < 0)
		return error_set(err, -ENOMEM,
				 "Cannot sum up the call chains: out of memory, end other "
				 "programs");
	errno = 0;
	for (size_t i = 0; i < stacks.n; i++)
		put_row(out, &stacks.rows[i]);
	if (fflush(out) != 0 || ferror(out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the stacks");
	return 0;
}
