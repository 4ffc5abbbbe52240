// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts before the data: the attrs (kontend's first, long enough to be overwritten by the
 * header of the file layout later), their names, the formats, the facts about the machine, and the
 * addresses of the kernel. Attrs get one size, which every perf from 4.x on takes.
 */
#include "kernel.h"
#include "kontend/buildids.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "writer.h"
#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>

enum {
	NAME_ALIGN = 64, /* perf pads strings of features to this */
	UPDATE_NAME = 2, /* PERF_EVENT_UPDATE__NAME */
	MISC_BUILD_ID_SIZE = 1 << 15,
	MOST_IDS = 7000, /* an attr record has at most 64 KiB */
};

static const uint8_t features[] = {
	PERFDATA_TRACING_DATA, PERFDATA_BUILD_ID,   PERFDATA_HOSTNAME,	  PERFDATA_OSRELEASE,
	PERFDATA_VERSION,      PERFDATA_ARCH,	    PERFDATA_NRCPUS,	  PERFDATA_CPUDESC,
	PERFDATA_CMDLINE,      PERFDATA_EVENT_DESC, PERFDATA_SAMPLE_TIME, PERFDATA_CLOCKID,
	PERFDATA_COMPRESSED,   PERFDATA_CLOCK_DATA,
};

static int add_bytes(struct writer_bytes *b, const void *data, size_t len)
{
	return writer_bytes_add(b, data, len);
}

static int add_u32(struct writer_bytes *b, uint32_t v)
{
	return add_bytes(b, &v, sizeof(v));
}

static int add_u64(struct writer_bytes *b, uint64_t v)
{
	return add_bytes(b, &v, sizeof(v));
}

