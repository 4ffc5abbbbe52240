/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_TEE_H
#define KONTEND_TESTS_TEE_H

#include "kontend/source.h"
#include "kontend/writer.h"

/*
 * A source that hands through the records of @inner, each written to @w before it is handed out.
 * Takes over @inner, at success only; @w stays the caller's. When writing fails the stream ends
 * with that error.
 */
int tee_new(struct source **ret, struct source *inner, struct writer *w, struct error *err);

#endif
