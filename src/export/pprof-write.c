// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile as messages of libprotobuf-c, in one arena, and from there into the compressor. The
 * mappings of the kernel and of programs begin at 0, so places in them are offsets.
 */
#include "kontend/protobuf.h"
#include "pprof-int.h"
#include "profile.pb-c.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef Perftools__Profiles__Profile profile;
typedef Perftools__Profiles__ValueType value_type;
typedef Perftools__Profiles__Sample sample;
typedef Perftools__Profiles__Label label;
typedef Perftools__Profiles__Mapping mapping;
typedef Perftools__Profiles__Location location;
typedef Perftools__Profiles__Line line;
typedef Perftools__Profiles__Function function;

enum { COMMENTS = 4, COMMENT = 200 };

struct writing {
	struct pprof *p;
	struct protobuf made;
	profile all;
};

static int64_t text(struct writing *w, const char *t)
{
	uint32_t at = pprof_text(w->p, t);

	w->made.failed |= at == UINT32_MAX;
	return at;
}

static void put_functions(struct writing *w)
{
	const struct wordset *s = &w->p->functions;
	function *f = PROTOBUF_MESSAGES(&w->made, s->n, function,
					PERFTOOLS__PROFILES__FUNCTION__INIT, &w->all.function);

	for (size_t i = 0; f && i < s->n; i++) {
		const uint64_t *words = wordset_words(s, i + 1);
		f[i].id = i + 1;
		f[i].name = f[i].system_name = (int64_t)words[0];
		f[i].filename = (int64_t)words[1];
	}
	w->all.n_function = s->n;
}

static void put_mappings(struct writing *w)
{
	const struct wordset *s = &w->p->mappings;
	mapping *m = PROTOBUF_MESSAGES(&w->made, s->n, mapping, PERFTOOLS__PROFILES__MAPPING__INIT,
				       &w->all.mapping);

	for (size_t i = 0; m && i < s->n; i++) {
		const uint64_t *words = wordset_words(s, i + 1);
		m[i].id = i + 1;
		m[i].memory_limit = PPROF_MAPPING_LIMIT;
		m[i].filename = (int64_t)words[0];
		m[i].build_id = (int64_t)words[1];
		m[i].has_functions = true; /* otherwise pprof would ask the server for them and
					    * fail */
		m[i].has_filenames = m[i].has_line_numbers = m[i].has_inline_frames =
			map64_get(&w->p->lined, i + 1) != NULL;
	}
	w->all.n_mapping = s->n;
}

static void put_lines(struct writing *w, location *l, const uint64_t *words, size_t n)
{
	line *lines =
		PROTOBUF_MESSAGES(&w->made, n, line, PERFTOOLS__PROFILES__LINE__INIT, &l->line);

	for (size_t i = 0; lines && i < n; i++) {
		lines[i].function_id = words[2 * i];
		lines[i].line = (int64_t)words[2 * i + 1];
	}
	l->n_line = lines ? n : 0;
}

static void put_locations(struct writing *w)
{
	const struct wordset *s = &w->p->locations;
	location *l = PROTOBUF_MESSAGES(&w->made, s->n, location,
					PERFTOOLS__PROFILES__LOCATION__INIT, &w->all.location);

	for (size_t i = 0; l && i < s->n; i++) {
		const uint64_t *words = wordset_words(s, i + 1);
		l[i].id = i + 1;
		l[i].mapping_id = words[0];
		l[i].address = words[1];
		put_lines(w, &l[i], words + 2, (s->runs[i].n - 2) / 2);
	}
	w->all.n_location = s->n;
}

/* A sample has the labels that are known. */
static void put_labels(struct writing *w, sample *s, const uint64_t *words,
		       const int64_t keys[PPROF_LABELS])
{
	label *l = PROTOBUF_MESSAGES(&w->made, PPROF_LABELS, label,
				     PERFTOOLS__PROFILES__LABEL__INIT, &s->label);
	size_t n = 0;

	for (size_t i = 0; l && i < PPROF_LABELS; i++) {
		if (!words[i])
			continue;
		l[n].key = keys[i];
		if (i == PPROF_PID)
			l[n].num = (int64_t)words[i];
		else
			l[n].str = (int64_t)words[i];
		n++;
	}
	s->n_label = n;
}

