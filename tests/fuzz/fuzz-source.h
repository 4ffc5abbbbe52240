/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_FUZZ_SOURCE_H
#define KONTEND_TESTS_FUZZ_SOURCE_H

#include "fuzz.h"
#include "kontend/reader.h"

/*
 * Takes all records of a reader, each of which must be whole: it ends, or fails with a sentence,
 * and memory stays within what inputs of fuzzers can ask for.
 */
static inline void fuzz_drain(struct source *s)
{
	enum { MOST_RECORDS = 1 << 20, MOST_HELD = 64 << 20 };
	struct reader_stat stat;
	struct error err = {0};
	struct record rec;
	unsigned n = 0;
	int r;

	while ((r = source_next(s, 0, &rec, &err)) == 0) {
		fuzz_require(n++ < MOST_RECORDS);
		fuzz_require(rec.kind >= RECORD_PERF && rec.kind <= RECORD_SNAPSHOT);
		fuzz_require(rec.kind != RECORD_PERF || (rec.len && (uintptr_t)rec.data % 8 == 0));
		source_release(s, &rec);
	}
	fuzz_require(r == SOURCE_END || (r < 0 && err.text[0]));
	reader_stat(s, &stat);
	fuzz_require(stat.held_bytes < MOST_HELD);
}

/* The code of the recorded kernel, wherever its memory says that it is. */
static inline void fuzz_code(struct source *s)
{
	static const uint64_t places[] = {0, 0x400000, 0xffffffff81000000, UINT64_MAX - 15};
	struct codesource *c = reader_code(s);
	uint8_t bytes[64];
	size_t n = 0;

	for (size_t i = 0; c && i < sizeof(places) / sizeof(*places); i++)
		fuzz_require(c->read(c->ctx, places[i], bytes, sizeof(bytes), &n) || n);
}

/* Reads all records of the recording, and if it can be read again, does so. */
static inline void fuzz_read(const struct reader_options *o)
{
	struct error err = {0};
	struct source *s;

	if (reader_new(&s, o, &err)) {
		fuzz_require(err.text[0]);
		return;
	}
	fuzz_code(s);
	fuzz_drain(s);
	if (!source_seek(s, 0, &err))
		fuzz_drain(s);
	source_free(s);
}

#endif
