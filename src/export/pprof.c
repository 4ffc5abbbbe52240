// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contents of a profile, gathered from the model. Each part gets a number that never changes,
 * so data that is added later reuses the parts that exist: a profile of ten seconds has each call
 * chain once, even if the model was cleared nine times meanwhile.
 */
#include "kontend/pprof.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/shorts.h"
#include "kontend/text.h"
#include "kontend/when.h"
#include "pprof-int.h"

#include <errno.h>
#include <string.h>

enum { TEXT = 1024, PLACES = 256, PLACE_LINES = 32 };

const char *const pprof_label_keys[PPROF_LABELS] = {
	[PPROF_TYPE] = "type",	 [PPROF_MODE] = "mode",	    [PPROF_LOCK] = "lock",
	[PPROF_MEMCG] = "memcg", [PPROF_CGROUP] = "cgroup", [PPROF_HOLDER] = "holder",
	[PPROF_COMM] = "comm",	 [PPROF_PID] = "pid",
};

static const char other[] = "other";

uint32_t pprof_text(struct pprof *p, const char *text)
{
	char clean[TEXT];

	return stringtable_get(&p->texts, text_clean(clean, sizeof(clean), text));
}

/* Sets a word to a text's index; NULL is "". False: no memory. */
static bool put_text(struct pprof *p, const char *text, uint64_t *ret)
{
	uint32_t at = pprof_text(p, text ? text : "");

	*ret = at;
	return at != UINT32_MAX;
}

/* 0: no memory. */
static uint32_t function_of(struct pprof *p, const struct query_line *l)
{
	uint64_t words[2];

	if (!put_text(p, l->function, &words[0]) || !put_text(p, l->file, &words[1]))
		return 0;
	return wordset_get(&p->functions, words, 2);
}

static uint32_t mapping_of(struct pprof *p, const struct query_code *c)
{
	char id[2 * sizeof(c->build_id) + 1] = "";
	uint64_t words[2];

	for (size_t i = 0; i < c->build_id_len && i < sizeof(c->build_id); i++)
		snprintf(id + 2 * i, 3, "%02x", c->build_id[i]);
	if (!put_text(p, c->name, &words[0]) || !put_text(p, id, &words[1]))
		return 0;
	return wordset_get(&p->mappings, words, 2);
}

static bool note_lines(struct pprof *p, uint32_t mapping, const struct query_place *at)
{
	bool lined = at->n_lines && at->lines[0].line;

	return !lined || map64_put(&p->lined, mapping, 1) == 0;
}

/* A location without a place: for samples that have no room of their own or no call chain. */
static uint32_t location_named(struct pprof *p, const char *name)
{
	const struct query_line line = {.function = name};
	uint64_t words[4] = {0, 0, function_of(p, &line), 0};

	return words[2] ? wordset_get(&p->locations, words, 4) : 0;
}

static uint32_t add_location(struct pprof *p, const struct query_place *at)
{
	uint64_t words[2 + 2 * PLACE_LINES] = {0};
	size_t n = 0;

	if (at->code) {
		words[0] = mapping_of(p, at->code);
		if (!words[0] || !note_lines(p, (uint32_t)words[0], at))
			return 0;
	}
	words[1] = at->offset;
	for (n = 0; n < at->n_lines && n < PLACE_LINES; n++) {
		words[2 + 2 * n] = function_of(p, &at->lines[n]);
		words[3 + 2 * n] = at->lines[n].line;
		if (!words[2 + 2 * n])
			return 0;
	}
	return wordset_get(&p->locations, words, 2 + 2 * n);
}

/* 0: no memory. */
static uint32_t location_of(struct pprof *p, const struct query_place *at)
{
	const uint32_t *known = map64_get(&p->met, (uintptr_t)at);

	if (known)
		return *known;
	size_t most = p->spec.live ? PPROF_LIVE_PLACES : PPROF_PLACES;
	uint32_t number = p->locations.n < most ? add_location(p, at) : location_named(p, other);
	return number && map64_put(&p->met, (uintptr_t)at, number) == 0 ? number : 0;
}

/* The value, or @instead if this label has PPROF_VALUES other values already. False: no memory. */
static bool bounded(struct pprof *p, enum pprof_label label, uint64_t value, uint64_t instead,
		    uint64_t *ret)
{
	struct map64 *seen = &p->label_values[label];

	*ret = value;
	if (!value || map64_get(seen, value))
		return true;
	if (seen->count < PPROF_VALUES)
		return map64_put(seen, value, 1) == 0;
	*ret = instead;
	return true;
}

/* A text of the rows repeats often and always at the same address: look up by address. */
static bool put_known_text(struct pprof *p, const char *text, uint64_t *ret)
{
	const uint32_t *known = text ? map64_get(&p->said, (uintptr_t)text) : NULL;

	*ret = known ? *known : 0;
	if (known || !text)
		return true;
	return put_text(p, text, ret) && map64_put(&p->said, (uintptr_t)text, (uint32_t)*ret) == 0;
}

