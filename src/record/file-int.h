/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_FILE_INT_H
#define KONTEND_RECORD_FILE_INT_H

#include "kontend/error.h"
#include "kontend/record.h"
#include "kontend/sideband.h"
#include "kontend/writer.h"
#include <stdbool.h>
#include <stdint.h>

/* part-prologue.c: records that precede the stream, for parts that begin in the middle of it. */
struct part_prologue {
	const struct sideband_source *names; /* as in struct record_file_options */
	bool cgroups;
	struct record *kept; /* HOST, FORMAT, ATTR, CPU; owns their bytes */
	size_t n_kept, cap_kept;
	bool has_symbols;
	int symbols_fd;	      /* /proc/kallsyms, opened with privileges at the start; -1: none */
	uint64_t dummy_id;    /* the event whose records report changes of tasks */
	bool maps, data_maps; /* and their mappings */
	size_t left;	      /* processes whose mappings were not read */
	uint32_t first_ring;
	bool has_ring;
	bool settled;  /* the stream has ended: data read once is valid for all later parts */
	char *symbols; /* after the end; NULL: not read yet */
	size_t symbols_len;
	struct sideband tasks;
	bool has_tasks;
};

void part_prologue_init(struct part_prologue *a, const struct sideband_source *names, bool cgroups);
/* Keeps a copy of a record that goes into the file. 0 or -ENOMEM. */
int part_prologue_note(struct part_prologue *a, const struct record *r);
/* Writes them to an empty file, which @err calls @path. */
int part_prologue_put(struct part_prologue *a, struct writer *w, const char *path,
		      struct error *err);
void part_prologue_deinit(struct part_prologue *a);

/* shrink.c */
/*
 * Removes unneeded symbols from the finished recording @path, open as @fd, if that is worthwhile;
 * another file that has its name by now is left alone. @w: its writer. *ret_bytes: the new size; 0:
 * unchanged. Set also after an error, which is negative.
 */
int record_shrink(const char *path, int fd, const struct writer *w, uint64_t *ret_bytes,
		  struct error *err);

#endif
