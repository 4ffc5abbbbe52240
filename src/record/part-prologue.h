/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_AGAIN_H
#define KONTEND_RECORD_AGAIN_H

#include "kontend/error.h"
#include "kontend/record.h"
#include "kontend/sideband.h"
#include "kontend/writer.h"
#include <stdbool.h>
#include <stdint.h>

/* What stood before the stream, for the files of a recording that begin in the middle of it. */
struct part_prologue {
	const struct sideband_source *names; /* as in struct record_file_options */
	bool cgroups;
	struct record *kept; /* HOST, FORMAT, ATTR, CPU; the bytes are ours */
	size_t n_kept, cap_kept;
	bool has_symbols;
	int symbols_fd;	      /* of the kernel, opened while there were the rights; -1: none */
	uint64_t dummy_id;    /* the event that says what tasks do */
	bool maps, data_maps; /* and what they map */
	uint32_t first_ring;
	bool has_ring;
	bool settled;  /* the stream has ended: what is read is true for all files that follow */
	char *symbols; /* once it has; NULL: not read yet */
	size_t symbols_len;
	struct sideband tasks;
	bool has_tasks;
};

void part_prologue_init(struct part_prologue *a, const struct sideband_source *names, bool cgroups);
/* A record that goes into the file. 0 or -ENOMEM. */
int part_prologue_note(struct part_prologue *a, const struct record *r);
/* Into a file that has nothing yet, called @path in @err. */
int part_prologue_put(struct part_prologue *a, struct writer *w, const char *path,
		      struct error *err);
void part_prologue_deinit(struct part_prologue *a);

#endif
