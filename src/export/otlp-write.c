// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile in the format of OTLP: tables that all samples share. Their first entries mean "none",
 * so the numbers of the gathered words are the indices here. A profile has values of one kind;
 * waits become two profiles with the same stacks, and time comes first, since viewers show the
 * first one. Labels are attributes; those that OpenTelemetry defines have its names.
 */
#include "kontend/protobuf.h"
#include "otlp.pb-c.h"
#include "pprof-int.h"

#include <errno.h>
#include <string.h>

typedef Otlp__Request request;
typedef Otlp__Dictionary dictionary;
typedef Otlp__ResourceProfiles resource_profiles;
typedef Otlp__Resource resource;
typedef Otlp__KeyValue key_value;
typedef Otlp__AnyValue any_value;
typedef Otlp__ScopeProfiles scope_profiles;
typedef Otlp__Scope scope;
typedef Otlp__Profile profile;
typedef Otlp__ValueType value_type;
typedef Otlp__Sample sample;
typedef Otlp__Mapping mapping;
typedef Otlp__Location location;
typedef Otlp__Line line;
typedef Otlp__Function function;
typedef Otlp__Attribute attribute;
typedef Otlp__Stack stack;
typedef Otlp__Link span_link;

enum { PROFILES = 2, FACTS = 3, RESOURCE = 8 };

static const char *const keys[PPROF_LABELS] = {
	[PPROF_TYPE] = "kontend.lock.type", [PPROF_MODE] = "kontend.lock.mode",
	[PPROF_LOCK] = "kontend.lock.name", [PPROF_MEMCG] = "kontend.memcg",
	[PPROF_CGROUP] = "kontend.cgroup",  [PPROF_HOLDER] = "kontend.lock.holder",
	[PPROF_COMM] = "thread.name",	    [PPROF_PID] = "process.pid",
};
static const char build_id[] = "process.executable.build_id.gnu";

struct writing {
	struct pprof *p;
	struct protobuf made;
	struct wordset attributes; /* (key, value, is it a number?); texts are by index */
	struct wordset stacks;	   /* locations */
	request all;
	dictionary shared;
};

static int32_t text(struct writing *w, const char *t)
{
	uint32_t at = pprof_text(w->p, t);

	w->made.failed |= at == UINT32_MAX;
	return (int32_t)at;
}

/* The index of the attribute; a key and value have only one. */
static int32_t attribute_of(struct writing *w, const char *key, uint64_t value, bool is_number)
{
	const uint64_t words[3] = {(uint64_t)text(w, key), value, is_number};
	uint32_t number = wordset_get(&w->attributes, words, 3);

	w->made.failed |= !number;
	return (int32_t)number;
}

/* Texts are bytes in the message. They are valid as long as the profile. */
static ProtobufCBinaryData bytes(const char *t)
{
	return (ProtobufCBinaryData){.len = strlen(t), .data = (uint8_t *)(uintptr_t)t};
}

static void put_functions(struct writing *w)
{
	const struct wordset *s = &w->p->functions;
	function *f = PROTOBUF_MESSAGES(&w->made, s->n + 1, function, OTLP__FUNCTION__INIT,
					&w->shared.function_table);

	for (size_t i = 1; f && i <= s->n; i++) {
		const uint64_t *words = wordset_words(s, i);
		f[i].name_strindex = f[i].system_name_strindex = (int32_t)words[0];
		f[i].filename_strindex = (int32_t)words[1];
	}
	w->shared.n_function_table = s->n + 1;
}

static void put_mappings(struct writing *w)
{
	const struct wordset *s = &w->p->mappings;
	mapping *m = PROTOBUF_MESSAGES(&w->made, s->n + 1, mapping, OTLP__MAPPING__INIT,
				       &w->shared.mapping_table);

	for (size_t i = 1; m && i <= s->n; i++) {
		const uint64_t *words = wordset_words(s, i);
		m[i].filename_strindex = (int32_t)words[0];
		m[i].memory_limit = PPROF_MAPPING_LIMIT;
		m[i].attribute_indices = protobuf_room(&w->made, 1, sizeof(int32_t));
		if (!words[1] || !m[i].attribute_indices)
			continue;
		m[i].attribute_indices[0] = attribute_of(w, build_id, words[1], false);
		m[i].n_attribute_indices = 1;
	}
	w->shared.n_mapping_table = s->n + 1;
}

