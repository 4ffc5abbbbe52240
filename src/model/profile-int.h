/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PROFILE_INT_H
#define KONTEND_PROFILE_INT_H

#include "kontend/profile.h"

/* profile.c: the number of a cell in the index, and its sums added: its index, or -ENOMEM. */
uint64_t profile_key(const struct profile_cell *at);
int profile_add(struct profile *p, const struct profile_cell *add);

/* PERF_CONTEXT_USER_DEFERRED: the next word is the cookie. Missing in headers before Linux 6.19. */
#define PROFILE_USER_DEFERRED ((uint64_t)-640)

/* profile-deferred.c: the cookie of a sample whose user part comes later; 0: it does not. */
uint64_t profile_cookie(const struct event *ev);
/* The sample was counted in @cell; @has_kernel: frames before the mark are the kernel's. */
int profile_defer(struct profile *p, const struct event *ev, const struct profile_cell *cell,
		  bool has_kernel);
int profile_deferred_copy(struct profile_deferred *dst, const struct profile_deferred *src);
void profile_deferred_deinit(struct profile_deferred *d);
void profile_deferred_clear(struct profile_deferred *d);

#endif