static int add_string(struct writer_bytes *b, const char *s)
{
	size_t n = strlen(s) + 1, padded = (n + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

	add_u32(b, (uint32_t)padded);
	add_bytes(b, s, n);
	return add_bytes(b, NULL, padded - n);
}

/* Names of events that are no tracepoints. */
static const char *plain_name(const struct perf_event_attr *a)
{
	/* The upper half is the PMU of a kind of CPUs. */
	if (a->type == PERF_TYPE_HARDWARE && (uint32_t)a->config == PERF_COUNT_HW_CPU_CYCLES)
		return "cycles";
	if (a->type != PERF_TYPE_SOFTWARE)
		return "event";
	switch (a->config) {
	case PERF_COUNT_SW_DUMMY:
		return "dummy:u";
	case PERF_COUNT_SW_BPF_OUTPUT:
		return "kontend-owner";
	case PERF_COUNT_SW_CPU_CLOCK:
		return "cpu-clock";
	default:
		return "software";
	}
}

static void name_attr(const struct writer *w, struct writer_attr *a)
{
	snprintf(a->name, sizeof(a->name), "%s", plain_name(&a->attr));
	for (size_t i = 0; i < w->n_formats && a->attr.type == PERF_TYPE_TRACEPOINT; i++) {
		const char *system = (const char *)w->formats[i].data;
		const char *text = system + strlen(system) + 1;
		size_t len = w->formats[i].len - (size_t)(text - system);
		char name[48], id[32];
		snprintf(id, sizeof(id), "\nID: %llu\n", (unsigned long long)a->attr.config);
		snprintf(name, sizeof(name), "%.*s", (int)(len < 47 ? len : 47), text);
		name[strcspn(name, "\n")] = 0;
		if (!strncmp(name, "name: ", 6) && memmem(text, len, id, strlen(id)))
			snprintf(a->name, sizeof(a->name), "%.15s:%s", system, name + 6);
	}
}

int writer_add_attr(struct writer *w, const struct record *r, struct error *err)
{
	struct perf_event_attr attr = {0};
	uint32_t size = 0;

	if (r->len >= PERF_ATTR_SIZE_VER0)
		memcpy(&size, (const uint8_t *)r->data + 4, sizeof(size));
	if (size < PERF_ATTR_SIZE_VER0 || size > r->len || (r->len - size) % 8)
		return error_set(err, -EINVAL, "an event attribute says it has %u of %zu bytes",
				 size, r->len);
	memcpy(&attr, r->data, size < sizeof(attr) ? size : sizeof(attr));
	attr.size = WRITER_ATTR;
	if (w->begun)
		return error_set(err, -ENOTSUP,
				 "Cannot write '%s': an event came after the first samples",
				 w->path);
	if (r->len - size > MOST_IDS * 8)
		return error_set(err, -E2BIG, "Cannot write '%s': an event has more than %d ids",
				 w->path, MOST_IDS);
	struct writer_attr a = {.attr = attr, .n_ids = (uint32_t)((r->len - size) / 8)};
	a.ids = mem_calloc(a.n_ids + 1, sizeof(*a.ids));
	if (!a.ids || mem_grow(&w->attrs, &w->cap_attrs, w->n_attrs, sizeof(a))) {
		mem_free(a.ids);
		return error_enomem(err, "writing '%s'", w->path);
	}
	memcpy(a.ids, (const uint8_t *)r->data + size, r->len - size);
	if (writer_ids_attr(&w->ids, &a, w->n_attrs)) {
		mem_free(a.ids);
		return error_set(err, -ENOTSUP,
				 "Cannot write '%s': its events give their ids in different places",
				 w->path);
	}
	w->attrs[w->n_attrs++] = a;
	return 0;
}

static int add_kernel_id(struct writer_bytes *b)
{
	static const char name[24] = "[kernel.kallsyms]";
	uint8_t id[24] = {0};
	struct perf_event_header h = {.type = PERFDATA_TYPE_BUILD_ID,
				      .misc = PERF_RECORD_MISC_KERNEL | MISC_BUILD_ID_SIZE,
				      .size = sizeof(h) + 4 + sizeof(id) + 4 + sizeof(name)};
	size_t n = kernel_build_id(id);

	if (!n)
		return 0;
	id[20] = (uint8_t)n;
	/* pid, id; the name follows the id directly; perf pads the whole to 8 bytes. */
	add_bytes(b, &h, sizeof(h));
	add_u32(b, UINT32_MAX);
	add_bytes(b, id, sizeof(id));
	add_bytes(b, name, sizeof(name));
	return add_u32(b, 0);
}

/* The build id of the recorded kernel if it is known: if this machine is recorded, it is the
 * running one. */
static int add_build_ids(const struct writer *w, struct writer_bytes *b)
{
	const struct writer_bytes *ids = &w->build_ids;
	struct buildid one = {0};
	size_t at = 0, next;

	while ((next = buildids_next(ids->data, ids->len, at, &one)) && !one.kernel)
		at = next;
	if (!next && !w->machine)
		add_kernel_id(b);
	return add_bytes(b, ids->data, ids->len);
}

static int add_hostname(const struct writer *w, struct writer_bytes *b)
{
	struct utsname u;

	if (w->machine)
		return *w->machine->host ? add_string(b, w->machine->host) : 0;
	return uname(&u) ? 0 : add_string(b, u.nodename);
}

static int add_cpudesc(const struct writer *w, struct writer_bytes *b)
{
	char *text = NULL, *at;
	size_t len;
	int e = 0;

	if (w->machine)
		return *w->machine->cpu ? add_string(b, w->machine->cpu) : 0;
	if (fdio_read_file("/proc/cpuinfo", &text, &len))
		return 0;
	at = strstr(text, "model name");
	at = at ? strstr(at, ": ") : NULL;
	if (at) {
		at[strcspn(at, "\n")] = 0;
		e = add_string(b, at + 2);
	}
	mem_free(text);
	return e;
}

static int add_cmdline(const struct writer *w, struct writer_bytes *b)
{
	const char *p = (const char *)w->cmdline.data;
	uint32_t n = 0;

	for (size_t i = 0; i < w->cmdline.len; i++)
		n += !p[i];
	if (n)
		add_u32(b, n);
	for (size_t at = 0; at < w->cmdline.len; at += strlen(p + at) + 1)
		add_string(b, p + at);
	return b->failed ? -ENOMEM : 0;
}

int writer_event_desc(const struct writer_attr *attrs, size_t n, struct writer_bytes *b)
{
	add_u32(b, (uint32_t)n);
	add_u32(b, WRITER_ATTR);
	for (const struct writer_attr *a = attrs; a < attrs + n; a++) {
		add_bytes(b, &a->attr, WRITER_ATTR);
		add_u32(b, a->n_ids);
		add_string(b, a->name);
		add_bytes(b, a->ids, a->n_ids * sizeof(*a->ids));
	}
	return b->failed ? -ENOMEM : 0;
}

/* version, type zstd, level, ratio, and the most memory that unpacking a record takes. */
static int add_compressed(const struct writer *w, struct writer_bytes *b)
{
	uint32_t ratio = 1;

	if (!w->pack.level)
		return 0;
	if (w->stat.packed_to)
		ratio = (uint32_t)(w->stat.packed_from / w->stat.packed_to);
	add_u32(b, 1);
	add_u32(b, 1);
	add_u32(b, (uint32_t)w->pack.level);
	add_u32(b, ratio);
	return add_u32(b, 1 << 20);
}

static int add_feature(const struct writer *w, enum perfdata_feature feature,
		       struct writer_bytes *b)
{
	const struct record_host *h = &w->host;

	switch (feature) {
	case PERFDATA_TRACING_DATA:
		return tracing_build(w->formats, w->n_formats, b);
	case PERFDATA_BUILD_ID:
		return add_build_ids(w, b);
	case PERFDATA_HOSTNAME:
		return add_hostname(w, b);
	case PERFDATA_OSRELEASE:
		return add_string(b, h->release);
	case PERFDATA_VERSION:
		return add_string(b, "kontend");
	case PERFDATA_ARCH:
		return add_string(b, h->machine);
	case PERFDATA_NRCPUS:
		add_u32(b, h->cpus);
		return add_u32(b, h->cpus_online);
	case PERFDATA_CPUDESC:
		return add_cpudesc(w, b);
	case PERFDATA_CMDLINE:
		return add_cmdline(w, b);
	case PERFDATA_EVENT_DESC:
		return writer_event_desc(w->attrs, w->n_attrs, b);
	case PERFDATA_SAMPLE_TIME:
		add_u64(b, h->clock_ns);
		return add_u64(b, w->now);
	case PERFDATA_CLOCKID:
		return add_u64(b, w->clock_id);
	case PERFDATA_COMPRESSED:
		return add_compressed(w, b);
	case PERFDATA_CLOCK_DATA:
		if (!h->wall_ns)
			return 0;
		add_u32(b, 1);
		add_u32(b, w->clock_id);
		add_u64(b, h->wall_ns);
		return add_u64(b, h->clock_ns);
	default:
		return 0;
	}
}

int writer_features(const struct writer *w, struct writer_bytes *bodies)
{
	int e = 0;

	for (size_t i = 0; !e && i < sizeof(features); i++)
		e = add_feature(w, features[i], &bodies[features[i]]);
	return e;
}

static size_t open_record(struct writer_bytes *b, uint32_t type)
{
	struct perf_event_header h = {.type = type};
	size_t at = b->len;

	add_bytes(b, &h, sizeof(h));
	return at;
}

static int close_record(struct writer_bytes *b, size_t at)
{
	struct perf_event_header h;

	if (writer_bytes_pad(b))
		return -ENOMEM;
	if (b->len - at > UINT16_MAX)
		return -E2BIG;
	memcpy(&h, b->data + at, sizeof(h));
	h.size = (uint16_t)(b->len - at);
	memcpy(b->data + at, &h, sizeof(h));
	return 0;
}

static int head_attr(struct writer_bytes *b, const struct writer_attr *a)
{
	size_t at = open_record(b, PERFDATA_TYPE_ATTR);

	add_bytes(b, &a->attr, WRITER_ATTR);
	add_bytes(b, a->ids, a->n_ids * sizeof(*a->ids));
	int e = close_record(b, at);
	if (e || !a->n_ids)
		return e;
	at = open_record(b, PERFDATA_TYPE_EVENT_UPDATE);
	add_u64(b, UPDATE_NAME);
	add_u64(b, a->ids[0]);
	add_bytes(b, a->name, strlen(a->name) + 1);
	return close_record(b, at);
}

static int head_tracing(struct writer *w, struct writer_bytes *b)
{
	struct writer_bytes body = {0};
	size_t at = open_record(b, PERFDATA_TYPE_TRACING_DATA);
	int e = tracing_build(w->formats, w->n_formats, &body);

	/* The size includes the padding, as perf does it. */
	if (!e)
		e = writer_bytes_pad(&body);
	add_u32(b, (uint32_t)body.len);
	if (!e)
		e = close_record(b, at);
	if (!e)
		e = add_bytes(b, body.data, body.len);
	mem_free(body.data);
	return e;
}

static int head_feature(struct writer *w, struct writer_bytes *b, enum perfdata_feature feature)
{
	struct writer_bytes body = {0};
	int e = add_feature(w, feature, &body);

	/* A feature too long for a record is in the file layout only. */
	if (!e && body.len && body.len < UINT16_MAX - 32) {
		size_t at = open_record(b, PERFDATA_TYPE_FEATURE);
		add_u64(b, feature);
		add_bytes(b, body.data, body.len);
		e = close_record(b, at);
	}
	mem_free(body.data);
	return e;
}

/* The addresses of the kernel for perf, followed by an empty sample_id. */
static int head_kernel(struct writer *w, struct writer_bytes *b)
{
	static const char name[] = "[kernel.kallsyms]_text";
	uint64_t from = w->kernel_text[0], to = w->kernel_text[1];
	struct perf_event_header h = {.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL};
	uint64_t st = w->n_attrs > 1 ? w->attrs[1].attr.sample_type : 0;
	size_t at = b->len, trailer = 0;

	if (!from || to <= from)
		return 0;
	for (uint64_t bits = st & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				   PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU);
	     bits; bits &= bits - 1)
		trailer += 8;
	add_bytes(b, &h, sizeof(h));
	add_u32(b, UINT32_MAX);
	add_u32(b, 0);
	add_u64(b, from);
	add_u64(b, to - from);
	add_u64(b, from);
	add_bytes(b, name, sizeof(name));
	writer_bytes_pad(b);
	add_bytes(b, NULL, trailer);
	return close_record(b, at);
}

