// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feature sections of perf.data: the few that name the machine and the time of the recording. A
 * string is a u32 length (padded), then NUL-terminated text; all of it is untrusted and copied out.
 * Sections that make no sense are left out: a recording without host facts is still a recording.
 */
#include "kontend/cursor.h"
#include "kontend/perfdata.h"
#include "reader.h"
#include <linux/perf_event.h>
#include <stdio.h>

enum { EVENT_NAME = 200 };

bool features_wants(uint32_t bit)
{
	switch (bit) {
	case PERFDATA_TRACING_DATA:
	case PERFDATA_BUILD_ID:
	case PERFDATA_HOSTNAME:
	case PERFDATA_CPUDESC:
	case PERFDATA_OSRELEASE:
	case PERFDATA_ARCH:
	case PERFDATA_NRCPUS:
	case PERFDATA_CMDLINE:
	case PERFDATA_EVENT_DESC:
	case PERFDATA_PMU_MAPPINGS:
	case PERFDATA_SAMPLE_TIME:
	case PERFDATA_CLOCK_DATA:
	case PERFDATA_META_INFO:
		return true;
	default:
		return false;
	}
}

static void take_string(struct cursor *c, char *ret, size_t size)
{
	uint32_t len = cursor_u32(c);
	const char *text = cursor_bytes(c, len);

	if (text)
		snprintf(ret, size, "%.*s", (int)strnlen(text, len), text);
}

/* {u32 count, strings}, joined as "perf record -a" */
static void take_cmdline(struct cursor *c, char *ret, size_t size)
{
	uint32_t n = cursor_u32(c);
	size_t at = 0;

	for (uint32_t i = 0; i < n && !c->bad && at + 2 < size; i++) {
		char word[64] = "";
		take_string(c, word, sizeof(word));
		const char *base = i ? NULL : strrchr(word, '/');
		at += (size_t)snprintf(ret + at, size - at, "%s%s", i ? " " : "",
				       base ? base + 1 : word);
	}
}

void features_build_id(struct features *f, const void *data, size_t len)
{
	enum { ID = 24, NAME = 8 + 4 + ID };
	const uint8_t *p = data;
	static const char kernel[] = "[kernel.kallsyms]";

	if (len < NAME + sizeof(kernel) || memcmp(p + NAME, kernel, sizeof(kernel) - 1))
		return;
	/* Writers before 5.12 leave 0 in the byte for the size, which is then 20. */
	uint8_t n = p[12 + 20] ? p[12 + 20] : 20;
	if (n > sizeof(f->build_id))
		return;
	memcpy(f->build_id, p + 12, n);
	f->build_id_len = n;
}

static void take_build_ids(struct features *f, struct cursor *c)
{
	while (cursor_left(c) >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;
		memcpy(&h, c->pos, sizeof(h));
		const void *entry = cursor_bytes(c, h.size);
		if (h.size < sizeof(h) || !entry)
			return;
		features_build_id(f, entry, h.size);
	}
}

static void take_clock_data(struct features *f, struct cursor *c)
{
	cursor_u32(c); /* version */
	cursor_u32(c); /* clock id */
	uint64_t wall = cursor_u64(c), clock = cursor_u64(c);

	if (c->bad)
		return;
	f->clock_wall_ns = wall;
	f->clock_ns = clock;
}

/* {u32 events, u32 size of an attribute, then of each: attribute, u32 ids, name, ids} */
static void take_event_desc(struct features *f, struct cursor *c)
{
	uint32_t n = cursor_u32(c), attr_size = cursor_u32(c);
	struct eventsnap *s = &f->events;

	s->n_events = 0;
	for (uint32_t i = 0; i < n && i < SECTIONS_ITEMS_MAX && !c->bad; i++) {
		struct eventsnap_event e = {.index = i};
		char name[EVENT_NAME] = "";
		cursor_bytes(c, attr_size);
		uint32_t n_ids = cursor_u32(c);
		take_string(c, name, sizeof(name));
		if (n_ids)
			e.id = cursor_u64(c);
		if (n_ids > 1)
			cursor_bytes(c, ((size_t)n_ids - 1) * sizeof(e.id));
		e.name = eventsnap_add_text(s, name);
		if (!c->bad && eventsnap_add_event(s, &e) < 0)
			return;
	}
}

/* {u32 PMUs, then of each: u32 type, name} */
static void take_pmus(struct features *f, struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	struct eventsnap *s = &f->events;

	s->n_pmus = 0;
	for (uint32_t i = 0; i < n && i < SECTIONS_ITEMS_MAX && !c->bad; i++) {
		struct eventsnap_pmu p = {.type = cursor_u32(c)};
		char name[EVENT_NAME] = "";
		take_string(c, name, sizeof(name));
		p.name = eventsnap_add_text(s, name);
		if (!c->bad && eventsnap_add_pmu(s, &p) < 0)
			return;
	}
}

