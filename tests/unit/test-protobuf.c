// SPDX-License-Identifier: GPL-2.0-only
/* Messages in an arena, written as they are and by gzip; memory and files that fail. */
#include "kontend/gzip.h"
#include "kontend/mem.h"
#include "kontend/protobuf.h"
#include "metrics.pb-c.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

typedef Io__Prometheus__Client__MetricFamily family;
typedef Io__Prometheus__Client__Metric metric;

enum { METRICS = 3, BYTES = 100000 };

static family *make(struct protobuf *p)
{
	family *f = PROTOBUF_MESSAGE(p, family, IO__PROMETHEUS__CLIENT__METRIC_FAMILY__INIT);
	metric *m = f ? PROTOBUF_MESSAGES(p, METRICS, metric, IO__PROMETHEUS__CLIENT__METRIC__INIT,
					  &f->metric)
		      : NULL;

	if (m)
		f->n_metric = METRICS;
	if (f)
		f->name = protobuf_str(p, "waits and more", strlen("waits"));
	for (size_t i = 0; m && i < METRICS; i++)
		assert_ptr_equal(f->metric[i], &m[i]);
	return f;
}

static void test_write(void **state)
{
	struct protobuf p = {0};
	family *f = make(&p);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_false(p.failed);
	assert_string_equal(f->name, "waits");
	assert_int_equal(protobuf_write(f, false, out), 0);
	fclose(out);
	family *got = io__prometheus__client__metric_family__unpack(NULL, size, (uint8_t *)text);
	assert_non_null(got);
	assert_string_equal(got->name, "waits");
	assert_int_equal(got->n_metric, METRICS);
	io__prometheus__client__metric_family__free_unpacked(got, NULL);
	free(text);
	arena_deinit(&p.arena);
	assert_int_equal(mem_live(), 0);
}

static void test_gzip(void **state)
{
	static uint8_t bytes[BYTES], got[BYTES + 1];
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct gzip *g = gzip_new(out);
	z_stream z = {0};

	(void)state;
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(i * i >> 7);
	for (size_t i = 0; i < BYTES; i += 100)
		gzip_put(g, bytes + i, 100);
	assert_int_equal(gzip_end(g), 0);
	fclose(out);
	assert_true(size < BYTES);
	inflateInit2(&z, 16 + MAX_WBITS);
	z.next_in = (uint8_t *)text;
	z.avail_in = (unsigned)size;
	z.next_out = got;
	z.avail_out = sizeof(got);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, BYTES);
	assert_memory_equal(got, bytes, BYTES);
	inflateEnd(&z);
	free(text);
	assert_int_equal(mem_live(), 0);
}

static void test_no_memory(void **state)
{
	(void)state;
	for (long n = 0;; n++) {
		struct protobuf p = {0};

		mem_fail_after(n);
		make(&p);
		mem_fail_after(-1);
		bool failed = p.failed;
		arena_deinit(&p.arena);
		assert_int_equal(mem_live(), 0);
		if (!failed)
			break;
		assert_true(n < 10);
	}
	mem_fail_after(0);
	assert_int_equal(
		protobuf_write(&(family)IO__PROMETHEUS__CLIENT__METRIC_FAMILY__INIT, true, stderr),
		-ENOMEM);
	mem_fail_after(-1);
}

static void test_full_disk(void **state)
{
	struct protobuf p = {0};
	family *f = make(&p);

	(void)state;
	for (int packed = 0; packed < 2; packed++) {
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		setvbuf(full, NULL, _IONBF, 0);
		assert_int_equal(protobuf_write(f, packed, full), -ENOSPC);
		fclose(full);
	}
	arena_deinit(&p.arena);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
