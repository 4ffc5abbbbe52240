// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as the trace entry of an event of mmap_locks, whose format is of the first bytes: which
 * event (1), the offset of the memory cgroup (2, little endian), its size (1), and if it is a path
 * (1). Wherever the entry says that the path lies, what is handed out ends within the entry.
 */
#include "fuzz.h"
#include "kontend/decode.h"
#include "kontend/mem.h"
#include <linux/perf_event.h>
#include <string.h>

enum { HEAD = 5, EVENT_ID = 401, MOST_RAW = 60000 };

static const char form[] = "name: mmap_lock_%s\nID: %d\nformat:\n"
			   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			   "\tfield:struct mm_struct * mm;\toffset:8;\tsize:8;\tsigned:0;\n"
			   "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:0;\n"
			   "\tfield:bool write;\toffset:20;\tsize:1;\tsigned:0;\n"
			   "\tfield:bool success;\toffset:21;\tsize:1;\tsigned:0;\n";

struct sample {
	struct perf_event_header header;
	uint64_t id, time;
	uint32_t len; /* the entry follows */
	uint8_t raw[];
};

static void set_up(struct decode *d, const uint8_t *head)
{
	static const char *const names[] = {"start_locking", "acquire_returned", "released"};
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} a = {.attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(a.attr), .config = EVENT_ID},
	       .id = 7};
	const char *field = head[4] & 1 ? "__data_loc char[] memcg_path" : "u64 memcg_id";
	unsigned offset = head[1] | (unsigned)head[2] << 8;
	char text[1024] = "mmap_lock";
	struct error err = {0};
	size_t n = strlen(text) + 1;

	n += (size_t)snprintf(text + n, sizeof(text) - n, form, names[head[0] % 3], EVENT_ID, field,
			      offset, head[3]);
	fuzz_require(n < sizeof(text));
	a.attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
	fuzz_require(!decode_init(d, &err));
	fuzz_require(!decode_add_format(d, text, n, &err));
	fuzz_require(!decode_add_attr(d, &a, sizeof(a), &err));
}

/* The block ends where the entry does, but for padding to a multiple of 8 bytes. */
static struct sample *make_sample(const uint8_t *raw, size_t len)
{
	size_t size = (offsetof(struct sample, raw) + len + 7) / 8 * 8;
	struct sample *s = mem_calloc(1, size);

	fuzz_require(s);
	s->header = (struct perf_event_header){.type = PERF_RECORD_SAMPLE, .size = (uint16_t)size};
	s->id = 7;
	s->time = 1000;
	s->len = (uint32_t)len;
	memcpy(s->raw, raw, len);
	/* No text may end in the bytes after the entry. */
	memset(s->raw + len, 'x', size - offsetof(struct sample, raw) - len);
	return s;
}

static void check(const struct event *ev, const struct sample *s, const uint8_t *head)
{
	const char *path = ev->mm.memcg, *raw = (const char *)s->raw;

	fuzz_require(ev->kind >= EVENT_MM_START && ev->kind <= EVENT_MM_RELEASED);
	fuzz_require(s->len > 20);
	fuzz_require(!path || (head[4] & 1));
	fuzz_require(!ev->mm.memcg_id || !(head[4] & 1));
	if (!path)
		return;
	fuzz_require(path >= raw && path < raw + s->len);
	fuzz_require(memchr(path, 0, (size_t)(raw + s->len - path)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event ev = {0};
	struct decode d;
	size_t got;

	if (size < HEAD || size - HEAD > MOST_RAW)
		return 0;
	set_up(&d, data);
	struct sample *s = make_sample(data + HEAD, size - HEAD);
	if (!decode_event(&d, s, s->header.size, 0, &ev, &got))
		check(&ev, s, data);
	fuzz_require(got == s->header.size);
	mem_free(s);
	decode_deinit(&d);
	return 0;
}
