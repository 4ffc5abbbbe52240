/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CMD_GATHER_H
#define KONTEND_CMD_GATHER_H

#include "kontend/fleet-report.h"
#include "measure.h"
#include "only.h"
#include "spans.h"

/*
 * Recordings that are read one after the other, each into an engine of its own, and added to a
 * fleet. So there is never more than one recording in memory, and the cage, which is entered before
 * the first byte of the first one, is around all of them. One that cannot be read, or has what
 * another one has, is named and left out: the others are done.
 */
struct gather {
	const struct opts *o;
	const struct cmd_only *only;
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
};

/*
 * What merge and diff have in common of @s, from options; its `by` and `faults` are not touched.
 * @text_rows: of a table, where nothing is said. 0, or -EINVAL with @err.
 */
int gather_spec(struct fleet_spec *s, const struct opts *o, size_t text_rows,
		struct cmd_only *ret_only, struct error *err);
/* Adds one to @to, or says what is wrong with it, and counts that in @given. */
int gather_read(struct gather *g, struct measure *m, const char *path, struct fleet *to,
		struct fleet_given *given, struct error *err);
/* Names those that are days off the others. 0 or -ENOMEM. */
int gather_say_clocks(struct gather *g, struct fleet_given *given, struct error *err);
/* Is something wrong with some of them? */
bool gather_any_bad(const struct fleet_given *given);
void gather_deinit(struct gather *g);

#endif
