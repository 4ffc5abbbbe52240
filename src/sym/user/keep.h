/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_USERSYMS_KEEP_H
#define KONTEND_SYM_USERSYMS_KEEP_H

#include "internal.h"

/* True: the table of the image is what was kept of it, and nothing is to be read. */
bool usersym_keep_find(struct usersyms *u, struct usersym_load *l);
/* The table of the image was just loaded: is it worth to be kept? */
void usersym_keep_want(const struct usersyms *u, struct usersym_load *l);
/* A step of that. True: there are more. */
bool usersym_keep_step(struct usersyms *u);
/* What was kept turned out to be damaged. */
void usersym_keep_damaged(struct usersyms *u, const char *path);
/* The same when it is in use: it is to be read anew. */
enum usersym_answer usersym_keep_lost(struct usersyms *u, uint32_t object);

#endif
