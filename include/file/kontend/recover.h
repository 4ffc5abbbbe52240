/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECOVER_H
#define KONTEND_RECOVER_H

#include "kontend/error.h"
#include <stddef.h>
#include <stdint.h>

/* The text of a tracepoint as in RECORD_FORMAT; used if the file lost its own. */
struct recover_format {
	const void *body;
	size_t len;
};

struct recover_options {
	const char *path; /* the damaged recording */
	int from;	  /* it is open as this descriptor; 0: not yet */
	int fd;		  /* an empty file for the result */
	const char *name; /* of `fd`, for messages */
	const struct recover_format *formats;
	size_t n_formats;
};

struct recover_stat {
	uint64_t size;		  /* of the damaged file */
	uint64_t kept;		  /* of it, up to the last whole record */
	uint64_t records;	  /* of data that were kept */
	uint64_t foreign_formats; /* taken from the options */
};

enum { RECOVER_WHOLE = 1 }; /* the file has all its parts: nothing was written */

/*
 * Makes a recording in file layout of everything up to the last whole record: of a stream, or of a
 * file that has lost its end or never got one. 0, RECOVER_WHOLE, or a negative errno; -ENODATA:
 * nothing can be saved.
 */
int recover_file(const struct recover_options *o, struct recover_stat *ret, struct error *err);

#endif
