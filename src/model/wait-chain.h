/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_WAIT_CHAIN_H
#define KONTEND_SRC_MODEL_WAIT_CHAIN_H

#include "kontend/waitrec.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct map_spaces;
struct model;

/* The frames of a program in a record: addresses, innermost first. */
struct wait_chain_part {
	const uint64_t *frames;
	uint32_t n;
	int32_t pid;
	enum waitrec_user is;
};

/*
 * As frames of maps.h into @ret, @most at most, with a mark where they end early. Returns their
 * number.
 */
uint32_t wait_chain_user(struct map_spaces *spaces, const struct wait_chain_part *p, uint64_t *ret,
			 uint32_t most);

/* The call chain of an EVENT_CONTENTION_BEGIN, without frames of the tracing: the part in the
 * kernel, and after it the frames of the program as in maps.h. */

/* It has neither frames, nor a reason why there are none of the program. */
bool wait_chain_is_empty(const struct event *ev);
/* Its index, made if new; STACK_OTHER: it has none, or there is no room. */
uint32_t wait_chain_intern(struct model *m, const struct event *ev);
/* @ev comes soon: its chain will be at hand. Its index, STACK_OTHER if it is new. */
uint32_t wait_chain_expect(struct model *m, const struct event *ev);

#endif
