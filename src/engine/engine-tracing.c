// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the frames of a call chain that belong to the tracing itself, and those that say the type
 * of the lock. If several programs listen to
 * the tracepoint, the kernel calls them through a function of its own, which is the innermost frame
 * of each chain. The function is known by its name. As each wait needs the answer, and there are
 * few innermost frames, answers are cached by address.
 */
#include "engine-int.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/sym.h"
#include <stddef.h>
#include <string.h>

enum { KNOWN_BITS = 8, KNOWN = 1 << KNOWN_BITS };

struct known {
	uint64_t addr; /* 0: none */
	enum model_function is;
};

struct engine_tracing {
	struct model_tracing ask;
	const struct sym *sym;
	uint32_t n_loads; /* loads of the symbols when `known` was filled */
	struct known known[KNOWN];
};

static enum model_function kind_of(const struct sym *sym, uint64_t addr)
{
	return sym_is_tracing(sym, addr)     ? MODEL_FUNCTION_TRACING
	       : sym_is_resilient(sym, addr) ? MODEL_FUNCTION_RESILIENT
					     : MODEL_FUNCTION_OTHER;
}

static enum model_function function(struct model_tracing *ask, uint64_t addr)
{
	struct engine_tracing *t = (struct engine_tracing *)ask;
	struct known *k = &t->known[hash_slot(addr, KNOWN_BITS)];

	if (t->n_loads != t->sym->n_loads) {
		memset(t->known, 0, sizeof(t->known));
		t->n_loads = t->sym->n_loads;
	}
	if (k->addr != addr)
		*k = (struct known){addr, kind_of(t->sym, addr)};
	return k->is;
}

struct engine_tracing *engine_tracing_new(const struct sym *sym)
{
	struct engine_tracing *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->ask.function = function;
	t->sym = sym;
	return t;
}

struct model_tracing *engine_tracing_model(struct engine_tracing *t)
{
	return &t->ask;
}

void engine_tracing_free(struct engine_tracing *t)
{
	mem_free(t);
}