static void put_lines(struct writing *w, location *l, const uint64_t *words, size_t n)
{
	line *lines = PROTOBUF_MESSAGES(&w->made, n, line, OTLP__LINE__INIT, &l->lines);

	for (size_t i = 0; lines && i < n; i++) {
		lines[i].function_index = (int32_t)words[2 * i];
		lines[i].line = (int64_t)words[2 * i + 1];
	}
	l->n_lines = lines ? n : 0;
}

static void put_locations(struct writing *w)
{
	const struct wordset *s = &w->p->locations;
	location *l = PROTOBUF_MESSAGES(&w->made, s->n + 1, location, OTLP__LOCATION__INIT,
					&w->shared.location_table);

	for (size_t i = 1; l && i <= s->n; i++) {
		const uint64_t *words = wordset_words(s, i);
		l[i].mapping_index = (int32_t)words[0];
		l[i].address = words[1];
		put_lines(w, &l[i], words + 2, (s->runs[i - 1].n - 2) / 2);
	}
	w->shared.n_location_table = s->n + 1;
}

static void put_stacks(struct writing *w)
{
	const struct wordset *s = &w->stacks;
	stack *all = PROTOBUF_MESSAGES(&w->made, s->n + 1, stack, OTLP__STACK__INIT,
				       &w->shared.stack_table);

	for (size_t i = 1; all && i <= s->n; i++) {
		size_t n = s->runs[i - 1].n;
		int32_t *to = protobuf_room(&w->made, n, sizeof(*to));
		for (size_t j = 0; to && j < n; j++)
			to[j] = (int32_t)wordset_words(s, i)[j];
		all[i].location_indices = to;
		all[i].n_location_indices = to ? n : 0;
	}
	w->shared.n_stack_table = s->n + 1;
}

static void put_value(struct writing *w, any_value *v, uint64_t value, bool is_number)
{
	if (is_number) {
		v->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
		v->int_value = (int64_t)value;
	} else {
		v->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		v->string_value = (char *)(uintptr_t)w->p->texts.list[value];
	}
}

static void put_attributes(struct writing *w)
{
	const struct wordset *s = &w->attributes;
	attribute *a = PROTOBUF_MESSAGES(&w->made, s->n + 1, attribute, OTLP__ATTRIBUTE__INIT,
					 &w->shared.attribute_table);
	any_value **list, *values = PROTOBUF_MESSAGES(&w->made, s->n, any_value,
						      OTLP__ANY_VALUE__INIT, &list);

	for (size_t i = 1; a && values && i <= s->n; i++) {
		const uint64_t *words = wordset_words(s, i);
		a[i].key_strindex = (int32_t)words[0];
		a[i].value = &values[i - 1];
		put_value(w, a[i].value, words[1], words[2]);
	}
	w->shared.n_attribute_table = s->n + 1;
}

/* The labels that are known, as attributes. */
static size_t label_sample(struct writing *w, const uint64_t *words, int32_t *to)
{
	size_t n = 0;

	for (size_t i = 0; i < PPROF_LABELS; i++)
		if (words[i])
			to[n++] = attribute_of(w, keys[i], words[i], i == PPROF_PID);
	return n;
}

