/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_ENGINE_AHEAD_H
#define KONTEND_SRC_ENGINE_AHEAD_H

#include "kontend/engine.h"

/*
 * A thread that takes records from a source, decodes and merges them, and hands out what the model
 * is to get, in that order: events by time, and between them the records that are no events.
 */
struct ahead;

/* Runs of events, a record, or, without either, the end. Valid until the next call. */
struct ahead_item {
	const struct event *events;
	const uint64_t *last_times; /* of order, when it had handed each out */
	size_t n;
	struct record *record;
	struct engine_merged merged; /* at the record, or at each of the events */
	int end;		     /* SOURCE_END, or a negative errno */
};

/* Borrows all three, which are the thread's until ahead_free(). NULL: no memory, or no thread. */
struct ahead *ahead_new(struct source *s, struct decode *d, struct order *o);
/* Ends the thread. Events that it has not handed out are lost, but records are given back. */
void ahead_free(struct ahead *a);

/* Waits for the next one. */
void ahead_next(struct ahead *a, struct ahead_item *ret, struct error *err);
/* The record handed out last stays with the caller until it is released. */
void ahead_keep(struct ahead *a);
void ahead_release(struct ahead *a, const struct record *r);

#endif
