// SPDX-License-Identifier: GPL-2.0-only
/*
 * A longer recording out of a short one, for measuring what size costs: a storm of minutes is not
 * needed to have a gigabyte. The data of a perf.data file by perf (file layout, not compressed)
 * are in the new one several times, each time later by the span of the whole; features follow as
 * they are, at their new offsets. perf and kontend read it like any other.
 *
 *     lengthen IN OUT TIMES
 */
#include "kontend/decode.h"
#include "kontend/perfdata.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GAP_NS = 1000000 };

struct file {
	uint8_t *bytes; /* a private copy: times are moved in place */
	size_t size;
	struct perfdata_header h;
	struct decode decode;
	uint64_t first_ns, last_ns;
};

static _Noreturn void __attribute__((format(printf, 1, 2))) fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* @len bytes at @at of the file. */
static uint8_t *at(const struct file *f, uint64_t at, uint64_t len)
{
	if (at > f->size || len > f->size - at)
		fail("the file is cut: nothing at byte %llu", (unsigned long long)at);
	return f->bytes + at;
}

static void open_file(struct file *f, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		fail("cannot open %s", path);
	f->size = (size_t)st.st_size;
	f->bytes = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (f->bytes == MAP_FAILED)
		fail("cannot map %s", path);
	memcpy(&f->h, at(f, 0, sizeof(f->h)), sizeof(f->h));
	if (f->h.magic != PERFDATA_MAGIC || f->h.size != sizeof(f->h))
		fail("%s is no perf.data file of the file layout", path);
	at(f, f->h.data.offset, f->h.data.size);
}

/* Positions of times in records, of all events the same way. */
static void read_attrs(struct file *f)
{
	struct error err = {0};
	uint64_t size = f->h.attr_size - sizeof(struct perfdata_section);

	if (decode_init(&f->decode, &err))
		fail("%s", err.text);
	for (uint64_t i = 0; i < f->h.attrs.size / f->h.attr_size; i++) {
		const uint8_t *attr = at(f, f->h.attrs.offset + i * f->h.attr_size, f->h.attr_size);
		if (decode_add_attr(&f->decode, attr, size, &err))
			fail("%s", err.text);
	}
	const struct decode_attr *a = f->decode.attrs;
	for (size_t i = 0; i < f->decode.n_attrs; i++)
		if (a[i].off_time != a->off_time || a[i].trail_time != a->trail_time ||
		    a[i].trail_size != a->trail_size)
			fail("its events differ in layout");
	if (!f->decode.n_attrs || !a->off_time)
		fail("its events have no time");
}

/* The place of the record's time; NULL: it has none. */
static uint8_t *time_of(const struct file *f, uint8_t *p, const struct perf_event_header *h)
{
	const struct decode_attr *a = f->decode.attrs;

	if (h->type == PERF_RECORD_SAMPLE)
		return h->size >= a->off_time + 8u ? p + a->off_time : NULL;
	/* Their ends are stale bytes of the ring. */
	if (h->type == PERF_RECORD_KSYMBOL || h->type == PERF_RECORD_BPF_EVENT ||
	    h->type >= PERFDATA_TYPE_USER || !a->trail_time || h->size < sizeof(*h) + a->trail_size)
		return NULL;
	return p + h->size - a->trail_time;
}

/* FORK and EXIT say the time in their body, too. */
static void shift_record(const struct file *f, uint8_t *p, const struct perf_event_header *h,
			 uint64_t by_ns)
{
	uint8_t *places[] = {time_of(f, p, h), NULL};
	uint64_t t;

	if ((h->type == PERF_RECORD_FORK || h->type == PERF_RECORD_EXIT) && h->size >= 32)
		places[1] = p + 24;
	for (size_t i = 0; i < 2; i++) {
		if (!places[i])
			continue;
		memcpy(&t, places[i], sizeof(t));
		t += t ? by_ns : 0;
		memcpy(places[i], &t, sizeof(t));
	}
}

static void note_time(struct file *f, uint8_t *p, const struct perf_event_header *h)
{
	const uint8_t *place = time_of(f, p, h);
	uint64_t t = 0;

	if (place)
		memcpy(&t, place, sizeof(t));
	if (!t)
		return;
	if (!f->first_ns || t < f->first_ns)
		f->first_ns = t;
	if (t > f->last_ns)
		f->last_ns = t;
}

/* Moves every time by @by_ns; 0: only looks what times there are. */
static void walk(struct file *f, uint64_t by_ns)
{
	uint8_t *p = at(f, f->h.data.offset, f->h.data.size), *end = p + f->h.data.size;
	struct perf_event_header h;

	for (; p < end; p += h.size) {
		if ((size_t)(end - p) < sizeof(h))
			fail("its data end within a record");
		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h) || h.size > end - p)
			fail("its data end within a record");
		if (h.type == PERFDATA_TYPE_COMPRESSED || h.type == PERFDATA_TYPE_COMPRESSED2 ||
		    h.type == PERFDATA_TYPE_AUXTRACE || h.type == PERFDATA_TYPE_TRACING_DATA)
			fail("it is compressed, or a stream");
		if (by_ns)
			shift_record(f, p, &h, by_ns);
		else
			note_time(f, p, &h);
	}
}

static void write_bytes(FILE *out, const void *data, size_t len)
{
	if (fwrite(data, 1, len, out) != len)
		fail("cannot write");
}

/* Copies the part after the data: table and bodies of features, all @more bytes later. */
static void put_features(struct file *f, FILE *out, uint64_t more, uint64_t longer_ns)
{
	uint64_t from = f->h.data.offset + f->h.data.size, place = from;

	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++) {
		struct perfdata_section s;
		if (!(f->h.features[bit / 64] >> bit % 64 & 1))
			continue;
		uint8_t *entry = at(f, place, sizeof(s));
		memcpy(&s, entry, sizeof(s));
		if (bit == PERFDATA_SAMPLE_TIME && s.size == 16) {
			uint64_t last_ns = f->last_ns + longer_ns;
			memcpy(at(f, s.offset + 8, 8), &last_ns, sizeof(last_ns));
		}
		s.offset += more;
		memcpy(entry, &s, sizeof(s));
		place += sizeof(s);
	}
	write_bytes(out, f->bytes + from, f->size - from);
}

static void lengthen(struct file *f, FILE *out, unsigned long times)
{
	uint64_t more = f->h.data.size * (times - 1), step_ns;
	struct perfdata_header h = f->h;

	walk(f, 0);
	step_ns = f->last_ns - f->first_ns + GAP_NS;
	h.data.size += more;
	write_bytes(out, &h, sizeof(h));
	write_bytes(out, f->bytes + sizeof(h), f->h.data.offset - sizeof(h));
	for (unsigned long i = 0; i < times; i++) {
		if (i)
			walk(f, step_ns);
		write_bytes(out, f->bytes + f->h.data.offset, f->h.data.size);
	}
	put_features(f, out, more, step_ns * (times - 1));
}

int main(int argc, char **argv)
{
	struct file f = {0};
	unsigned long times = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;

	if (!times)
		fail("lengthen IN OUT TIMES");
	open_file(&f, argv[1]);
	read_attrs(&f);
	FILE *out = fopen(argv[2], "we");
	if (!out)
		fail("cannot make %s", argv[2]);
	lengthen(&f, out, times);
	if (fclose(out))
		fail("cannot write %s", argv[2]);
	decode_deinit(&f.decode);
	munmap(f.bytes, f.size);
	return 0;
}