static int add_ext_attr(struct writer *w)
{
	struct writer_attr a = {.attr = writer_ext_attr(), .n_ids = 1, .name = PERFDATA_EXT_NAME};

	a.ids = mem_calloc(1, sizeof(*a.ids));
	if (!a.ids || mem_grow(&w->attrs, &w->cap_attrs, w->n_attrs, sizeof(a))) {
		mem_free(a.ids);
		return -ENOMEM;
	}
	a.ids[0] = PERFDATA_EXT_ID;
	memmove(w->attrs + 1, w->attrs, w->n_attrs * sizeof(a));
	w->attrs[0] = a;
	w->n_attrs++;
	return 0;
}

static int build(struct writer *w, struct writer_bytes *b, struct writer_bytes *kernel)
{
	int e = add_ext_attr(w);

	add_u64(b, PERFDATA_MAGIC);
	add_u64(b, PERFDATA_PIPE_HEADER);
	for (size_t i = 1; !e && i < w->n_attrs; i++)
		name_attr(w, &w->attrs[i]);
	for (size_t i = 0; !e && i < w->n_attrs; i++)
		e = head_attr(b, &w->attrs[i]);
	if (!e && w->n_formats)
		e = head_tracing(w, b);
	for (size_t i = 0; !e && i < sizeof(features); i++)
		if (features[i] == PERFDATA_BUILD_ID)
			/* Build ids of programs are too large for perf's record in a stream. */
			e = add_kernel_id(b);
		else if (features[i] != PERFDATA_TRACING_DATA &&
			 features[i] != PERFDATA_EVENT_DESC && features[i] != PERFDATA_SAMPLE_TIME)
			e = head_feature(w, b, features[i]);
	return e ? e : head_kernel(w, kernel);
}

int writer_head(struct writer *w, struct error *err)
{
	struct writer_bytes kernel = {0};
	int e = build(w, &w->out, &kernel);

	w->data_begin = w->out.len;
	if (!e)
		e = writer_data(w, kernel.data, kernel.len, err);
	else
		e = error_errno(err, e, "Cannot write the head of '%s'", w->path);
	mem_free(kernel.data);
	return e;
}
