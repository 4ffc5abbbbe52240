/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_USERS_H
#define KONTEND_QUERY_USERS_H

#include "query-int.h"

/* query.c */
/* A new function. Names stay as long as the cache; NULL: the address is it. */
uint32_t query_func_add(struct query *q, uint64_t start, const char *name, const char *object);

/* query-users.c: the function of a program that @frame is in. */
uint32_t query_user_func(struct query *q, uint64_t frame);
void query_users_deinit(struct query *q);

#endif
