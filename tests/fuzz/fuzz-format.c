// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the container of tracepoint formats, and as the text of one: what is handed out lies
 * within, and a format that is taken has fields that can be loaded. A container built from what was
 * found says the same again.
 */
#include "../../src/file/tracing.h"
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/trace.h"
#include <string.h>

enum { MOST_KEPT = 16 };

struct kept {
	const uint8_t *data;
	size_t size;
	struct tracing_event events[MOST_KEPT];
	size_t n;
};

static int keep(void *ctx, const char *system, const char *text, size_t len)
{
	struct kept *k = ctx;
	size_t name = strlen(system) + 1;
	const char *begin = (const char *)k->data;

	fuzz_require(system >= begin && system + name <= begin + k->size);
	fuzz_require(text >= begin && text + len <= begin + k->size);
	if (k->n == MOST_KEPT)
		return 0;
	char *body = mem_calloc(1, name + len);
	fuzz_require(body);
	memcpy(body, system, name);
	memcpy(body + name, text, len);
	k->events[k->n++] = (struct tracing_event){.body = body, .len = name + len};
	return 0;
}

struct same {
	const struct kept *kept;
	size_t n;
};

static int compare(void *ctx, const char *system, const char *text, size_t len)
{
	struct same *s = ctx;
	const struct tracing_event *e = &s->kept->events[s->n++];

	fuzz_require(s->n <= s->kept->n && !strcmp(system, e->body));
	fuzz_require(len == e->len - strlen(e->body) - 1);
	fuzz_require(!memcmp(text, e->body + strlen(e->body) + 1, len));
	return 0;
}

static void rebuild(const struct kept *k)
{
	size_t need = tracing_build(k->events, k->n, NULL, 0);
	struct same s = {.kept = k};
	struct error err = {0};
	uint8_t *buf = mem_calloc(1, need);

	fuzz_require(buf && tracing_build(k->events, k->n, buf, need) == need);
	fuzz_require(!tracing_walk(buf, need, compare, &s, &err) && s.n == k->n);
	mem_free(buf);
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
	struct kept k = {.data = data, .size = size};
	struct error err = {0};

	int r = tracing_walk(data, size, keep, &k, &err);
	fuzz_require(!r || err.text[0]);
	rebuild(&k);
	for (size_t i = 0; i < k.n; i++) {
		const char *text = k.events[i].body + strlen(k.events[i].body) + 1;
		parse(text, k.events[i].len - (size_t)(text - k.events[i].body));
	}
	for (size_t i = 0; i < k.n; i++)
		mem_free((char *)(uintptr_t)k.events[i].body);
	parse((const char *)data, size);
	return 0;
}
