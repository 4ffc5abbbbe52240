/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRCTEXT_H
#define KONTEND_SRCTEXT_H

#include "kontend/usersyms.h"

/*
 * Lines of files of source. What they are called is said by debug information, which anybody may
 * have made: root shows files only that everybody may read. The last ones are kept in memory. One
 * thread.
 */
struct srctext;

enum { SRCTEXT_MOST = 400 }; /* bytes of a line, with its NUL; longer ones are cut */

/* @files must outlive it. 0 or -ENOMEM. */
int srctext_new(struct srctext **ret, struct usersyms *files, struct error *err);
void srctext_free(struct srctext *s); /* NULL is fine */
/*
 * Line @line, from 1 on, of file @path, as the process that ran @object sees it or else as we do:
 * clean, with blanks for tabs, without those at its end. False: there is none to be read.
 */
bool srctext_line(struct srctext *s, uint32_t object, const char *path, uint32_t line,
		  char ret[SRCTEXT_MOST]);

#endif
