/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_NO_LOCKS_H
#define KONTEND_QUERY_NO_LOCKS_H

#include <stdbool.h>

struct query;

/*
 * "this file has no lock events; it has a profile of 2,579 samples (key 9)", in the arena; NULL: it
 * has lock events, or there is no memory.
 */
const char *query_no_locks(struct query *q);
/* There are no lock events, but events of the profile. */
bool query_no_locks_but_profile(const struct query *q);

#endif
