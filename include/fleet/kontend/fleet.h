/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FLEET_H
#define KONTEND_FLEET_H

#include "kontend/query.h"

/*
 * Many recordings as one: the rows of their tables are added up by name, so that the same lock on
 * two machines is one row, with its sum over all recordings and a part for each group of
 * recordings. The engine that read a recording can be freed after that; memory is bounded by the
 * number of rows, not of recordings.
 */
struct fleet;

/* Kinds of groups: a table has a column for each of their groups. */
enum fleet_by {
	FLEET_BY_HOST,
	FLEET_BY_KERNEL,
	FLEET_BY_SERVICE, /* a unit of systemd, by the cgroups of its tasks */
	FLEET_BY_RECORDING,
	FLEET_BYS,
};

enum fleet_at {
	FLEET_LOCKS,
	FLEET_CALLERS,
	FLEET_TYPES,
	FLEET_TASKS,
	FLEET_HOT,
	FLEET_SLOTS,
	FLEET_MMAP,
	FLEET_UPROBES,
	FLEET_TABLES,
	FLEET_GROUPS = FLEET_TABLES, /* hosts, kernels or services: always there */
};

const char *fleet_by_name(enum fleet_by by);			  /* "host" */
int fleet_by_parse(const char *s, enum fleet_by *ret);		  /* 0 or -EINVAL */
const char *fleet_table_name(enum fleet_at at, enum fleet_by by); /* "locks"; "hosts" */
const char *fleet_table_rule(enum fleet_at at); /* what makes two rows the same, in words */
/* Names of tables with commas, or all: bits 1 << enum fleet_at. 0, or -EINVAL with @err. */
int fleet_tables_parse(const char *names, unsigned *ret, struct error *err);

/* NULL: no memory. @tables: bits 1 << enum fleet_at; 0: all. */
struct fleet *fleet_new(enum fleet_by by, unsigned tables);
void fleet_free(struct fleet *m); /* NULL is fine */
/* Adds the rows of @q. 0 or -ENOMEM: then the sums are no longer valid. */
int fleet_take(struct fleet *m, struct query *q, struct error *err);

struct fleet_sum {
	uint64_t recordings, machines, kernels; /* that were added, and are of as many */
	uint64_t contended, total_ns, measured_ns;
	uint64_t from_wall_ns, to_wall_ns; /* 0: no recording has the time of day */
	uint64_t
		rows_folded; /* rows of recordings added to a row "(other)", as there was no room */
	uint64_t groups_folded; /* the same of groups */
	uint64_t no_cgroups;	/* by service: recordings without cgroups of tasks */
	uint64_t no_locks;	/* recordings without lock events */
	uint64_t samples;	/* of the profiles */
	uint64_t trusted;	/* files of recordings whose names are trusted by the path alone */
	/* By place in query_damage_figures: what is wrong with all of them, added up. */
	uint64_t damage[32];
};

const struct fleet_sum *fleet_sum(const struct fleet *m);
/* Does a table, that of groups apart, have a row? */
bool fleet_has_rows(const struct fleet *m);

/*
 * A table, the rows with most first, at most @limit (0: all) of them. Its first @ret_fixed columns
 * are its own, the others are of one group each, and at last of all that have none. In the arena,
 * with names that live as long as @m. 0, or -ENOMEM.
 */
int fleet_table(const struct fleet *m, enum fleet_at at, size_t limit, struct arena *arena,
		struct table *ret, size_t *ret_fixed);

/*
 * Two fleets beside each other, each FLEET_BY_RECORDING: of each row what a second has of its first
 * measure, before and after, and whether the recordings of one are apart from those of the other by
 * more than chance. The rows that changed most come first, at most @limit (0: all) of them. In the
 * arena. 0, or -ENOMEM.
 */
int fleet_compare(const struct fleet *before, const struct fleet *after, enum fleet_at at,
		  size_t limit, struct arena *arena, struct table *ret);

#endif
