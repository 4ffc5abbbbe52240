/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_READER_TYPES_H
#define KONTEND_SRC_FILE_READER_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that records borrow: a piece of the mapping, or heap. Given back with the last record. */
struct reader_block {
	uint8_t *heap; /* NULL: mapped */
	const uint8_t *from;
	size_t len, cap;
	uint32_t refs;
	uint32_t place; /* going on from there brings its bytes again */
	struct reader_block *prev, *next;
};

/* Bytes not yet scanned, from the file or unpacked. */
struct reader_region {
	const uint8_t *pos, *end;
	struct reader_block *block;
	bool finished; /* nothing comes behind `end` */
};

/* Where time and CPU stand in samples of one event, and in the trailers of other records. */
struct reader_layout {
	uint16_t off_time, off_cpu, fixed;	    /* fixed: bytes up to the last of these */
	uint16_t trail_time, trail_cpu, trail_size; /* back from the record's end */
};

/* What is known of time at one place of the stream. */
struct reader_flow {
	uint64_t max_time, prev_max_time, first_time, last_time;
	uint64_t said_until; /* of the last round handed out */
	uint64_t next_tick;
	uint64_t window_bytes; /* scanned since the last round */
	uint64_t window_runs;
	uint32_t ring; /* of the run before */
	bool has_rounds, is_sorted;
};

/* The start of a window, at a record, with nothing unpacked or queued in between. */
struct reader_place {
	size_t offset;
	struct reader_flow flow;
};

#endif
