// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chunks of snapshots in any order and of any words about themselves, between rounds: a recording
 * is built around them, so that all of the input is about joining. Each line of 8 bytes is a chunk:
 * its kind, its offset, the size of the whole, the size of this part. A snapshot that is handed out
 * was joined from chunks that fit; no chunk stays in memory, and the rest of the stream is
 * unharmed.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "kontend/reader.h"
#include "kontend/snapshot.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_CHUNKS = 256, LINE = 8, UNIT = 16, RAW_HEAD = 48 };

static void write_bytes(int fd, const void *data, size_t len)
{
	fuzz_require(write(fd, data, len) == (ssize_t)len);
}

static void put_head(int fd)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = 128,
				    .config = PERF_COUNT_SW_BPF_OUTPUT,
				    .sample_type = PERFDATA_EXT_SAMPLE,
				    .sample_id_all = 1};
	struct perf_event_header h = {.type = PERFDATA_TYPE_ATTR, .size = sizeof(h) + 128 + 8};
	uint64_t words[2] = {PERFDATA_MAGIC, PERFDATA_PIPE_HEADER}, id = PERFDATA_EXT_ID;

	write_bytes(fd, words, sizeof(words));
	write_bytes(fd, &h, sizeof(h));
	write_bytes(fd, &a, 128);
	write_bytes(fd, &id, sizeof(id));
}

static void put_sample(int fd, const struct perfdata_ext *own, const void *body, size_t len)
{
	uint8_t buf[1024] = {0};
	uint64_t id = PERFDATA_EXT_ID;
	uint32_t raw = (uint32_t)(sizeof(*own) + len);
	size_t size = (RAW_HEAD + sizeof(raw) + raw + 7) / 8 * 8;
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE, .size = (uint16_t)size};

	raw = (uint32_t)(size - RAW_HEAD - sizeof(raw));
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), &id, sizeof(id));
	memcpy(buf + RAW_HEAD, &raw, sizeof(raw));
	memcpy(buf + RAW_HEAD + sizeof(raw), own, sizeof(*own));
	memcpy(buf + RAW_HEAD + sizeof(raw) + sizeof(*own), body, len);
	write_bytes(fd, buf, size);
}

/* Sizes count in units, so that few values of a byte meet often. */
static void put_chunk(int fd, const uint8_t *line)
{
	static const uint8_t zero[16 * UNIT];
	struct record_snapshot head = {.kind = line[6], .version = 1, .time_ns = line[7]};
	struct perfdata_ext own = {.magic = PERFDATA_EXT_MAGIC,
				   .version = PERFDATA_EXT_VERSION,
				   .kind = RECORD_SNAPSHOT,
				   .flags = line[0] & 1,
				   .here = (uint16_t)(line[1] % 16 * UNIT),
				   .offset = line[2] * UNIT,
				   .stored = line[3] * UNIT,
				   .length = line[4] == line[3] ? line[4] * UNIT : line[4] << 16};
	uint8_t body[sizeof(zero)] = {0};

	if (line[0] & 2) {
		own.kind = RECORD_ROUND;
		own.stored = own.length = own.here = sizeof(uint64_t);
		own.offset = 0;
		own.flags = 0;
	}
	memcpy(body, &head, sizeof(head));
	put_sample(fd, &own, body, line[0] & 4 ? own.here / 2 : own.here);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	size_t n = size / LINE < MOST_CHUNKS ? size / LINE : MOST_CHUNKS, rounds = 0, seen = 0;
	long live = mem_live();
	char path[64];
	struct reader_options o = {.path = path, .no_symbols = true, .window_bytes = 4096};
	struct record_snapshot head;
	struct error err = {0};
	struct reader_stat stat;
	struct source *s;
	struct record rec;
	int r;

	put_head(fd);
	for (size_t i = 0; i < n; i++) {
		rounds += data[i * LINE] >> 1 & 1 && !(data[i * LINE] & 4);
		put_chunk(fd, data + i * LINE);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_require(!reader_new(&s, &o, &err));
	while ((r = source_next(s, 0, &rec, &err)) == 0) {
		fuzz_require(rec.kind != RECORD_SNAPSHOT ||
			     snapshot_parse(rec.data, rec.len, &head));
		seen += rec.kind == RECORD_ROUND;
		source_release(s, &rec);
	}
	fuzz_require(r == SOURCE_END && seen >= rounds);
	reader_stat(s, &stat);
	fuzz_require(!stat.held_bytes && stat.bad_records <= 2 * n);
	source_free(s);
	close(fd);
	fuzz_require(mem_live() == live);
	return 0;
}
