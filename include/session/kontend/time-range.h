/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TIME_RANGE_H
#define KONTEND_TIME_RANGE_H

#include "kontend/engine.h"
#include "kontend/reader.h"

/*
 * The text of --time, and the engine's range made of it. It must not move while the engine has it.
 */
struct time_range {
	struct engine_range range;
	struct engine *engine;
	struct reader_options reader;
	const char *text, *path; /* borrowed; path NULL: no recording */
	uint64_t length_ns;	 /* the text is where a part of this length ends; 0: FROM,TO */
	uint64_t end_ns;	 /* of the recording; WHEN_UNKNOWN */
	bool is_bad;		 /* the text made no sense there */
};

/*
 * From now on @e, which has read nothing yet, is about the part of its stream that @text says: as
 * FROM,TO, or with @length_ns as the moment where it ends.
 * @how: of its `path`, NULL: it is no recording, and who opens it.
 * If the file does not have its end in the head it is read for it beforehand: @stop is asked now
 * and then whether to give that up (-EINTR). 0 or a negative errno with @err; whether the text
 * makes sense shows only when the stream begins.
 */
int time_range_set(struct time_range *r, struct engine *e, const char *text, uint64_t length_ns,
		   const struct reader_options *how, bool (*stop)(void *ctx), void *ctx,
		   struct error *err);
/* The stream has ended: -EINVAL with @err when it has nothing of the range. */
int time_range_check(struct time_range *r, struct error *err);

#endif
