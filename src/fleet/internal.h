/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FLEET_INTERNAL_H
#define KONTEND_FLEET_INTERNAL_H

#include "kontend/fleet.h"
#include "kontend/hist.h"
#include "kontend/map64.h"
#include "kontend/strpool.h"

/* Shared by the files of src/fleet. */

enum {
	FLEET_KEYS = 3,	    /* texts that make a row */
	FLEET_MEASURES = 8, /* numbers that it has */
	FLEET_ROWS = 20000, /* of a table; the others are in its row "(other)" */
	FLEET_GROUPS_MOST = 1024,
	FLEET_NAMES = 1 << 17, /* keys of all tables */
	FLEET_KEY = 4096,      /* bytes of one; texts are cut to a third */
	FLEET_PARTS = 1 << 20, /* of a table: what a group has of a row */
	FLEET_OTHER = 0,       /* place of the row, and group, of what had no room */
};

enum fleet_fold { FOLD_SUM, FOLD_MAX, FOLD_MIN, FOLD_ROWS /* how many rows were added */ };

struct fleet_measure {
	struct column column;
	enum fleet_fold fold;
	const char *from; /* key of the column that it is of; NULL: the same */
};

struct fleet_def {
	const char *name, *rule;
	struct fleet_measure measures[FLEET_MEASURES]; /* the first one is what groups show */
	struct column keys[FLEET_KEYS];
	const char *from[FLEET_KEYS];  /* keys of columns that these are of; NULL: the same */
	const struct table_kind *kind; /* where rows are from; NULL: from classes of waits */
	enum query_by by;	       /* which of these */
	bool has_hist;
	bool is_state; /* the first measure is of one moment, not of a time */
};

/* Places of measures of waits. */
enum { WAIT_TOTAL, WAIT_N, WAIT_WAITING, WAIT_MAX, WAIT_MIN, WAIT_MEASURES };
/* And of the table of groups, after them. */
enum { GROUP_FILES = WAIT_MEASURES, GROUP_MEASURED, GROUP_LOST };

extern const struct fleet_def fleet_defs[FLEET_TABLES + 1];

/* Numbers of one row, on their way in, and summed up. */
struct fleet_values {
	uint64_t v[FLEET_MEASURES];
	uint8_t known, approx, at_least; /* bits of these */
};

/* Groups of buckets are taken when they are first counted in. */
struct fleet_hist {
	uint64_t *groups[HIST_GROUPS];
};

struct fleet_row {
	const char *key; /* texts with FLEET_SPLIT between them; interned */
	struct fleet_values sum;
	struct fleet_hist hist;
};

#define FLEET_SPLIT '\x1f'

struct fleet_rows {
	struct fleet_row *rows;
	size_t n, cap;
	struct map64 index; /* address of the key -> row */
	uint64_t *parts;
	size_t n_parts, cap_parts;
	struct map64 part_at; /* row and group -> part */
};

struct fleet {
	enum fleet_by by;
	unsigned tables;
	struct arena arena; /* buckets */
	struct strpool names;
	struct fleet_rows of[FLEET_TABLES + 1]; /* that of groups: rows are groups */
	struct map64 machines, kernels;		/* by address of their interned name */
	struct fleet_sum sum;
	bool failed; /* an allocation did */
};

/* A key as rows have it; NULL texts are "". NULL: there is no room for more. */
const char *fleet_key(struct fleet *m, const char *const texts[FLEET_KEYS]);
/* The row that is called so; "(other)" where it has no room, as with NULL. */
uint32_t fleet_row(struct fleet *m, enum fleet_at at, const char *key);
/* @hist: NULL: it has none. */
void fleet_add(struct fleet *m, enum fleet_at at, uint32_t row, const struct fleet_values *v,
	       const struct hist *hist);
/* The same, and that @group has a part of it. */
void fleet_add_part(struct fleet *m, enum fleet_at at, const char *key, uint32_t group,
		    const struct fleet_values *v, const struct hist *hist);
void fleet_hist_sum(const struct fleet_hist *h, struct hist *ret);
/* The row's name, part by part. In @a; NULL: no memory. */
const char *fleet_key_part(struct arena *a, const char *key, int part);
/* The row of @key, a text of whatever fleet; NULL: there is none. */
const struct fleet_row *fleet_find(const struct fleet *m, enum fleet_at at, const char *key);
/* The part of @group in the row's first measure. */
uint64_t fleet_part(const struct fleet_rows *t, uint32_t row, uint32_t group);

/* defs.c: the unit of systemd that a path of a cgroup is in, as long as @buf has room. */
const char *fleet_service(const char *path, char *buf, size_t size);

#endif
