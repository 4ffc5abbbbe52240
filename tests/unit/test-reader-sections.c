// SPDX-License-Identifier: GPL-2.0-only
/* A file that names one of its parts many times over: it is refused before that costs anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/perfdata.h"
#include "recording.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY = 144, ENTRIES = 500, IDS = 64 << 10, HEAD = sizeof(struct perfdata_header) };

/* Each event asks for the same section, which is nearly all of the file: by the square of it. */
static void test_sections_many_times(void **state)
{
	struct perfdata_header h = {.magic = PERFDATA_MAGIC,
				    .size = HEAD,
				    .attr_size = ENTRY,
				    .attrs = {HEAD, ENTRIES * ENTRY},
				    .data = {HEAD + ENTRIES * ENTRY, IDS}};
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = ENTRY - 16};
	static uint8_t file[HEAD + ENTRIES * ENTRY + IDS];
	struct recording_result res;

	(void)state;
	memcpy(file, &h, HEAD);
	for (size_t i = 0; i < ENTRIES; i++) {
		memcpy(file + HEAD + i * ENTRY, &attr, ENTRY - 16);
		memcpy(file + HEAD + (i + 1) * ENTRY - 16, &h.data, 16);
	}
	recording_read_bytes(&res, file, sizeof(file));
	assert_int_equal(res.answer, -EINVAL);
	assert_non_null(strstr(res.err.text, "have more bytes than the file"));
	recording_result_free(&res);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sections_many_times)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
