// SPDX-License-Identifier: GPL-2.0-only
/*
 * A growing buffer of perf records. Layouts are those of PERF_RECORD_COMM, PERF_RECORD_MMAP2,
 * PERF_RECORD_CGROUP and PERF_RECORD_KSYMBOL in <linux/perf_event.h>: the text is padded with NULs
 * to 8 bytes; the trailer {pid, tid, time, cpu, res, identifier} follows. Time 0 sorts them before
 * all events of the session.
 */
#include "kontend/sideband.h"
#include "kontend/mem.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

/* Since Linux 5.7; defined here for older headers. */
enum { RECORD_TYPE_CGROUP = 19 };
enum { TEXT_MAX = 4096 };

struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, res;
	uint64_t identifier;
};

/* Makes room for @size more bytes. */
static bool grow(struct sideband *s, size_t size)
{
	size_t cap = (s->cap + size) * 2;

	if (s->cap - s->len >= size)
		return true;
	uint8_t *bigger = mem_resize(s->data, cap, 1);
	if (!bigger)
		return false;
	s->data = bigger;
	s->cap = cap;
	return true;
}

/* Adds a record with @fixed bytes after the header, and @text; fills in header and text. */
static uint8_t *record_new(struct sideband *s, uint32_t type, size_t fixed, const char *text)
{
	size_t text_len = strnlen(text, TEXT_MAX - 1);
	size_t padded = (text_len + 8) & ~(size_t)7; /* at least one NUL */
	struct perf_event_header h = {.type = type};
	size_t size = sizeof(h) + fixed + padded + sizeof(struct trailer);

	if (!grow(s, size))
		return NULL;
	uint8_t *p = s->data + s->len;
	memset(p, 0, size);
	h.size = (uint16_t)size;
	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h) + fixed, text, text_len);
	s->len += size;
	return p;
}

static void put_trailer(struct sideband *s, int32_t pid, int32_t tid)
{
	struct trailer t = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .identifier = s->id};

	memcpy(s->data + s->len - sizeof(t), &t, sizeof(t));
}

int sideband_comm(struct sideband *s, int32_t pid, int32_t tid, const char *comm)
{
	uint32_t ids[2] = {(uint32_t)pid, (uint32_t)tid};
	uint8_t *p = record_new(s, PERF_RECORD_COMM, sizeof(ids), comm);

	if (!p)
		return -ENOMEM;
	memcpy(p + sizeof(struct perf_event_header), ids, sizeof(ids));
	put_trailer(s, pid, tid);
	return 0;
}

/* PERF_RECORD_MMAP2 between its header and the name. */
struct mmap2 {
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};

int sideband_mmap(struct sideband *s, const struct sideband_mmap *m)
{
	struct mmap2 fixed = {
		.pid = (uint32_t)m->pid,
		.tid = (uint32_t)m->pid,
		.start = m->start,
		.len = m->len,
		.pgoff = m->pgoff,
		.maj = m->maj,
		.min = m->min,
		.ino = m->ino,
		.prot = (m->readable ? PROT_READ : 0) | (m->code ? PROT_EXEC : 0) |
			(m->writable ? PROT_WRITE : 0),
		.flags = m->shared ? MAP_SHARED : MAP_PRIVATE,
	};
	uint16_t misc = PERF_RECORD_MISC_USER | (m->code ? 0 : PERF_RECORD_MISC_MMAP_DATA);
	uint8_t *p = record_new(s, PERF_RECORD_MMAP2, sizeof(fixed), m->path);

	if (!p)
		return -ENOMEM;
	memcpy(p + offsetof(struct perf_event_header, misc), &misc, sizeof(misc));
	memcpy(p + sizeof(struct perf_event_header), &fixed, sizeof(fixed));
	put_trailer(s, m->pid, m->pid);
	return 0;
}

int sideband_cgroup(struct sideband *s, uint64_t cgroup, const char *path)
{
	uint8_t *p = record_new(s, RECORD_TYPE_CGROUP, sizeof(cgroup), path);

	if (!p)
		return -ENOMEM;
	memcpy(p + sizeof(struct perf_event_header), &cgroup, sizeof(cgroup));
	put_trailer(s, 0, 0);
	return 0;
}

/* PERF_RECORD_KSYMBOL between its header and the name. */
struct ksymbol {
	uint64_t start;
	uint32_t len;
	uint16_t type, flags;
};

int sideband_ksymbol(struct sideband *s, uint64_t start, uint32_t len, bool is_bpf,
		     const char *name)
{
	struct ksymbol fixed = {
		.start = start,
		.len = len,
		.type = is_bpf ? PERF_RECORD_KSYMBOL_TYPE_BPF : PERF_RECORD_KSYMBOL_TYPE_OOL,
	};
	uint8_t *p = record_new(s, PERF_RECORD_KSYMBOL, sizeof(fixed), name);

	if (!p)
		return -ENOMEM;
	memcpy(p + sizeof(struct perf_event_header), &fixed, sizeof(fixed));
	put_trailer(s, 0, 0);
	return 0;
}

int sideband_append(struct sideband *s, const struct sideband *from)
{
	if (!from->len)
		return 0;
	if (!grow(s, from->len))
		return -ENOMEM;
	memcpy(s->data + s->len, from->data, from->len);
	s->len += from->len;
	return 0;
}

size_t sideband_run(const struct sideband *s, size_t from, size_t max)
{
	struct perf_event_header h;
	size_t n = 0;

	while (from + n < s->len) {
		memcpy(&h, s->data + from + n, sizeof(h));
		if (n && n + h.size > max)
			break;
		n += h.size;
	}
	return n;
}

void sideband_deinit(struct sideband *s)
{
	mem_free(s->data);
	*s = (struct sideband){0};
}
