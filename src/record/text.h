/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_TEXT_H
#define KONTEND_RECORD_TEXT_H

#include "file.h"
#include "kontend/codesource.h"
#include "kontend/error.h"
#include "kontend/record.h"
#include "kontend/sym.h"

/* Kernel code for each file of a recording. `= {0}`: none. */
struct record_text {
	char *body; /* of a RECORD_SNAPSHOT */
	size_t len;
};

/* Reads the code of the symbols in @kallsyms; none if it is unreadable. 0 or -ENOMEM. */
int record_text_take(struct record_text *t, struct codesource *c, const struct record *kallsyms,
		     struct error *err);
/* The same for a symbol table. */
int record_text_of(struct record_text *t, struct codesource *c, const struct sym *sym,
		   struct error *err);
/* 0, also if there is no code or no room; or negative. */
int record_text_put(const struct record_text *t, struct record_file *f, struct error *err);
void record_text_deinit(struct record_text *t);

#endif
