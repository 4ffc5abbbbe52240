/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_USERS_H
#define KONTEND_QUERY_USERS_H

#include "query-int.h"

/* query-users.c: the function of a program that @frame is in. */
uint32_t query_user_func(struct query *q, uint64_t frame);
void query_users_deinit(struct query *q);

#endif
