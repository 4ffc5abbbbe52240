/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_USERS_H
#define KONTEND_QUERY_USERS_H

#include "../internal.h"
#include "kontend/usersyms.h"

/* query.c */
/* A new function. Names stay as long as the cache; NULL: the address is it. */
uint32_t query_func_add(struct query *q, uint64_t start, const char *name, const char *object);

/* names/user.c: the symbol of a program's file that @frame is in. */
enum usersym_answer query_user_symbol(struct query *q, uint64_t frame, struct usersym *ret);
/* Build id of the file that names of object @object are from; 0: none is known. */
size_t query_user_build_id(struct query *q, uint32_t object, uint8_t ret[20]);
/* The function of a program that @frame is in. */
uint32_t query_user_func(struct query *q, uint64_t frame);
/*
 * At most @n bytes of the function of a program that begins at @start; *ret_path: the file, as the
 * kernel names it. Both are set with USERSYM_OK alone.
 */
enum usersym_answer query_user_bytes(struct query *q, uint64_t start, void *ret, size_t n,
				     size_t *ret_n, const char **ret_path);
/* Makes q->users if it is not there. 0 or -ENOMEM. */
int query_open_names(struct query *q);
/* The number in q->users of the file that @frame is in. 0; -ENOENT: none; -ENOMEM. */
int query_user_file(struct query *q, uint64_t frame, uint32_t *ret);
/* At the begin of a frame, when no caller holds rows: bounds the memory of names and lines. */
void query_users_tidy(struct query *q);
void query_users_deinit(struct query *q);

#endif
