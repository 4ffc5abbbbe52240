// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the real engine over a synthetic stream for tests, and states what came out in a form that
 * does not depend on the order in which tables were filled.
 */
#include "rig.h"
#include "kontend/blame.h"
#include "kontend/cell-recent.h"
#include "kontend/damage.h"
#include "kontend/ended.h"
#include "kontend/holds.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "rig: %s: %s\n", what, err->text);
	abort();
}

void rig_init(struct rig *r, uint32_t n_rings)
{
	*r = (struct rig){.synth = synth_new(n_rings)};
	synth_prologue(r->synth, synth_kallsyms);
}

static void start(struct rig *r, const struct model_limits *limits)
{
	struct error err = {0};

	if (r->playing)
		return;
	if (engine_init(&r->engine, synth_source(r->synth), limits, &err))
		die("engine_init", &err);
	if (r->keeps_ended && ended_new(&r->engine.model->ended))
		die("ended_new", &err);
	r->playing = true;
}

void rig_play_ticks(struct rig *r, const struct model_limits *limits, unsigned n_ticks)
{
	struct error err = {0};
	int e = 0;

	start(r, limits);
	while (n_ticks && (e = engine_pump(&r->engine, 0, &err)) != ENGINE_END) {
		if (e < 0)
			die("engine_pump", &err);
		if (e == ENGINE_TICK)
			n_ticks--;
	}
}

void rig_play(struct rig *r, const struct model_limits *limits)
{
	rig_play_ticks(r, limits, UINT32_MAX);
}

void rig_deinit(struct rig *r)
{
	if (r->playing)
		engine_deinit(&r->engine);
	synth_free(r->synth);
}

struct rig_sum rig_sum_type(const struct model *m, enum lock_type type)
{
	struct rig_sum s = {.min_ns = UINT64_MAX};

	for (size_t i = 0; i < m->cells->n; i++) {
		const struct cell *c = &m->cells->cells[i];
		if (m->locks->locks[c->lock].type != type)
			continue;
		const struct cell_sums of = cell_sums(m->cells, c);
		s.n += of.n;
		s.total_ns += c->total_ns;
		s.failed += of.failed;
		s.rate_wait_ns += c->rate_wait_ns;
		if (of.min_ns < s.min_ns)
			s.min_ns = of.min_ns;
		if (of.max_ns > s.max_ns)
			s.max_ns = of.max_ns;
	}
	return s;
}

/* The numbers of a cell, in the order by which lines are sorted. */
struct line {
	uint64_t numbers[16];
	char comm[16];
};

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct line));
}

static struct line cell_line(const struct model *m, const struct cell_table *of,
			     const struct cell *c)
{
	const struct lock *l = &m->locks->locks[c->lock];
	const struct task *t = &m->tasks->tasks[c->task];
	const struct stack *s = &m->stacks->stacks[c->stack];
	const struct cell_sums sums = cell_sums(of, c);
	struct hist h = {0};

	cell_hist(of, c, &h);
	struct line line = {.numbers = {l->type, l->addr, (uint64_t)t->tid, c->cpu, s->hash, s->n,
					sums.n, c->total_ns, sums.min_ns, sums.max_ns, c->last_ns,
					sums.failed, c->rate_wait_ns, sums.spun_ns, h.n,
					hist_percentile(&h, 99, sums.min_ns, sums.max_ns)}};
	snprintf(line.comm, sizeof(line.comm), "%s", t->comm);
	return line;
}

/* Tests dump thousands of models of thousands of cells: printf() would take most of their time. */
static char *put_number(char *at, uint64_t v)
{
	char digits[16];
	int n = 0;

	do
		digits[n++] = "0123456789abcdef"[v % 16];
	while (v /= 16);
	while (n)
		*at++ = digits[--n];
	*at++ = ' ';
	return at;
}

static void put_line(FILE *f, const struct line *l)
{
	char text[sizeof(l->numbers) / sizeof(*l->numbers) * 17], *at = text;

	for (size_t i = 0; i < sizeof(l->numbers) / sizeof(*l->numbers); i++)
		at = put_number(at, l->numbers[i]);
	fwrite(text, 1, (size_t)(at - text), f);
	fputs(l->comm, f);
	putc('\n', f);
}

static void put_cells(FILE *f, const struct model *m, const struct cell_table *t)
{
	struct line *lines = calloc(t->n + 1, sizeof(*lines));

	if (!lines)
		abort();
	for (size_t i = 0; i < t->n; i++)
		lines[i] = cell_line(m, t, &t->cells[i]);
	qsort(lines, t->n, sizeof(*lines), by_bytes);
	for (size_t i = 0; i < t->n; i++)
		put_line(f, &lines[i]);
	free(lines);
}