/* The number that the @len bytes at @digits are, all of them decimal digits. */
static bool parse_number(const char *digits, size_t len, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < len; i++) {
		unsigned digit = (unsigned char)digits[i] - '0';
		if (digit > 9 || *ret > (UINT64_MAX - digit) / 10)
			return false;
		*ret = *ret * 10 + digit;
	}
	return len > 0;
}

/* "NAME,TYPE,CONFIG" of @len bytes; a line that makes no sense names no event. 0 or -ENOMEM. */
static int take_kind(struct eventsnap *s, const char *line, size_t len)
{
	const char *comma = memchr(line, ',', len);
	size_t n = comma ? (size_t)(comma - line) : 0;
	const char *second = comma ? memchr(comma + 1, ',', len - n - 1) : NULL;
	char name[EVENT_NAME];
	struct eventsnap_kind k;
	uint64_t type;

	if (!second || !n || n >= sizeof(name) ||
	    !parse_number(comma + 1, (size_t)(second - comma - 1), &type) || type > UINT32_MAX ||
	    !parse_number(second + 1, (size_t)(line + len - second - 1), &k.config))
		return 0;
	k.type = (uint32_t)type;
	snprintf(name, sizeof(name), "%.*s", (int)n, line);
	k.name = eventsnap_add_text(s, name);
	return eventsnap_add_kind(s, &k);
}

/* Texts, each a key followed by its value; "event_type_info" names events, a line each. */
static void take_meta_info(struct features *f, const char *p, size_t len)
{
	const char *end = p + len, *key, *stop;
	struct eventsnap *s = &f->events;

	s->n_kinds = 0;
	while (p < end) {
		key = p;
		stop = memchr(p, 0, (size_t)(end - p));
		p = stop ? stop + 1 : end;
		stop = memchr(p, 0, (size_t)(end - p));
		if (!stop)
			return;
		bool names = !strcmp(key, "event_type_info");
		while (names && p < stop && s->n_kinds < EVENTSNAP_KINDS) {
			const char *next = memchr(p, '\n', (size_t)(stop - p));
			next = next ? next : stop;
			if (take_kind(s, p, (size_t)(next - p)) < 0)
				return;
			p = next + 1;
		}
		p = stop + 1;
	}
}

void features_take(struct features *f, uint32_t bit, const void *data, size_t len)
{
	struct cursor c = cursor_make(data, len);
	uint32_t online, avail;
	uint64_t from, to;

	switch (bit) {
	case PERFDATA_BUILD_ID:
		take_build_ids(f, &c);
		return;
	case PERFDATA_HOSTNAME:
		take_string(&c, f->machine.host, sizeof(f->machine.host));
		return;
	case PERFDATA_CPUDESC:
		take_string(&c, f->machine.cpu, sizeof(f->machine.cpu));
		return;
	case PERFDATA_OSRELEASE:
		take_string(&c, f->release, sizeof(f->release));
		return;
	case PERFDATA_ARCH:
		take_string(&c, f->arch, sizeof(f->arch));
		return;
	case PERFDATA_CMDLINE:
		take_cmdline(&c, f->cmdline, sizeof(f->cmdline));
		return;
	case PERFDATA_NRCPUS:
		avail = cursor_u32(&c);
		online = cursor_u32(&c);
		f->cpus = c.bad ? 0 : avail;
		f->cpus_online = c.bad ? 0 : online;
		return;
	case PERFDATA_EVENT_DESC:
		take_event_desc(f, &c);
		return;
	case PERFDATA_PMU_MAPPINGS:
		take_pmus(f, &c);
		return;
	case PERFDATA_SAMPLE_TIME:
		from = cursor_u64(&c);
		to = cursor_u64(&c);
		f->sample_time[0] = c.bad ? 0 : from;
		f->sample_time[1] = c.bad ? 0 : to;
		return;
	case PERFDATA_CLOCK_DATA:
		take_clock_data(f, &c);
		return;
	case PERFDATA_META_INFO:
		take_meta_info(f, data, len);
		return;
	default:
		return;
	}
}

void features_host(const struct features *f, uint64_t start_ns, struct record_host *ret)
{
	*ret = (struct record_host){
		.clock_ns = start_ns,
		.cpus = f->cpus,
		.cpus_online = f->cpus_online,
		.method = "perf.data",
	};
	if (f->clock_wall_ns && start_ns)
		ret->wall_ns = f->clock_wall_ns + (start_ns - f->clock_ns);
	memcpy(ret->release, f->release, sizeof(ret->release));
	memcpy(ret->machine, f->arch, sizeof(ret->machine));
	memcpy(ret->targets, f->cmdline, sizeof(ret->targets));
}
