/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_REWRITE_H
#define KONTEND_SRC_FILE_REWRITE_H

#include "kontend/decode.h"
#include "kontend/funcsnap.h"
#include "kontend/source.h"
#include "kontend/sym.h"

/*
 * A recording that is written again, with only the kernel symbols that it needs. Symbols come
 * first, but only the rest of the recording shows which ones are needed.
 */
enum { REWRITE_ASKED = 4096, REWRITE_AS_IS = 1 };
struct rewrite {
	struct decode decode;
	struct sym sym;
	uint8_t *marks;		       /* of its entries; NULL: no symbols can be left out */
	uint64_t asked[REWRITE_ASKED]; /* addresses whose symbols were marked lately, by their
					* hash */
};

int rewrite_init(struct rewrite *w, struct error *err);
void rewrite_deinit(struct rewrite *w);
int rewrite_no_memory(struct error *err);

/* Passes records to @take until the source ends or @take returns SOURCE_END, or an error. */
typedef int rewrite_fn(void *ctx, struct source *s, const struct record *r, struct error *err);
int rewrite_pass(struct source *s, rewrite_fn *take, void *ctx, struct error *err);

/* Learns about events from ATTR and FORMAT; ignores other records. */
int rewrite_learn(struct rewrite *w, const struct record *r, struct error *err);
/* Keeps the symbols for rewrite_excerpt(): 0; or REWRITE_AS_IS: they cannot be reduced. */
int rewrite_symbols(struct rewrite *w, const struct record *r, struct error *err);
/* Marks the symbols of events from @first to @last in a run. False: no such event names any. */
bool rewrite_run(struct rewrite *w, const struct record *r, uint64_t first, uint64_t last);
/* A snapshot of that kind names no symbol, and may come before the symbols. */
bool rewrite_has_no_address(uint16_t kind);
void rewrite_snapshot(struct rewrite *w, const struct record *r);
/* Marks the symbols that the code of the running kernel's functions calls or names. 0 or
 * -ENOMEM. */
int rewrite_functions(struct rewrite *w, const struct funcsnap *f);
/* A record of the marked symbols; the caller frees its data. 0 or -ENOMEM. */
int rewrite_excerpt(struct rewrite *w, struct record *ret, struct error *err);

#endif
