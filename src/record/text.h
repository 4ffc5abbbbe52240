/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_TEXT_H
#define KONTEND_RECORD_TEXT_H

#include "file.h"
#include "kontend/codesource.h"
#include "kontend/error.h"
#include "kontend/record.h"
#include "kontend/sym.h"

/* Code of the kernel that each file of a recording has. `= {0}`: none. */
struct record_text {
	char *body; /* of a RECORD_SNAPSHOT */
	size_t len;
};

/* Out of the symbols in @kallsyms. Where the code cannot be read there is none. 0 or -ENOMEM. */
int record_text_take(struct record_text *t, struct codesource *c, const struct record *kallsyms,
		     struct error *err);
/* The same of a table of symbols. */
int record_text_of(struct record_text *t, struct codesource *c, const struct sym *sym,
		   struct error *err);
/* 0, also where there is none or it finds no room; or negative. */
int record_text_put(const struct record_text *t, struct record_file *f, struct error *err);
void record_text_deinit(struct record_text *t);

#endif