/* One sample in each of @n profiles, with the same stack and attributes. */
static void put_sample(struct writing *w, size_t number, sample *const of[PROFILES], size_t n)
{
	const struct wordset *all = &w->p->samples;
	const uint64_t *words = wordset_words(all, number);
	const struct pprof_value *v = &w->p->values[number - 1];
	uint32_t stacked = wordset_get(&w->stacks, words + PPROF_LABELS,
				       all->runs[number - 1].n - PPROF_LABELS);
	int32_t *labels = protobuf_room(&w->made, PPROF_LABELS, sizeof(*labels));
	int64_t *values = protobuf_room(&w->made, PROFILES, sizeof(*values));

	w->made.failed |= !stacked;
	if (w->made.failed)
		return;
	size_t n_labels = label_sample(w, words, labels);
	values[0] = (int64_t)(n == 1 ? v->n : v->ns);
	values[1] = (int64_t)v->n;
	for (size_t i = 0; i < n; i++) {
		of[i]->stack_index = (int32_t)stacked;
		of[i]->attribute_indices = labels;
		of[i]->n_attribute_indices = n_labels;
		of[i]->values = &values[i];
		of[i]->n_values = 1;
	}
}

static void put_samples(struct writing *w, profile *const *profiles, size_t n)
{
	size_t n_samples = w->p->samples.n;
	sample *made[PROFILES] = {NULL};

	for (size_t i = 0; i < n; i++) {
		made[i] = PROTOBUF_MESSAGES(&w->made, n_samples, sample, OTLP__SAMPLE__INIT,
					    &profiles[i]->samples);
		profiles[i]->n_samples = n_samples;
	}
	for (size_t s = 0; !w->made.failed && s < n_samples; s++) {
		sample *const of[PROFILES] = {&made[0][s], n > 1 ? &made[1][s] : NULL};
		put_sample(w, s + 1, of, n);
	}
}

static value_type *type_of(struct writing *w, const char *what, const char *unit)
{
	value_type **list,
		*t = PROTOBUF_MESSAGES(&w->made, 1, value_type, OTLP__VALUE_TYPE__INIT, &list);

	if (t) {
		t->type_strindex = text(w, what);
		t->unit_strindex = text(w, unit);
	}
	return t;
}

/* Losses and other gaps, if there are any. */
static void put_facts(struct writing *w, profile *const *profiles, size_t n)
{
	const struct pprof *p = w->p;
	const struct {
		const char *key;
		uint64_t n;
	} facts[FACTS] = {{"kontend.lost_records", p->loss.lost},
			  {"kontend.doubtful_waits", p->loss.doubtful},
			  {"kontend.only_counted_waits", p->only_counted}};
	int32_t *to = protobuf_room(&w->made, FACTS, sizeof(*to));
	size_t found = 0;

	for (size_t i = 0; to && i < FACTS; i++)
		if (facts[i].n)
			to[found++] = attribute_of(w, facts[i].key, facts[i].n, true);
	for (size_t i = 0; to && i < n; i++) {
		profiles[i]->attribute_indices = to;
		profiles[i]->n_attribute_indices = found;
	}
}

/* For waits, every one is counted; for samples, the period is given. */
static void put_profile(struct writing *w, profile *one, bool is_time)
{
	bool waits = w->p->spec.what != SAMPLES_CPU;
	const char *what = is_time ? (waits ? "delay" : "cpu") : waits ? "contentions" : "samples";

	one->sample_type = type_of(w, what, is_time ? "nanoseconds" : "count");
	one->period_type = waits ? type_of(w, "contentions", "count") : one->sample_type;
	one->period = waits || !is_time ? 1 : (int64_t)w->p->period_ns;
	one->time_unix_nano = w->p->start_wall_ns;
	one->duration_nano = w->p->measured_ns;
}

static void put_profiles(struct writing *w, scope_profiles *to)
{
	size_t n = pprof_count_values(w->p);
	profile *made = PROTOBUF_MESSAGES(&w->made, n, profile, OTLP__PROFILE__INIT, &to->profiles);

	to->n_profiles = n;
	if (w->made.failed)
		return;
	for (size_t i = 0; i < n; i++)
		put_profile(w, &made[i], n > 1 && i == 0);
	put_samples(w, to->profiles, n);
	put_facts(w, to->profiles, n);
}

