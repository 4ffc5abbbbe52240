/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RING_H
#define KONTEND_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum {
	RING_RECORD_MAX = 1 << 16, /* no perf record is larger: its size is a u16 */
	RING_EMPTY = 1,		   /* answer: nothing up to the given head */
};

/*
 * The reader's side of a perf ring, on plain memory. Head and tail count bytes since the start and
 * never wrap; position = count modulo size.
 */
struct ring {
	const uint8_t *base;  /* the data area */
	uint64_t size;	      /* of it: a power of two */
	const uint64_t *head; /* moved by the kernel */
	uint64_t *tail;	      /* moved by us */
	/* Of a feed's own: it had no room for a record since the last one, and for how many. */
	const uint32_t *gap, *missed;
	/* Samples that count: those with one of these ids; 0: all, or the waits of a feed. */
	uint64_t counted[2];
	bool is_fed;
};

/* The head as it is now; everything before it may be read. */
uint64_t ring_head(const struct ring *r);
/* Bytes waiting before @head. */
uint64_t ring_used(const struct ring *r, uint64_t head);

/*
 * Moves as many whole records before @head as @buf holds into it, in one piece, and gives their
 * room back to the kernel. 0 with *ret_len > 0, or RING_EMPTY; -ENOBUFS: the next record does not
 * fit (RING_RECORD_MAX always does); -EBADMSG: no record is at the tail, and everything before
 * @head was thrown away, as the next record cannot be found.
 */
int ring_drain(struct ring *r, uint64_t head, void *buf, size_t size, size_t *ret_len);

/* A run of whole records where it lies in the ring; around its end in two pieces. */
struct ring_span {
	struct iovec piece[2];
	int pieces;
	uint64_t end; /* where it ends, in bytes since the start */
	/* by its records */
	uint64_t samples; /* that count */
	uint64_t lost;	  /* what the kernel had no room for */
};

/*
 * The run that begins at @from, which is the tail or the end of an earlier run, before @head: at
 * least one record and, beyond that, at most @most bytes. It stays there until ring_release().
 * Answers 0, RING_EMPTY, or -EBADMSG: there is no record at @from.
 */
int ring_peek(const struct ring *r, uint64_t from, uint64_t head, size_t most,
	      struct ring_span *ret);
/*
 * Everything from the tail to @head as one run, whose records are not read: nothing is counted.
 * The kernel moves the head by whole records only. 0, RING_EMPTY, or -EBADMSG: there is more than
 * the ring holds.
 */
int ring_all(const struct ring *r, uint64_t head, struct ring_span *ret);
/* Gives the room of everything before @end back to the kernel. */
void ring_release(struct ring *r, uint64_t end);

/*
 * How large rings of our own are, one for each of @n CPUs, with @beside bytes of other things in
 * each: as many bytes as are @asked for, from 64 KiB to 64 MiB; 0: 8 MiB, or half of that and so
 * on, until all of them take no more than 48 MiB. A power of two.
 */
uint32_t ring_own_bytes(uint64_t asked, size_t beside, size_t n);
/*
 * How large perf's rings are by default, one for each of @n CPUs, in KiB. On a busy machine the
 * collector may have to wait for a CPU for some tenths of a second: few CPUs get 2 MiB for that,
 * or, where samples have @dumps of stacks, what comes of them in a second; many CPUs 512 KiB. Of
 * more than 128 CPUs all take no more than 64 MiB, down to 64 KiB for each. @fed: waits go into
 * rings of our own, and these take 16 MiB of that, down to 32 KiB for each.
 */
uint32_t ring_perf_kib(size_t n, bool fed, uint64_t dumps);

/* Throws away everything before @head and returns the number of records that it was. */
uint64_t ring_skip(struct ring *r, uint64_t head);

/*
 * In whole perf records that were copied from a ring: replaces event ids @from[k] by @to[k], k <
 * @n. The records have IDENTIFIER, and a trailer if they are no samples. Stops at a record that
 * does not fit.
 */
void ring_replace_ids(void *records, size_t len, const uint64_t *from, const uint64_t *to,
		      size_t n);

#endif