static void put_sample(struct writing *w, sample *s, size_t number, const int64_t *keys)
{
	const struct wordset *all = &w->p->samples;
	const uint64_t *words = wordset_words(all, number);

	s->n_location_id = all->runs[number - 1].n - PPROF_LABELS;
	s->location_id = protobuf_room(&w->made, s->n_location_id, sizeof(*s->location_id));
	s->value = protobuf_room(&w->made, 2, sizeof(*s->value));
	if (w->made.failed)
		return;
	memcpy(s->location_id, words + PPROF_LABELS, s->n_location_id * sizeof(*s->location_id));
	s->value[0] = (int64_t)w->p->values[number - 1].n;
	s->value[1] = (int64_t)w->p->values[number - 1].ns;
	s->n_value = pprof_count_values(w->p);
	put_labels(w, s, words, keys);
}

static void put_samples(struct writing *w)
{
	size_t n = w->p->samples.n;
	sample *s = PROTOBUF_MESSAGES(&w->made, n, sample, PERFTOOLS__PROFILES__SAMPLE__INIT,
				      &w->all.sample);
	int64_t keys[PPROF_LABELS];

	for (size_t i = 0; i < PPROF_LABELS; i++)
		keys[i] = text(w, pprof_label_keys[i]);
	for (size_t i = 0; !w->made.failed && i < n; i++)
		put_sample(w, &s[i], i + 1, keys);
	w->all.n_sample = n;
}

/* The types of values; viewers show time unless the user chooses another one. */
static void put_types(struct writing *w)
{
	bool waits = w->p->spec.what != SAMPLES_CPU;
	size_t n = pprof_count_values(w->p);
	const char *const names[2] = {waits ? "contentions" : "samples", waits ? "delay" : "cpu"};
	value_type *t =
		PROTOBUF_MESSAGES(&w->made, n, value_type, PERFTOOLS__PROFILES__VALUE_TYPE__INIT,
				  &w->all.sample_type);
	value_type *period = protobuf_room(&w->made, 1, sizeof(*period));

	if (w->made.failed)
		return;
	for (size_t i = 0; i < n; i++) {
		t[i].type = text(w, names[i]);
		t[i].unit = text(w, i ? "nanoseconds" : "count");
	}
	*period = t[waits ? 0 : n - 1];
	w->all.n_sample_type = n;
	w->all.period_type = period;
	w->all.period = waits || n == 1 ? 1 : (int64_t)w->p->period_ns;
	w->all.default_sample_type = text(w, names[n - 1]);
}

static void put_comment(struct writing *w, const char *t)
{
	w->all.comment[w->all.n_comment++] = text(w, t);
}

/* The program that measured, and what is missing. */
static void put_comments(struct writing *w)
{
	const struct pprof *p = w->p;
	char buf[COMMENT];

	w->all.comment = protobuf_room(&w->made, COMMENTS, sizeof(*w->all.comment));
	if (w->made.failed)
		return;
	snprintf(buf, sizeof(buf), "kontend %s", p->spec.version ? p->spec.version : "");
	put_comment(w, buf);
	snprintf(buf, sizeof(buf), "kernel %s", p->release);
	put_comment(w, buf);
	if (loss_any(&p->loss)) {
		snprintf(buf, sizeof(buf),
			 "some is missing: %" PRIu64 " records were lost, %" PRIu64
			 " waits are left out as they are doubtful",
			 p->loss.lost, p->loss.doubtful);
		put_comment(w, buf);
	}
	if (p->only_counted) {
		snprintf(buf, sizeof(buf),
			 "%" PRIu64 " short waits were only counted, and are left out",
			 p->only_counted);
		put_comment(w, buf);
	}
}

static void put_all(struct writing *w)
{
	w->all = (profile)PERFTOOLS__PROFILES__PROFILE__INIT;
	w->all.time_nanos = (int64_t)w->p->start_wall_ns;
	w->all.duration_nanos = (int64_t)w->p->measured_ns;
	put_types(w);
	put_comments(w);
	put_samples(w);
	put_mappings(w);
	put_locations(w);
	put_functions(w);
	/* Called last, when all texts have an index. The library does not change them. */
	w->all.string_table = protobuf_room(&w->made, w->p->texts.n, sizeof(char *));
	if (w->made.failed)
		return;
	memcpy(w->all.string_table, w->p->texts.list, w->p->texts.n * sizeof(char *));
	w->all.n_string_table = w->p->texts.n;
}

int pprof_write(struct pprof *p, FILE *out, struct error *err)
{
	struct writing w = {.p = p};

	put_all(&w);
	int r = w.made.failed ? -ENOMEM : protobuf_write(&w.all.base, true, out);
	arena_deinit(&w.made.arena);
	return r < 0 ? error_errno(err, r, "Cannot write all of the profile") : 0;
}
