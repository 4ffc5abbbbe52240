// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the container of tracepoint formats, and as the text of one: the results lie within,
 * and an accepted format has fields that can be loaded. A container built from the results has the
 * same content.
 */
#include "../../src/file/writer.h"
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/trace.h"
#include <string.h>

enum { MOST_KEPT = 16 };

struct cachefile {
	const uint8_t *data;
	size_t size;
	struct writer_bytes formats[MOST_KEPT];
	size_t n;
};

static int keep(void *ctx, const char *system, const char *text, size_t len)
{
	struct cachefile *k = ctx;
	size_t name = strlen(system) + 1;
	const char *begin = (const char *)k->data;

	fuzz_require(system >= begin && system + name <= begin + k->size);
	fuzz_require(text >= begin && text + len <= begin + k->size);
	if (k->n == MOST_KEPT)
		return 0;
	struct writer_bytes *b = &k->formats[k->n++];
	fuzz_require(!writer_bytes_add(b, system, name) && !writer_bytes_add(b, text, len));
	return 0;
}

struct same {
	const struct cachefile *kept;
	size_t n;
};

static int compare(void *ctx, const char *system, const char *text, size_t len)
{
	struct same *s = ctx;
	const struct writer_bytes *b = &s->kept->formats[s->n++];
	size_t name = strlen(system) + 1;

	fuzz_require(s->n <= s->kept->n && !strcmp(system, (char *)b->data));
	fuzz_require(len == b->len - name && !memcmp(text, b->data + name, len));
	return 0;
}

static void rebuild(const struct cachefile *k)
{
	struct writer_bytes built = {0};
	struct same s = {.kept = k};
	struct error err = {0};

	fuzz_require(!tracing_build(k->formats, k->n, &built));
	fuzz_require(!tracing_walk(built.data, built.len, compare, &s, &err) && s.n == k->n);
	mem_free(built.data);
}

static void parse(const char *text, size_t len)
{
	struct error err = {0};
	struct trace_event ev;
	struct trace *t;

	fuzz_require(!trace_new(&t, &err));
	int r = trace_parse(t, "lock", text, len, &ev, &err);
	fuzz_require(!r || err.text[0]);
	if (!r && ev.kind != EVENT_NONE) {
		fuzz_require(ev.lock.size == 1 || ev.lock.size == 2 || ev.lock.size == 4 ||
			     ev.lock.size == 8);
		fuzz_require(ev.arg.size >= 1 && ev.arg.size <= 8);
	}
	trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cachefile k = {.data = data, .size = size};
	struct error err = {0};

	int r = tracing_walk(data, size, keep, &k, &err);
	fuzz_require(!r || err.text[0]);
	rebuild(&k);
	for (size_t i = 0; i < k.n; i++) {
		struct writer_bytes *b = &k.formats[i];
		const char *text = (const char *)b->data;
		size_t name = strlen(text) + 1;
		parse(text + name, b->len - name);
		mem_free(b->data);
	}
	parse((const char *)data, size);
	return 0;
}
