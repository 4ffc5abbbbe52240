/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRCTEXT_H
#define KONTEND_SRCTEXT_H

#include "kontend/usersyms.h"

/*
 * Lines of source files. Debug information, which any user may have written, names the files; so
 * when kontend runs as root it shows only files that are world-readable. Caches recent lines. For
 * one thread.
 */
struct srctext;

enum { SRCTEXT_MOST = 400 }; /* bytes of a line, with its NUL; longer lines are cut */

/* @files must outlive it. 0 or -ENOMEM. */
int srctext_new(struct srctext **ret, struct usersyms *files, struct error *err);
void srctext_free(struct srctext *s); /* NULL is fine */
/*
 * Line @line, from 1 on, of file @path, opened as the process that ran @object sees it, else as
 * kontend does. Control characters are removed, tabs become blanks, trailing blanks are cut. False:
 * the line cannot be read.
 */
bool srctext_line(struct srctext *s, uint32_t object, const char *path, uint32_t line,
		  char ret[SRCTEXT_MOST]);

#endif
