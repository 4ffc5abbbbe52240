/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_ENGINE_UNWIND_H
#define KONTEND_SRC_ENGINE_ENGINE_UNWIND_H

#include "kontend/engine.h"

/* Unwinds the dumps in samples of the profile; nothing is opened before the first of them. */
struct engine_unwind;

/* @e: whose model it works for, and which it must not outlive. 0 or -ENOMEM. */
int engine_unwind_new(struct engine_unwind **ret, struct engine *e);
struct profile_unwinder *engine_unwind_profile(struct engine_unwind *u);
void engine_unwind_free(struct engine_unwind *u); /* NULL is fine */

#endif
