/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOOK_H
#define KONTEND_LOOK_H

#include <stddef.h>
#include <stdint.h>

/*
 * Something that is looked at as a whole, once a tick, and rides in the stream as a SNAPSHOT
 * record. take() is called by the collector's thread.
 */
struct look {
	uint16_t kind;	  /* enum record_snapshot_kind */
	uint16_t version; /* of the payload */
	/*
	 * The payload behind a struct record_snapshot, which the caller fills in; borrowed until
	 * the next call. NULL: there is none this time.
	 */
	void *(*take)(struct look *l, size_t *ret_len);
	struct look *next; /* taken after this one; NULL: none */
};

#endif
