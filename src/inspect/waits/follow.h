/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_FOLLOW_H
#define KONTEND_INSPECT_WAITS_FOLLOW_H

#include "kontend/error.h"
#include "kontend/feed.h"

#include <stdbool.h>
#include <stdint.h>

/* The thread that attaches the programs of follow.bpf.c while they are of use. */
struct bpf_object;
struct follow;

/* Before @o is loaded: if not @on its programs are left out, and its maps are small. */
int follow_prepare(struct bpf_object *o, bool on);
/* On an object that was loaded, and outlives it. */
int follow_new(struct follow **ret, struct bpf_object *o, uint64_t longer_ns, struct error *err);
/* There is a ring for records of @cpu. */
void follow_add_cpu(struct follow *f, uint32_t cpu);
int follow_start(struct follow *f, struct error *err);
/* Asks for the end. Async-signal-safe; NULL is fine. */
void follow_stop(struct follow *f);
/* Its counts so far; from any thread. */
void follow_counts(const struct follow *f, struct feed_follow *ret);
void follow_free(struct follow *f); /* NULL is fine */

#endif
