// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a stream and their names. A name comes from the program that recorded; where it
 * wrote none, type and config give the name that perf would print.
 */
#include "kontend/eventlist.h"
#include "kontend/mem.h"
#include "kontend/trace.h"
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",	  "branch",    "node"};
static const char *const cache_ops[] = {"load", "store", "prefetch"};

static void name_cache(char *ret, size_t size, uint64_t config)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= COUNT(caches) || op >= COUNT(cache_ops) || result > 1)
		snprintf(ret, size, "cache:0x%" PRIx64, config);
	else if (result)
		snprintf(ret, size, "%s-%s-misses", caches[cache], cache_ops[op]);
	else
		snprintf(ret, size, "%s-%s%s", caches[cache], cache_ops[op], op == 2 ? "es" : "s");
}

void eventlist_name(char *ret, size_t size, uint32_t type, uint64_t config, const char *pmu)
{
	/* On machines with several kinds of CPUs the upper half is the PMU of the kind. */
	uint64_t low = config & 0xffffffff;

	if (type == PERF_TYPE_HARDWARE && low < COUNT(hardware))
		snprintf(ret, size, pmu[0] ? "%s/%s/" : "%s%s", pmu, hardware[low]);
	else if (type == PERF_TYPE_SOFTWARE && config < COUNT(software))
		snprintf(ret, size, "%s", software[config]);
	else if (type == PERF_TYPE_HW_CACHE)
		name_cache(ret, size, low);
	else if (type == PERF_TYPE_RAW)
		snprintf(ret, size, "r%" PRIx64, config);
	else if (type == PERF_TYPE_TRACEPOINT)
		snprintf(ret, size, "tracepoint:%" PRIu64, config);
	else if (!strcmp(pmu, "cpu_clock") || !strcmp(pmu, "task_clock"))
		snprintf(ret, size, "%.*s-clock", (int)strcspn(pmu, "_"), pmu);
	else if (pmu[0])
		snprintf(ret, size, "%s/config=0x%" PRIx64 "/", pmu, config);
	else
		snprintf(ret, size, "type %" PRIu32 "/config=0x%" PRIx64 "/", type, config);
}

void eventlist_deinit(struct eventlist *l)
{
	mem_free(l->events);
	mem_free(l->tracepoints);
	eventsnap_deinit(&l->names);
	*l = (struct eventlist){0};
}

bool eventlist_is_profile(const struct perf_event_attr *attr)
{
	if (!attr->sample_period || !(attr->sample_type & PERF_SAMPLE_IP))
		return false;
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return true;
	case PERF_TYPE_SOFTWARE:
		return attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		       attr->config == PERF_COUNT_SW_TASK_CLOCK;
	default: /* a dynamic PMU; probes there give one sample per hit */
		return attr->type >= PERF_TYPE_MAX && attr->freq;
	}
}

static bool is_common(const struct eventlist_event *e)
{
	return e->type == PERF_TYPE_HARDWARE || e->type == PERF_TYPE_HW_CACHE;
}

/* The PMU of the kind of CPU that a hardware event is of, or a dynamic PMU's own number. */
static uint32_t pmu_of(const struct eventlist_event *e)
{
	return is_common(e) ? (uint32_t)(e->config >> 32) : e->type;
}

/* cpu_core of Intel has the number of raw events. */
static bool has_pmu(const struct eventlist_event *e)
{
	return is_common(e) ? e->config >> 32 : e->type >= PERF_TYPE_MAX;
}

static const struct eventlist_tracepoint *tracepoint_of(const struct eventlist *l,
							const struct eventlist_event *e)
{
	for (size_t i = 0; e->type == PERF_TYPE_TRACEPOINT && i < l->n_tracepoints; i++)
		if (l->tracepoints[i].id == e->config)
			return &l->tracepoints[i];
	return NULL;
}

static void set_name(const struct eventlist *l, size_t i)
{
	struct eventlist_event *e = &l->events[i];
	const struct eventlist_tracepoint *t = tracepoint_of(l, e);
	const char *said = eventsnap_name(&l->names, e->id, (uint32_t)i);

	if (!*said)
		said = eventsnap_kind_name(&l->names, e->type, e->config);
	e->is_used = t && t->is_used;
	e->no_format = e->type == PERF_TYPE_TRACEPOINT && !t;
	if (l->has_others && i == EVENTLIST_MOST - 1)
		return;
	if (*said)
		snprintf(e->name, sizeof(e->name), "%s", said);
	else if (t)
		snprintf(e->name, sizeof(e->name), "%s", t->name);
	else
		eventlist_name(e->name, sizeof(e->name), e->type, e->config,
			       has_pmu(e) ? eventsnap_pmu_name(&l->names, pmu_of(e)) : "");
}

