/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_RECORD_NAMES_H
#define KONTEND_SRC_RECORD_NAMES_H

#include "kontend/codesource.h"
#include "kontend/error.h"
#include "record-file.h"

#include <stdbool.h>
#include <stdint.h>

struct record_names_options {
	struct codesource *code; /* of the kernel; NULL: none */
	bool keep_symbols;	 /* of programs, for the next time */
	/* Asked now and then: true gives it up. */
	bool (*stop)(void *ctx);
	void *ctx;
};

enum record_names_answer {
	RECORD_NAMES_DONE,
	RECORD_NAMES_STOPPED,
	RECORD_NAMES_FULL, /* there is no room in the file for all of them */
};

struct record_names_stat {
	uint64_t left_names, left_code, no_code; /* functions: see funcsnap.h */
	uint64_t left_tables; /* files whose tables for unwinding found no room */
};

/*
 * Puts the names of the functions that the recording met into it, the code of those that cost most,
 * and the build ids of their files: before record_file_finish(), behind all events. enum
 * record_names_answer or negative; the recording is good in any case.
 */
int record_names_put(struct record_file *f, const struct record_names_options *o,
		     struct record_names_stat *ret, struct error *err);
/* Would it take too long to read it again? */
bool record_names_is_long(const struct record_file *f);
/* What is missing after such an answer, and why, into err->text; NULL: nothing. */
const char *record_names_lack(int answer, const struct record_names_stat *st, struct error *err);

#endif
