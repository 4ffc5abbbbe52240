/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_RESOLVE_FINAL_H
#define KONTEND_RECORD_RESOLVE_FINAL_H

#include "file.h"
#include "kontend/codesource.h"
#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

struct resolve_final_options {
	struct codesource *code; /* of the kernel; NULL: none */
	bool keep_symbols;	 /* of programs, for the next time */
	/* Asked now and then: true gives it up. */
	bool (*stop)(void *ctx);
	void *ctx;
};

enum resolve_final_answer {
	RECORD_NAMES_DONE,
	RECORD_NAMES_STOPPED,
	RECORD_NAMES_FULL, /* there is no room in the file for all of them */
};

struct resolve_final_stat {
	uint64_t left_names, left_code, no_code; /* functions: see funcsnap.h */
	uint64_t left_tables; /* files whose tables for unwinding found no room */
};

/*
 * Puts the names of the functions that the recording met into it, the code of those that cost most,
 * and the build ids of their files: before record_file_finish(), behind all events. enum
 * resolve_final_answer or negative; the recording is good in any case. @fd: what @w writes to,
 * which can be read.
 */
int resolve_final_put(struct writer *w, int fd, const struct resolve_final_options *o,
		      struct resolve_final_stat *ret, struct error *err);
/* Would it take too long to read it again? */
bool resolve_final_is_long(const struct record_file *f);
/* What is missing after such an answer, and why, into err->text; NULL: nothing. */
const char *resolve_final_lack(int answer, const struct resolve_final_stat *st, struct error *err);

#endif
