/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_REWRITE_H
#define KONTEND_SRC_FILE_REWRITE_H

#include "kontend/decode.h"
#include "kontend/funcsnap.h"
#include "kontend/source.h"
#include "kontend/sym.h"

/*
 * A recording that is written again, with only those symbols of the kernel that it needs. Symbols
 * come first, and which of them are needed is known when all else was read.
 */
enum { REWRITE_ASKED = 4096, REWRITE_AS_IS = 1 };
struct rewrite {
	struct decode decode;
	struct sym sym;
	uint8_t *marks; /* of its entries; NULL: there are no symbols that can be left out */
	uint64_t asked[REWRITE_ASKED]; /* addresses whose symbols were marked lately, by their hash
					*/
};

int rewrite_init(struct rewrite *w, struct error *err);
void rewrite_deinit(struct rewrite *w);
int rewrite_no_memory(struct error *err);

/* Gives records to @take until the source ends or @take answers SOURCE_END, or an error. */
typedef int rewrite_fn(void *ctx, struct source *s, const struct record *r, struct error *err);
int rewrite_pass(struct source *s, rewrite_fn *take, void *ctx, struct error *err);

/* What ATTR and FORMAT say of events; other records say nothing here. */
int rewrite_learn(struct rewrite *w, const struct record *r, struct error *err);
/* Keeps the symbols for rewrite_excerpt(): 0; or REWRITE_AS_IS: they cannot be cut down. */
int rewrite_symbols(struct rewrite *w, const struct record *r, struct error *err);
/* Marks the symbols of events from @first to @last in a run. Are there events that name any? */
bool rewrite_run(struct rewrite *w, const struct record *r, uint64_t first, uint64_t last);
void rewrite_snapshot(struct rewrite *w, const struct record *r);
/* Of functions of the kernel that runs here: what their code calls or names. 0 or -ENOMEM. */
int rewrite_functions(struct rewrite *w, const struct funcsnap *f);
/* A record of the symbols that were marked; its data are the caller's to free. 0 or -ENOMEM. */
int rewrite_excerpt(struct rewrite *w, struct record *ret, struct error *err);

#endif
