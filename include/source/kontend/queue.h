/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUEUE_H
#define KONTEND_QUEUE_H

#include "kontend/error.h"
#include "kontend/record.h"
#include <stddef.h>
#include <stdint.h>

/* Positive answers of queue_pop(). */
enum {
	QUEUE_EMPTY = 1,
	QUEUE_END = 2, /* closed, and everything has been taken */
};

/*
 * Records on their way from the collector (the only producer) to the main thread (the only
 * consumer). Bounded by bytes: records in the queue and those that the consumer has not released
 * count together, so a consumer that keeps records cannot make memory grow.
 */
struct queue;
struct queue_item;

int queue_new(struct queue **ret, size_t max_bytes, struct error *err);
void queue_free(struct queue *q);

/*
 * Producer: *ret_data gets room for @size bytes (at most 64 KiB), and *ret_size the actual room.
 * NULL when the queue is full or memory is short. Then call queue_push() or queue_cancel().
 */
struct queue_item *queue_alloc(struct queue *q, size_t size, void **ret_data, size_t *ret_size);
void queue_push(struct queue *q, struct queue_item *it, enum record_kind kind, uint32_t ring,
		size_t len);
void queue_cancel(struct queue *q, struct queue_item *it);

/*
 * Producer: copies a small record (at most 64 bytes), even into a queue that is full of chunks.
 * -ENOBUFS when thousands of them wait: a later one can report the same.
 */
int queue_put(struct queue *q, enum record_kind kind, uint32_t ring, const void *data, size_t len);
/* The same without any bound: for the prologue and the last tick. -ENOMEM. */
int queue_put_always(struct queue *q, enum record_kind kind, uint32_t ring, const void *data,
		     size_t len);
/* As queue_put_always(), but takes over @data (from util/mem) instead of copying it, at success. */
int queue_give(struct queue *q, enum record_kind kind, uint32_t ring, void *data, size_t len);
/* Producer: nothing more will come. */
void queue_close(struct queue *q);

/* Consumer: the next record, whose bytes are valid until queue_release(). Never waits. */
int queue_pop(struct queue *q, struct record *ret);
void queue_release(struct queue *q, struct record *r);
/*
 * Call it before the queue is used: queue_fd() becomes readable only when the waiting records take
 * this much room, or a tick waits, or the queue is closed. 0, the default: whenever a record waits.
 */
void queue_set_wake(struct queue *q, size_t bytes);
/* Polls readable as long as queue_pop() returns records or QUEUE_END, see queue_set_wake(). */
int queue_fd(const struct queue *q);
/* Bytes of chunks that exist, used or kept for reuse. */
size_t queue_bytes(struct queue *q);

#endif
