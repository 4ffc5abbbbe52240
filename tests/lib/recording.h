/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_RECORDING_H
#define KONTEND_TESTS_RECORDING_H

#include "kontend/engine.h"
#include "kontend/reader.h"
#include "synth.h"
#include <stddef.h>
#include <stdint.h>

/*
 * perf.data files for tests: synthetic streams written by our writer or in the form perf gives
 * them, as bytes in memory that tests may damage, and what the reader and the engine make of a
 * file. Failures that a test does not expect abort with a message.
 */
struct recording {
	uint8_t *data;
	size_t len;
};

enum { RECORDING_PIPE = 1, RECORDING_ZSTD = 2 };

/* All of @source (taken over) through the writer; RECORDING_PIPE: never finished. */
struct recording recording_written(struct source *source, int flags);
/* The same with its writer, in a file of memory. */
struct writer;
struct writer *recording_writer(struct source *source, int flags, int *ret_fd);
/* The content of a file. */
struct recording recording_of(int fd);
/* The records added to @s, as perf writes them: FINISHED_ROUND for rounds, no records of ours. */
struct recording recording_perf(struct synth *s, int flags);
/* Adds a header with this span of time, as a file may have that another program has copied. */
void recording_tell_span(struct recording *r, uint64_t from, uint64_t to);
/* Waits of four tasks on two CPUs, 1 ms apart, ending on the other CPU; one tick, at the end. */
void recording_waits(struct synth *s, unsigned rounds, unsigned waits);
void recording_free(struct recording *r);

/* Result of reading a file to its end. */
struct recording_result {
	int answer; /* of the reader or the engine: 0 or negative errno */
	struct error err;
	char *dump; /* the model's text, when answer is 0; recording_result_free() */
	uint64_t events, ticks, notes;
	uint64_t elapsed_ns;	       /* from the model's start to its end */
	uint64_t bad, late, most_held; /* unusable events; bytes held by the reader */
	char note[600];
};

/* Without symbols. @tick_ns 0: the recording's own ticks. */
void recording_read(struct recording_result *ret, const char *path, uint64_t tick_ns);
/* With one tick, at the end. */
void recording_read_bytes(struct recording_result *ret, const void *data, size_t len);
void recording_result_free(struct recording_result *r);

#endif
