/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RESOLVE_FINAL_H
#define KONTEND_RESOLVE_FINAL_H

#include "kontend/error.h"
#include "kontend/textsnap.h"

#include <stdbool.h>
#include <stdint.h>

struct record_file;
struct writer;

struct resolve_final_options {
	struct codesource *code; /* of the kernel; NULL: none */
	bool keep_symbols;	 /* cache symbols of programs for the next run */
	/* Called now and then: true stops the work. */
	bool (*stop)(void *ctx);
	void *ctx;
};

enum resolve_final_answer {
	RECORD_NAMES_DONE,
	RECORD_NAMES_STOPPED,
	RECORD_NAMES_FULL, /* the file has no room for all of them */
};

struct resolve_final_stat {
	uint64_t left_names, left_code, no_code; /* functions: see funcsnap.h */
	uint64_t left_tables;			 /* files whose unwind tables had no room */
};

/*
 * Writes the names of all recorded functions, the code of the most expensive ones, and the build
 * ids of their files: after all events, before record_file_finish(). enum resolve_final_answer or
 * negative; the recording is good in any case. @fd: the readable file that @w writes to.
 */
int resolve_final_put(struct writer *w, int fd, const struct resolve_final_options *o,
		      struct resolve_final_stat *ret, struct error *err);
/* True if reading the recording again would take too long. */
bool resolve_final_is_long(const struct record_file *f);
/* Message about missing names and code after such an answer, in err->text; NULL: none. */
const char *resolve_final_lack(int answer, const struct resolve_final_stat *st, struct error *err);

#endif
