/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_GATHER_H
#define KONTEND_CMD_GATHER_H

#include "kontend/filter-options.h"
#include "kontend/fleet-report.h"
#include "kontend/recording-spans.h"
#include "measure.h"

/*
 * Recordings that are read one after the other, each into an engine of its own, and added to a
 * fleet. So there is never more than one recording in memory, and the sandbox, which is entered
 * before the first byte of the first one, is around all of them. One that cannot be read, or has
 * what another one has, is named and left out: the others are done.
 */
struct fleet_input {
	const struct opts *o;
	const struct filter_options *only;
	struct spans spans; /* of all of them, whatever they are added to */
	struct began {	    /* when each began, by its own clock */
		const char *path;
		uint64_t wall_ns;
	} * began;
	size_t n_began, cap_began;
	struct gathered { /* regular files that were read */
		const char *path;
		uint64_t dev, inode;
	} * files;
	size_t n_files, cap_files;
	/* NULL, or called with each that is added. 0 or negative. */
	int (*also)(void *ctx, struct query *q, struct error *err);
	void *also_ctx;
};

/*
 * The common part of @s for merge and diff, from options; its `by` and `faults` are not touched.
 * @text_rows: rows of a table, if no option says how many. 0, or -EINVAL with @err.
 */
int fleet_input_spec(struct fleet_spec *s, const struct opts *o, size_t text_rows,
		     struct filter_options *ret_only, struct error *err);
/* Adds one to @to, or reports its fault, and counts that in @given. */
int fleet_input_read(struct fleet_input *g, struct measure *m, const char *path, struct fleet *to,
		     struct fleet_given *given, struct error *err);
/* Names those that are days off the others. 0 or -ENOMEM. */
int fleet_input_say_clocks(struct fleet_input *g, struct fleet_given *given, struct error *err);
/* Has @f no row, as its recordings have no events for its @tables? Then a message reports it. */
bool fleet_input_say_no_data(const struct opts *o, const struct fleet *f, unsigned tables);
/* Is something wrong with some of them? */
bool fleet_input_any_bad(const struct fleet_given *given);
void fleet_input_deinit(struct fleet_input *g);

#endif
