/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_RIG_H
#define KONTEND_TESTS_RIG_H

#include "kontend/engine.h"
#include "synth.h"

/* A canned stream and the engine that plays it. Any failure aborts with a message. */
struct rig {
	struct synth *synth;
	struct engine engine;
	bool playing;
	bool keeps_ended; /* as a report does; set before it plays */
};

/* With the prologue and the synthetic kallsyms. */
void rig_init(struct rig *r, uint32_t n_rings);
/* Plays all that was stated, to the end. Once only. */
void rig_play(struct rig *r, const struct model_limits *limits);
/* The same up to and with the n-th tick. */
void rig_play_ticks(struct rig *r, const struct model_limits *limits, unsigned n_ticks);
void rig_deinit(struct rig *r);

/* Results of a model: sums over all cells of a type. */
struct rig_sum {
	uint64_t n, total_ns, min_ns, max_ns, failed, rate_wait_ns;
};
struct rig_sum rig_sum_type(const struct model *m, enum lock_type type);
/* Time that is charged to roots, charged to none, or not yet charged; and the sum of all certain
 * waits, over their whole length. Both at the model's last moment, where `held` and `blame` are
 * on. */
uint64_t rig_blamed_ns(const struct model *m);
uint64_t rig_waited_ns(const struct model *m);
/* A text of everything aggregated, in an order that does not depend on indices: two models are
 * equal when their texts are. mem_free() it. */
char *rig_dump(const struct model *m);

#endif
