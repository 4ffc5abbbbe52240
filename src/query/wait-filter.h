/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_ONLY_H
#define KONTEND_SRC_QUERY_ONLY_H

#include "filter.h"
#include "group.h"
#include "internal.h"

/* A filter of waits and samples, with cached answers of its terms by subject. */
struct only {
	struct query *q;
	struct filter f;
	struct arena *arena;
	bool streams; /* names change while it is asked: of chains alone answers are kept */
	struct only_memo {
		uint8_t *known; /* by index: 0 not asked for, 1 no, 2 yes */
		size_t n;
	} * waits, *samples; /* by term */
};

/* 0, -ENOMEM, or -EINVAL with @err; only_deinit() must follow. */
int only_init(struct only *o, struct query *q, struct arena *a, const char *filter,
	      struct error *err);
void only_deinit(struct only *o);
/* Are its numbers those of tables that @m has? */
bool only_knows(const struct model *m, const struct query_where *w);
bool only_has_wait(struct only *o, const struct query_where *w);
/* Of the profile's chains; locks and owners are not known of a sample. */
bool only_has_sample(struct only *o, const struct query_where *w);
/* Subjects of terms, as enum event_filter_about. */
unsigned only_asks(const struct only *o);
/* Is there a term about call chains? */
bool only_asks_chains(const struct only *o);
/* Is there a term about the waiting task, its CPU, or the process of the lock? */
bool only_asks_waiters(const struct only *o);
/* Are all terms about locks? */
bool only_asks_locks(const struct only *o);
/* Is there one about a name, which may become known or change after a wait? */
bool only_asks_names(const struct only *o);
/*
 * Names are loaded before waits are counted by them; a screen does not wait for them. 0 or -ENOMEM.
 */
int only_load_names(const struct only *o);

#endif
