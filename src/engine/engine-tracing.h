/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_TRACING_H
#define KONTEND_SRC_ENGINE_TRACING_H

#include "kontend/model.h"

struct engine_tracing;
struct sym;

/* @sym must outlive it, and may be loaded again. NULL: no memory. */
struct engine_tracing *engine_tracing_new(const struct sym *sym);
struct model_tracing *engine_tracing_model(struct engine_tracing *t);
void engine_tracing_free(struct engine_tracing *t);

#endif