int eventlist_add(struct eventlist *l, const void *data, size_t len)
{
	struct perf_event_attr attr = {0};
	uint32_t size;

	if (len < PERF_ATTR_SIZE_VER0)
		return 0;
	/* Their samples have the last number, too. */
	if (l->n == EVENTLIST_MOST) {
		snprintf(l->events[l->n - 1].name, EVENTLIST_NAME, "others");
		l->has_others = true;
		return 0;
	}
	memcpy(&size, (const char *)data + offsetof(struct perf_event_attr, size), sizeof(size));
	memcpy(&attr, data, size < sizeof(attr) ? size : sizeof(attr));
	if (mem_grow(&l->events, &l->cap, l->n, sizeof(*l->events)))
		return -ENOMEM;
	struct eventlist_event *e = &l->events[l->n];
	*e = (struct eventlist_event){.type = attr.type,
				      .config = attr.config,
				      .freq = attr.freq,
				      .rate = attr.sample_freq,
				      .chains = attr.sample_type & PERF_SAMPLE_CALLCHAIN,
				      .is_profile = eventlist_is_profile(&attr)};
	if (len >= size + sizeof(e->id))
		memcpy(&e->id, (const char *)data + size, sizeof(e->id));
	e->is_own = attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_BPF_OUTPUT;
	e->is_clock = attr.type == PERF_TYPE_SOFTWARE && (attr.config == PERF_COUNT_SW_CPU_CLOCK ||
							  attr.config == PERF_COUNT_SW_TASK_CLOCK);
	e->is_time = e->is_clock || (attr.type == PERF_TYPE_HARDWARE &&
				     (uint32_t)attr.config == PERF_COUNT_HW_CPU_CYCLES);
	set_name(l, l->n++);
	return 0;
}

int eventlist_take_names(struct eventlist *l, const void *payload, size_t len)
{
	int r = eventsnap_decode(&l->names, payload, len);

	for (size_t i = 0; i < l->n; i++)
		set_name(l, i);
	return r == -ENOMEM ? r : 0;
}

int eventlist_take_format(struct eventlist *l, const void *data, size_t len)
{
	const char *system = data, *end = len ? memchr(data, 0, len) : NULL;
	struct eventlist_tracepoint t;
	char text[200], name[48];
	unsigned long long id;

	if (!end)
		return 0;
	size_t left = len - (size_t)(end + 1 - system);
	snprintf(text, sizeof(text), "%.*s", (int)(left < sizeof(text) ? left : sizeof(text) - 1),
		 end + 1);
	if (sscanf(text, "name: %47s ID: %llu", name, &id) != 2)
		return 0;
	if (mem_grow(&l->tracepoints, &l->cap_tracepoints, l->n_tracepoints, sizeof(t)))
		return -ENOMEM;
	t = (struct eventlist_tracepoint){.id = id, .is_used = trace_kind(system, name)};
	snprintf(t.name, sizeof(t.name), "%.30s:%s", system, name);
	l->tracepoints[l->n_tracepoints++] = t;
	for (size_t i = 0; i < l->n; i++)
		if (l->events[i].type == PERF_TYPE_TRACEPOINT && l->events[i].config == id)
			set_name(l, i);
	return 0;
}

/* "cpu_core/cycles/" -> "cycles"; other names as they are. */
static void without_pmu(const char *name, char ret[EVENTLIST_NAME])
{
	const char *slash = strchr(name, '/');
	size_t n = slash ? strcspn(slash + 1, "/") : 0;

	if (n && slash[1 + n] == '/')
		snprintf(ret, EVENTLIST_NAME, "%.*s%s", (int)n, slash + 1, slash + n + 2);
	else
		snprintf(ret, EVENTLIST_NAME, "%s", name);
}

static bool fits(const struct eventlist *l, size_t i, const char *word)
{
	const char *name = l->events[i].name;
	char plain[EVENTLIST_NAME], *end;
	unsigned long number = strtoul(word, &end, 10);

	if (*word >= '0' && *word <= '9' && !*end)
		return number == i + 1;
	without_pmu(name, plain);
	return !strcmp(word, "all") || !fnmatch(word, name, 0) || !fnmatch(word, plain, 0);
}

uint64_t eventlist_match(const struct eventlist *l, const char *pattern)
{
	uint64_t ret = 0;

	for (const char *at = pattern; *at;) {
		char word[EVENTLIST_NAME];
		size_t n = strcspn(at, ",");
		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		for (size_t i = 0; n && i < l->n; i++)
			if (!l->events[i].is_own && fits(l, i, word))
				ret |= UINT64_C(1) << eventlist_number(i);
		at += n + (at[n] == ',');
	}
	return ret;
}

int eventlist_check(const struct eventlist *l, const char *pattern, struct error *err)
{
	char names[400] = "none";
	size_t len = 0;

	if (!pattern || eventlist_match(l, pattern))
		return 0;
	for (size_t i = 0; i < l->n && len < sizeof(names); i++)
		if (!l->events[i].is_own)
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? ", " : "", l->events[i].name);
	return error_set(err, -EINVAL, "No event of the recording is '%s': it has %s", pattern,
			 names);
}

uint64_t eventlist_same(const struct eventlist *l, size_t number)
{
	const struct eventlist_event *e = &l->events[number];
	uint64_t ret = UINT64_C(1) << eventlist_number(number);
	char plain[EVENTLIST_NAME], other[EVENTLIST_NAME];

	without_pmu(e->name, plain);
	if (!strcmp(plain, e->name) && !pmu_of(e))
		return ret;
	for (size_t i = 0; i < l->n; i++) {
		without_pmu(l->events[i].name, other);
		if (l->events[i].is_profile == e->is_profile && !strcmp(plain, other))
			ret |= UINT64_C(1) << eventlist_number(i);
	}
	return ret;
}
