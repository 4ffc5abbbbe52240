/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_REWRITE_H
#define KONTEND_SRC_FILE_REWRITE_H

#include "kontend/decode.h"
#include "kontend/funcsnap.h"
#include "kontend/source.h"
#include "kontend/sym.h"
#include "kontend/writer.h"

/*
 * A recording that is written again, with only those symbols of the kernel that it needs. It is
 * read twice: symbols come first, and which of them are needed is known at the end only.
 */
struct rewrite {
	struct decode decode;
	struct writer *writer;
	struct sym sym;
	uint8_t *marks; /* of its entries; NULL: there are no symbols that can be left out */
	uint64_t begin; /* mark of the stream's first record */
	bool has_begin;
};

enum { REWRITE_AS_IS = 1 };

int rewrite_init(struct rewrite *w, struct writer *writer, struct error *err);
void rewrite_deinit(struct rewrite *w);
int rewrite_no_memory(struct error *err);

/* Gives records to @take until the source ends or @take answers SOURCE_END, or an error. */
typedef int rewrite_fn(void *ctx, struct source *s, const struct record *r, struct error *err);
int rewrite_pass(struct source *s, rewrite_fn *take, void *ctx, struct error *err);

/* First pass. Writes ATTR, FORMAT and what else comes before the stream. */
int rewrite_head(struct rewrite *w, const struct record *r, struct error *err);
/* Keeps the symbols for rewrite_put_symbols(): 0; or REWRITE_AS_IS: they cannot be cut down. */
int rewrite_symbols(struct rewrite *w, const struct record *r, struct error *err);
void rewrite_begin(struct rewrite *w, struct source *s); /* the stream begins, if it has not */
/* Marks the symbols of events from @first to @last in a run. Are there events that name any? */
bool rewrite_run(struct rewrite *w, const struct record *r, uint64_t first, uint64_t last);
void rewrite_snapshot(struct rewrite *w, const struct record *r);
/* Of functions of the kernel that runs here: what their code calls or names. 0 or -ENOMEM. */
int rewrite_functions(struct rewrite *w, const struct funcsnap *f);
/* Writes the symbols that were marked. */
int rewrite_put_symbols(struct rewrite *w, struct error *err);

#endif