/* Those of the last ticks. */
static void put_windows(FILE *f, const struct model *m)
{
	struct cell_table t;

	if (cell_table_init(&t, m->cells->max, m->cells->hists.max_groups))
		abort();
	for (uint64_t ns = 1000000; ns < 20000000000; ns *= 100) {
		const struct recent_window w = recent_find(&m->cells->recent, ns);
		fprintf(f, "window %" PRIu64 " %d\n", w.end_ns - w.begin_ns, w.is_short);
		if (cell_recent(m->cells, &w, NULL, &t))
			abort();
		put_cells(f, m, &t);
	}
	cell_table_deinit(&t);
}

/* By column of time, as cells have other indices in another model. */
static void put_heat(FILE *f, const struct heat *h)
{
	for (size_t i = 0; i < h->n_columns; i++) {
		uint64_t n = 0, ns = 0, buckets = 0;
		for (size_t k = h->columns[i].first; k < heat_end(h, i); k++) {
			n += h->entries[k].n;
			ns += h->entries[k].ns;
			buckets += h->entries[k].n * h->entries[k].bucket;
		}
		fprintf(f,
			"heat %" PRIu64 " %u: %" PRIu64 " waits %" PRIu64 " ns buckets %" PRIu64
			"\n",
			heat_begin_ns(&h->columns[i]), h->columns[i].level, n, ns, buckets);
	}
}

static struct line blame_line(const struct model *m, const struct blame_cell *c)
{
	const struct lock *l = &m->locks->locks[c->key.lock];
	const struct lock *root = &m->locks->locks[c->key.root_lock];
	const struct task *t = &m->tasks->tasks[c->key.task];
	struct line line = {.numbers = {l->type, l->addr, m->stacks->stacks[c->key.stack].hash,
					root->type, root->addr, (uint64_t)t->tid,
					m->stacks->stacks[c->key.got].hash, c->key.state,
					c->key.direct, c->ns, c->time_ns, c->cur_ns, c->last_ns}};

	snprintf(line.comm, sizeof(line.comm), "%s", t->comm);
	return line;
}

static void put_blame(FILE *f, const struct model *m)
{
	struct line *lines = calloc(m->blame->n + 1, sizeof(*lines));

	if (!lines)
		abort();
	for (size_t i = 0; i < m->blame->n; i++)
		lines[i] = blame_line(m, &m->blame->cells[i]);
	qsort(lines, m->blame->n, sizeof(*lines), by_bytes);
	for (size_t i = 0; i < m->blame->n; i++)
		put_line(f, &lines[i]);
	fprintf(f, "blamed %" PRIu64 " not followed %" PRIu64 "\n", rig_blamed_ns(m),
		m->blame->not_followed);
	free(lines);
}

uint64_t rig_blamed_ns(const struct model *m)
{
	const struct blame *b = m->blame;
	uint64_t ns = b->lost_ns;

	for (size_t i = 0; i < b->n; i++)
		ns += b->cells[i].key.state == BLAME_PASSED ? 0 : b->cells[i].ns;
	for (uint32_t i = 1; i < b->n_classes; i++)
		ns += b->classes[i].ns + b->classes[i].n * (m->now_ns - b->classes[i].reported_ns);
	return ns;
}

uint64_t rig_waited_ns(const struct model *m)
{
	uint64_t ns = m->holds->waited_ns;

	for (size_t i = 0; i < m->locks->n; i++) {
		const struct lock *l = &m->locks->locks[i];
		ns += l->n_sure * (m->now_ns > l->reported_ns ? m->now_ns - l->reported_ns : 0);
	}
	return ns;
}

char *rig_dump(const struct model *m)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	fputs("type lock tid cpu stack frames n total min max last failed rate hist p99 comm\n", f);
	put_cells(f, m, m->cells);
	put_blame(f, m);
	if (m->cells->recent.max)
		put_windows(f, m);
	put_heat(f, &m->cells->heat);
	fprintf(f,
		"events %" PRIu64 " waiting %u unmatched %" PRIu64 "/%" PRIu64 " lost %" PRIu64
		" doubtful %" PRIu64 "\n",
		m->n_events, m->waits->in_flight, m->damage->unmatched_begin,
		m->damage->unmatched_end, m->damage->lost, m->damage->doubtful);
	fclose(f);
	char *copy = mem_strdup(text);
	free(text);
	return copy;
}
