// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and builds the container of tracepoint formats (tools/perf/util/trace-event-read.c,
 * tools/perf/util/trace-event-info.c). Reading trusts no count and no size: each is checked against
 * the remaining bytes before it is used, so a walk takes at most as many steps as there are bytes.
 */
#include "kontend/cursor.h"
#include "writer.h"
#include <errno.h>

static const char magic[10] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

static const char *take_string(struct cursor *c)
{
	size_t left = cursor_left(c);
	const void *end = c->bad || !left ? NULL : memchr(c->pos, 0, left);

	if (!end) {
		c->bad = true;
		return NULL;
	}
	return cursor_bytes(c, (size_t)((const uint8_t *)end - c->pos) + 1);
}

/* u64 size and that many bytes. */
static const char *take_blob(struct cursor *c, size_t *ret_len)
{
	uint64_t len = cursor_u64(c);

	*ret_len = 0;
	if (c->bad || len > cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	*ret_len = (size_t)len;
	return cursor_bytes(c, (size_t)len);
}

static int cut(const struct cursor *c, const void *data, size_t len, struct error *err)
{
	return error_set(err, -EINVAL,
			 "the tracepoint formats (%zu bytes) are cut or damaged at "
			 "their byte %zu",
			 len, (size_t)(c->pos - (const uint8_t *)data));
}

/* Magic, version, byte order, sizes; "header_page", "header_event"; the ring's own events. */
static int skip_header(struct cursor *c, const void *data, size_t len, struct error *err)
{
	const char *m = cursor_bytes(c, sizeof(magic));
	size_t n;

	if (!m || memcmp(m, magic, sizeof(magic)))
		return error_set(err, -EINVAL,
				 "the tracepoint formats (%zu bytes) do not begin as "
				 "such",
				 len);
	take_string(c);
	const uint8_t *sizes = cursor_bytes(c, 2);
	uint16_t one = 1;
	if (sizes && sizes[0] != !*(const uint8_t *)&one)
		return error_set(err, -ENOTSUP,
				 "the tracepoint formats are of a machine with the "
				 "other byte order");
	cursor_u32(c);
	for (int i = 0; i < 2; i++) {
		take_string(c);
		take_blob(c, &n);
	}
	for (uint32_t count = cursor_u32(c); count && !c->bad; count--)
		take_blob(c, &n);
	return c->bad ? cut(c, data, len, err) : 0;
}

int tracing_walk(const void *data, size_t len, tracing_fn *fn, void *ctx, struct error *err)
{
	struct cursor c = cursor_make(data, len);
	int r = skip_header(&c, data, len, err);

	if (r)
		return r;
	for (uint32_t systems = cursor_u32(&c); systems && !c.bad; systems--) {
		const char *system = take_string(&c);
		for (uint32_t events = cursor_u32(&c); events && !c.bad; events--) {
			size_t n;
			const char *text = take_blob(&c, &n);
			r = text ? fn(ctx, system, text, n) : 0;
			if (r)
				return r;
		}
	}
	return c.bad ? cut(&c, data, len, err) : 0;
}

static void put_u32(struct writer_bytes *b, uint32_t v)
{
	writer_bytes_add(b, &v, sizeof(v));
}

static void put_blob(struct writer_bytes *b, const void *data, size_t len)
{
	uint64_t n = len;

	writer_bytes_add(b, &n, sizeof(n));
	writer_bytes_add(b, data, len);
}

/* perf reads the offsets of the page header's fields; these are those of every 64-bit kernel. */
static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n";

static const char *system_of(const struct writer_bytes *format)
{
	return (const char *)format->data;
}

static uint32_t count_system(const struct writer_bytes *formats, size_t n, size_t from)
{
	uint32_t k = 1;

	while (from + k < n && !strcmp(system_of(&formats[from + k]), system_of(&formats[from])))
		k++;
	return k;
}

int tracing_build(const struct writer_bytes *formats, size_t n, struct writer_bytes *b)
{
	uint16_t one = 1;
	uint8_t sizes[2] = {!*(const uint8_t *)&one, 8};
	uint32_t systems = 0;

	writer_bytes_add(b, magic, sizeof(magic));
	writer_bytes_add(b, "0.6", 4);
	writer_bytes_add(b, sizes, sizeof(sizes));
	put_u32(b, 4096);
	writer_bytes_add(b, "header_page", 12);
	put_blob(b, header_page, sizeof(header_page) - 1);
	writer_bytes_add(b, "header_event", 13);
	put_blob(b, header_event, sizeof(header_event) - 1);
	put_u32(b, 0);
	for (size_t i = 0; i < n; i += count_system(formats, n, i))
		systems++;
	put_u32(b, systems);
	for (size_t i = 0, k; i < n; i += k) {
		k = count_system(formats, n, i);
		size_t name = strlen(system_of(&formats[i])) + 1;
		writer_bytes_add(b, formats[i].data, name);
		put_u32(b, (uint32_t)k);
		for (size_t j = i; j < i + k; j++)
			put_blob(b, formats[j].data + name, formats[j].len - name);
	}
	put_u32(b, 0);	      /* kallsyms */
	put_u32(b, 0);	      /* printk formats */
	put_blob(b, NULL, 0); /* command lines */
	return b->failed ? -ENOMEM : 0;
}