static bool put_labels(struct pprof *p, const struct query_sample *s, uint64_t words[PPROF_LABELS])
{
	const bool is_wait = s->type != LOCK_TYPES;
	const char *const texts[PPROF_PID] = {
		[PPROF_TYPE] = is_wait ? locktype_base(s->type) : NULL,
		[PPROF_MODE] = is_wait ? locktype_mode(s->type) : NULL,
		[PPROF_LOCK] = s->lock,
		[PPROF_MEMCG] = s->memcg,
		[PPROF_CGROUP] = s->cgroup,
		[PPROF_HOLDER] = s->holder,
		[PPROF_COMM] = s->comm,
	};
	uint64_t instead, pid = s->pid > 0 ? (uint64_t)s->pid : 0;

	if (!put_known_text(p, other, &instead))
		return false;
	for (unsigned i = 0; i < PPROF_PID; i++)
		if (!put_known_text(p, texts[i], &words[i]) ||
		    !bounded(p, (enum pprof_label)i, words[i], instead, &words[i]))
			return false;
	return bounded(p, PPROF_PID, pid, 0, &words[PPROF_PID]);
}

/* For samples beyond the limit: a sum by type and mode. */
static uint32_t other_sample(struct pprof *p, const uint64_t *labels)
{
	uint64_t words[PPROF_LABELS + 1] = {
		[PPROF_TYPE] = labels[PPROF_TYPE], [PPROF_MODE] = labels[PPROF_MODE]};

	words[PPROF_LABELS] = location_named(p, other);
	return words[PPROF_LABELS] ? wordset_get(&p->samples, words, PPROF_LABELS + 1) : 0;
}

static uint32_t sample_of(struct pprof *p, const struct query_sample *s)
{
	uint64_t words[PPROF_LABELS + PLACES];
	size_t n = PPROF_LABELS, most = p->spec.live ? PPROF_LIVE_SAMPLES : PPROF_SAMPLES;

	if (!put_labels(p, s, words))
		return 0;
	for (uint32_t i = 0; i < s->n_places && i < PLACES; i++) {
		words[n] = location_of(p, s->places[i]);
		if (!words[n++])
			return 0;
	}
	if (!s->n_places)
		words[n++] = location_named(p, "[no call chain]");
	if (!words[n - 1])
		return 0;
	uint32_t known = wordset_find(&p->samples, words, n);
	if (known || p->samples.n < most)
		return known ? known : wordset_get(&p->samples, words, n);
	return other_sample(p, words);
}

static int add_row(struct pprof *p, const struct query_sample *s)
{
	size_t before = p->samples.n;
	uint32_t number = sample_of(p, s);

	if (!number)
		return -ENOMEM;
	if (p->samples.n > before) {
		if (mem_grow(&p->values, &p->cap_values, before, sizeof(*p->values)) < 0) {
			p->samples.n = before; /* a sample must have a value */
			return -ENOMEM;
		}
		p->values[before] = (struct pprof_value){0};
	}
	p->values[number - 1].n += s->n;
	p->values[number - 1].ns += s->ns;
	return 0;
}

/* Start, duration, kernel, and what is missing. */
static void add_time(struct pprof *p, const struct query *q)
{
	const struct model *m = q->model;
	const struct when w = {.clock_ns = m->host->clock_ns, .wall_ns = m->host->wall_ns};
	const struct loss loss = loss_of_sums(m);
	uint64_t from_ns = m->zero_ns > m->start_ns ? m->zero_ns : m->start_ns;

	if (!p->start_wall_ns)
		p->start_wall_ns = when_wall_ns(&w, from_ns);
	p->measured_ns += m->now_ns > from_ns ? m->now_ns - from_ns : 0;
	p->loss.lost += loss.lost;
	p->loss.doubtful += loss.doubtful;
	p->loss.uncounted += loss.uncounted;
	for (size_t i = 0; i < LOCK_TYPES; i++)
		p->only_counted += m->shorts->types[i].counted;
	text_clean(p->release, sizeof(p->release), m->host->release);
	text_clean(p->arch, sizeof(p->arch), m->host->machine);
	p->machine = query_machine(q);
}

static const uint64_t NAMES_NS = 30000000000;

static int add_stacks(struct pprof *p, struct query *q)
{
	const struct query_samples_spec spec = {.what = p->spec.what,
						.zoom = p->spec.zoom,
						.names_ns = p->spec.live ? 0 : NAMES_NS};
	struct query_samples samples;
	int r = query_samples(q, &spec, &samples);

	map64_clear(&p->met);
	map64_clear(&p->said);
	for (size_t i = 0; r == 0 && i < samples.n; i++)
		r = add_row(p, &samples.rows[i]);
	if (r < 0)
		return r;
	p->period_ns = samples.period_ns;
	add_time(p, q);
	return 0;
}

int pprof_add(struct pprof *p, struct query *q, struct error *err)
{
	if (add_stacks(p, q) == 0)
		return 0;
	return error_enomem(err, "the sums of the profile");
}

int pprof_new(struct pprof **ret, const struct pprof_spec *s, struct error *err)
{
	struct pprof *p = mem_calloc(1, sizeof(*p));

	if (p)
		p->spec = *s;
	/* The format requires "" as the first text. */
	if (!p || pprof_text(p, "") == UINT32_MAX) {
		pprof_free(p);
		return error_enomem(err, "a profile");
	}
	*ret = p;
	return 0;
}

void pprof_free(struct pprof *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < PPROF_LABELS; i++)
		map64_deinit(&p->label_values[i]);
	map64_deinit(&p->lined);
	map64_deinit(&p->met);
	map64_deinit(&p->said);
	wordset_deinit(&p->mappings);
	wordset_deinit(&p->functions);
	wordset_deinit(&p->locations);
	wordset_deinit(&p->samples);
	stringtable_deinit(&p->texts);
	mem_free(p->values);
	mem_free(p);
}
