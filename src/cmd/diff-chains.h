/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_DIFF_CHAINS_H
#define KONTEND_CMD_DIFF_CHAINS_H

#include "kontend/opts.h"
#include "kontend/query-flame-diff.h"
#include <stdio.h>

/* The call chains of both sides of `kontend diff`: a flame graph, folded stacks, a part of JSON. */
struct diff_chains {
	struct flame_diff *sum; /* NULL: they are not asked for */
	enum flame_side side;	/* of what is read now */
	bool by_wait, svg;
	bool json; /* they are beside the table */
	const struct opts *o;
	const char *name[FLAME_SIDES]; /* NULL: the sides have none */
	struct arena arena;
	struct query_flame_diff both; /* after diff_chains_get() */
};

/* Does @o ask for call chains alone? Then options about tables do not go with it. */
bool diff_chains_alone(const struct opts *o);
/* 0, or -EINVAL, -ENOMEM with @err. */
int diff_chains_begin(struct diff_chains *c, const struct opts *o, struct error *err);
/* Adds what @q has to c->side: for struct fleet_input, too. 0 or -ENOMEM with @err. */
int diff_chains_add(void *chains, struct query *q, struct error *err);
/* c->both of what was added; and writes it. 0 or negative with @err. */
int diff_chains_get(struct diff_chains *c, struct error *err);
int diff_chains_write(struct diff_chains *c, FILE *out, struct error *err);
void diff_chains_end(struct diff_chains *c);

#endif
