/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_LINES_H
#define KONTEND_QUERY_LINES_H

#include "../internal.h"
#include "kontend/srclines.h"

/*
 * The line that @frame is in, or, of where a call came back to, that of the call. *ret with
 * SRCLINES_OK; *ret_why: why not, for people.
 */
enum srclines_answer query_place(struct query *q, uint64_t frame, bool is_return,
				 const struct srclines_place **ret, const char **ret_why);
/* "dir/file.c:12", in the arena; NULL: not known, or no memory. */
const char *query_place_text(struct query *q, const struct srclines_frame *f);
/*
 * The functions of a call chain, innermost first, those that are inlined in others included, which
 * are called "name (inlined)": how many there are in @ret, which has room for @most, @n at least.
 */
uint32_t query_chain_funcs(struct query *q, const uint64_t *frames, uint32_t n, uint32_t *ret,
			   uint32_t most);
/*
 * The same of a call chain of the profile, or of a wait without what reported it, kept as long as
 * names are. NULL: no memory. names/chains.c.
 */
const struct query_chain *query_sample_chain(struct query *q, uint32_t stack);
const struct query_chain *query_wait_chain(struct query *q, uint32_t stack);
void query_chains_drop(struct query_cache *c);
/* The line of source, clean, blanks for tabs; in the arena. NULL: it is not to be read. */
const char *query_source_text(struct query *q, uint64_t frame, const struct srclines_frame *f);
void query_lines_deinit(struct query *q);

#endif
