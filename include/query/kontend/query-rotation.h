/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ROTATION_H
#define KONTEND_QUERY_ROTATION_H

#include "kontend/pmus.h"
#include "kontend/query-hist.h"
#include "kontend/query.h"

struct rotation_timer;

/*
 * Rotation of perf events where a PMU has fewer counters than it has events: what it costs, on
 * which CPU, because of whom. All answers lie in the query's arena, as those of query.h do.
 */

/* For the overview and the header line of the view. */
struct query_rotation_sum {
	bool known;	    /* the stream says which PMUs there are */
	const char *reason; /* why nothing is measured, or "" */
	uint32_t pmus;	    /* that rotate when there is need */
	const char *pmu;    /* "armv8_pmuv3 4ms, cpu 1ms"; "" = none */
	uint32_t timers;    /* that have rotated */
	uint64_t rotations, unpaired, total_ns;
	double per_s, ns_per_s; /* of the last bucket, or of all that was measured */
	uint64_t dropped, unmatched;
};

int query_rotation_sum(struct query *q, bool average, struct query_rotation_sum *ret);

/* Table "rotation": a row a CPU and PMU on which contexts have rotated. */
int query_rotation(struct query *q, const struct query_spec *s, struct table *ret,
		   struct error *err);
extern const struct table_kind query_rotation_kind;
/* The cost at a number of events: a point of the scatter. */
enum query_rotation_what { ROTATION_OF_MUX, ROTATION_OF_TICK, ROTATION_OF_SWITCH };
const char *
query_rotation_what_name(enum query_rotation_what what); /* "rotation", "tick", "switch" */

struct query_rotation_point {
	enum query_rotation_what what;
	uint32_t cpu, events;
	uint32_t off; /* of a switch: how many of the events are of the task that went off */
	bool idle;    /* of a tick: no task ran */
	uint64_t n, p50_ns, min_ns, max_ns;
};

/* Cost = base + per_event x events, by least squares over the points. */
struct query_rotation_fit {
	bool known; /* there are points with different numbers of events */
	double base_ns, per_event_ns;
};

/* Switches of one CPU without events of tasks (plain) and with (loaded). */
struct query_rotation_switches {
	uint32_t cpu;
	uint64_t plain_n, plain_p50_ns, loaded_n, loaded_p50_ns;
};

/*
 * The timer tick of one CPU that goes through so many events, as one of its contexts has some that
 * sample at a frequency; and the baseline, ticks of that CPU with none. Both while tasks ran, or
 * both while none did. Without a baseline (plain_n 0), as all ticks had events since measuring
 * began, the cost that they add is not known.
 */
struct query_rotation_tick {
	uint32_t cpu, events;
	bool idle;
	uint64_t n, ns, plain_n, plain_ns; /* p50s */
	uint64_t growth_ns;		   /* what they add */
};

struct query_rotation_costs {
	struct query_rotation_point *points;
	size_t n_points;
	struct query_rotation_fit fit, switch_fit; /* of all CPUs */
	struct query_rotation_switches *switches;
	size_t n_switches;
	struct query_rotation_tick *ticks;
	size_t n_ticks;
	uint64_t bursts, switch_ns; /* how often and how long switches were looked at */
	/*
	 * The cost of observing it, for each event of a task that went off, in picoseconds: times
	 * of switches are without it. 0: not known, and they are with it.
	 */
	uint64_t own_ps;
	/*
	 * Durations left out: it is not known whose events were there, or others before than after.
	 */
	uint64_t n_unclassed, n_changed;
	/*
	 * The cost of that: records, their bytes, and CPU time of kontend to collect them; where
	 * other records came with them, their share of the bytes. 0: not known.
	 */
	uint64_t switch_records, switch_bytes, switch_cpu_ns;
};

int query_rotation_costs(struct query *q, struct query_rotation_costs *ret);

/*
 * Savings on one CPU by less rotation: fewer events, by the line through the points of this CPU, or
 * of all CPUs where it was seen with one number of events only; another interval, by their ratio.
 */
struct query_rotation_what_if {
	uint32_t cpu;
	const char *pmu;       /* NULL: not known */
	uint32_t events;       /* that take turns there; 0: not known */
	double per_s, cpu_pct; /* of all that was measured */
	struct query_rotation_fit fit;
	bool of_all;			/* it is that of all CPUs */
	uint32_t fewer;			/* 0: it is not known what fewer would save */
	double saved_pct;		/* of the CPU, by so many fewer */
	uint32_t interval_ms, other_ms; /* 0: not known */
	double other_pct;		/* of the CPU, at other_ms */
};

/* Of all timers that have rotated, most of their CPU first. 0 or -ENOMEM. */
int query_rotation_what_ifs(struct query *q, const struct query_rotation_costs *c,
			    struct query_rotation_what_if **ret, size_t *ret_n);
/* "handler 12.4us + 1.14us x events; 8 fewer save 0.22% of this CPU" */
const char *query_rotation_fewer_text(const struct query_rotation_what_if *w, char *buf,
				      size_t size);
/* "8 ms instead of 4 would halve it to 0.75%"; "" when the interval is not known. */
const char *query_rotation_other_text(const struct query_rotation_what_if *w, char *buf,
				      size_t size);
enum { QUERY_ROTATION_TEXT = 160 };

/* A row of the table in full; @id is that of the row. -ENOENT: it is gone. */
struct query_rotation_row {
	struct query_hist hist;
	struct query_rotation_what_if what_if;
	const char *owners; /* "agent/411 (92 cpu-wide)\n..."; NULL: not known */
	uint32_t elsewhere; /* events of the same tasks that cannot count there */
};

int query_rotation_row(struct query *q, uint64_t id, const struct query_rotation_costs *c,
		       struct query_rotation_row *ret);

/* The sentence for a table without rows. */
const char *query_rotation_none(const struct query_rotation_sum *s);

#endif
