/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SHORTS_BETWEEN_H
#define KONTEND_SHORTS_BETWEEN_H

#include "kontend/record.h"
#include <stdbool.h>

/* Is @r a snapshot of sums of short waits, with a payload? *ret_ns: its time. */
bool shorts_between_is(const struct record *r, uint64_t *ret_ns);
/*
 * If @at_ns lies between the times of two such snapshots, *ret is one of that time, with the sums
 * estimated for it (shortsnap_at()), and the caller frees its body with mem_free(): 1; else 0, or
 * -ENOMEM. @payload: of the earlier one, of @before_ns.
 */
int shorts_between(const void *payload, size_t len, uint64_t before_ns, const struct record *now,
		   uint64_t at_ns, struct record *ret);

#endif
