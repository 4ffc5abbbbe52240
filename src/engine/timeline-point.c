// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states from which a timeline can play on: an array of packed models, in order, limited in
 * bytes. They are spread evenly by work, not by time, as the work is the cost of going to a place.
 * A point is due when the engine has done `gap` since the last one. When the limit is reached, the
 * point whose removal leaves the smallest gap is dropped, and `gap` becomes the distance of evenly
 * spread points. So the number of points ever made is about the number kept times the logarithm of
 * the length of the stream. The point of the first tick is never dropped: all places can be reached
 * from it.
 */
#include "kontend/bisect.h"
#include "kontend/cell.h"
#include "kontend/mem.h"
#include "timeline-int.h"
#include <errno.h>
#include <string.h>

/*
 * The unit of work is an event. Closing a bucket walks the cells, each at a fraction of the cost of
 * an event. Packing takes the time of one event for some bytes, and should not take much more work
 * than a point saves.
 */
enum {
	FIRST_GAP = 100000,
	TICK_WORK = 64,
	CELLS_OF_AN_EVENT = 16,
	BYTES_OF_AN_EVENT = 48,
	DEFAULT_BYTES = 48 << 20,
};

static void add_work(struct timeline *t)
{
	const struct model *m = t->engine->model;

	t->work += m->n_events - t->n_events + TICK_WORK + m->cells->n / CELLS_OF_AN_EVENT;
	t->n_events = m->n_events;
}

/* Drops the point whose neighbours have the smallest gap between them. */
static void drop_point(struct timeline *t)
{
	size_t least = 1;
	uint64_t least_gap = UINT64_MAX;

	for (size_t i = 1; i < t->n_points; i++) {
		uint64_t next = i + 1 < t->n_points ? t->points[i + 1].work : t->work;
		uint64_t gap = next - t->points[i - 1].work;
		if (gap < least_gap) {
			least_gap = gap;
			least = i;
		}
	}
	t->bytes -= t->points[least].model.bytes;
	engine_packed_deinit(&t->points[least].model);
	t->n_points--;
	memmove(t->points + least, t->points + least + 1,
		(t->n_points - least) * sizeof(*t->points));
	if (t->gap < t->work / t->n_points)
		t->gap = t->work / t->n_points;
}

static bool is_due(const struct timeline *t)
{
	uint64_t done = t->work - t->points[t->n_points - 1].work;

	return done >= t->gap && done >= model_bytes(t->engine->model) / BYTES_OF_AN_EVENT;
}

/* A second tick at the same time could not be distinguished from the first on the way back. */
static bool is_unique(struct timeline *t)
{
	uint64_t time = t->engine->place.time_ns;

	if (time <= t->max_tick)
		return false;
	t->max_tick = time;
	return true;
}

static int add_point(struct timeline *t)
{
	const struct engine *e = t->engine;
	struct timeline_point p = {.place = e->place, .stop = t->n - 1, .work = t->work};

	if (mem_grow(&t->points, &t->cap_points, t->n_points, sizeof(*t->points)))
		return -ENOMEM;
	int r = engine_packed_make(&p.model, e->model, &t->pack);
	if (r)
		return r;
	t->bytes += p.model.bytes;
	t->points[t->n_points++] = p;
	return 0;
}

int timeline_note_point(struct timeline *t, struct error *err)
{
	size_t most = t->options.checkpoint_bytes ? t->options.checkpoint_bytes : DEFAULT_BYTES;

	add_work(t);
	if (!t->gap)
		t->gap = t->options.checkpoint_events ? t->options.checkpoint_events : FIRST_GAP;
	bool unique = is_unique(t);
	if (t->n_points) {
		if (!unique || !is_due(t))
			return 0;
		/* Models grow slowly: the size of the last one is a good guess. */
		size_t need = t->points[t->n_points - 1].model.bytes;
		while (t->n_points > 1 && t->bytes + need > most)
			drop_point(t);
		if (t->bytes + need > most)
			t->gap *= 2;
		if (t->bytes + need > most || !is_due(t))
			return 0;
	}
	if (add_point(t))
		return error_enomem(err, "a point in time to come back to");
	return 0;
}

const struct timeline_point *timeline_point_before(const struct timeline *t, size_t stop)
{
	size_t n = BISECT(t->points, t->n_points, stop, stop);

	return n ? &t->points[n - 1] : NULL;
}

void timeline_free_points(struct timeline *t)
{
	for (size_t i = 0; i < t->n_points; i++)
		engine_packed_deinit(&t->points[i].model);
	mem_free(t->points);
}