/* The process and machine of the profile; unknown facts are left out. */
static void put_resource(struct writing *w, resource *r)
{
	const struct pprof *p = w->p;
	const char *const said[RESOURCE][2] = {
		{"service.name", "kontend"},	   {"os.type", "linux"},
		{"os.version", p->release},	   {"host.name", p->machine.host},
		{"host.id", p->machine.id},	   {"host.arch", p->arch},
		{"kontend.boot", p->machine.boot}, {"kontend.recorded_by", p->machine.kontend},
	};
	key_value *a = PROTOBUF_MESSAGES(&w->made, RESOURCE, key_value, OTLP__KEY_VALUE__INIT,
					 &r->attributes);
	any_value **list, *values = PROTOBUF_MESSAGES(&w->made, RESOURCE, any_value,
						      OTLP__ANY_VALUE__INIT, &list);

	for (size_t i = 0; a && values && i < RESOURCE; i++) {
		int32_t at = text(w, said[i][1]);
		if (!at || w->made.failed)
			continue;
		a[r->n_attributes].key = bytes(said[i][0]);
		a[r->n_attributes].value = &values[i];
		put_value(w, &values[i], (uint64_t)at, false);
		r->n_attributes++;
	}
}

static void put_scope(struct writing *w, resource_profiles *to)
{
	scope_profiles *s = PROTOBUF_MESSAGES(&w->made, 1, scope_profiles,
					      OTLP__SCOPE_PROFILES__INIT, &to->scope_profiles);
	scope **list, *by = PROTOBUF_MESSAGES(&w->made, 1, scope, OTLP__SCOPE__INIT, &list);

	if (w->made.failed)
		return;
	by->name = bytes("kontend");
	by->version = bytes(w->p->spec.version ? w->p->spec.version : "");
	s->scope = by;
	to->n_scope_profiles = 1;
	put_profiles(w, s);
}

/* Called last, when all attributes, stacks and texts have an index. */
static void put_tables(struct writing *w)
{
	dictionary *d = &w->shared;

	put_functions(w);
	put_mappings(w);
	put_locations(w);
	put_stacks(w);
	put_attributes(w);
	(void)PROTOBUF_MESSAGES(&w->made, 1, span_link, OTLP__LINK__INIT, &d->link_table);
	d->n_link_table = 1;
	d->string_table = protobuf_room(&w->made, w->p->texts.n, sizeof(char *));
	if (w->made.failed)
		return;
	memcpy(d->string_table, w->p->texts.list, w->p->texts.n * sizeof(char *));
	d->n_string_table = w->p->texts.n;
}

static void put_all(struct writing *w)
{
	resource_profiles *r =
		PROTOBUF_MESSAGES(&w->made, 1, resource_profiles, OTLP__RESOURCE_PROFILES__INIT,
				  &w->all.resource_profiles);
	resource **list,
		*of = PROTOBUF_MESSAGES(&w->made, 1, resource, OTLP__RESOURCE__INIT, &list);

	if (w->made.failed)
		return;
	w->all.n_resource_profiles = 1;
	w->all.dictionary = &w->shared;
	r->resource = of;
	put_resource(w, of);
	put_scope(w, r);
	put_tables(w);
}

int pprof_write_otlp(struct pprof *p, FILE *out, bool packed, struct error *err)
{
	struct writing w = {.p = p, .all = OTLP__REQUEST__INIT, .shared = OTLP__DICTIONARY__INIT};

	put_all(&w);
	int r = w.made.failed ? -ENOMEM : protobuf_write(&w.all.base, packed, out);
	arena_deinit(&w.made.arena);
	wordset_deinit(&w.attributes);
	wordset_deinit(&w.stacks);
	return r < 0 ? error_errno(err, r, "Cannot write all of the profile") : 0;
}

int pprof_otlp_left_out(const void *answer, size_t n, int64_t *ret, char *why, size_t size)
{
	Otlp__Answer *a = otlp__answer__unpack(NULL, n, answer);
	const Otlp__LeftOut *l = a ? a->partial_success : NULL;

	*ret = l ? l->rejected_profiles : 0;
	snprintf(why, size, "%.*s", l ? (int)l->error_message.len : 0,
		 l && l->error_message.data ? (const char *)l->error_message.data : "");
	otlp__answer__free_unpacked(a, NULL);
	return a ? 0 : -EBADMSG;
}
