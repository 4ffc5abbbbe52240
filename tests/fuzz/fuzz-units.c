// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text as a number with a unit, and any eight bytes as a number to be shown: an answer is left
 * alone on failure, no figure is wider than six columns, and what is shown is read back as about
 * the same.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/units.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static void check_shape(const char *text)
{
	size_t digits = 0, most = 3;

	for (const char *p = text; *p; p++) {
		digits += *p >= '0' && *p <= '9';
		/* Of two units: "59m59s". */
		if ((*p == 'm' || *p == 'h') && p[1] >= '0' && p[1] <= '9')
			most = 4;
	}
	fuzz_require(strlen(text) >= 1 && strlen(text) <= 6);
	fuzz_require(digits <= most);
}

static void check_formats(const uint8_t *data)
{
	char buf[UNITS_BUF];
	uint64_t v, back;
	double real;

	memcpy(&v, data, sizeof(v));
	memcpy(&real, data, sizeof(real));
	check_shape(units_count(buf, v));
	check_shape(units_bytes(buf, v));
	check_shape(units_rate(buf, real));
	check_shape(units_nsrate(buf, real));
	check_shape(units_pct(buf, real));
	check_shape(units_ns(buf, v));
	if (v < 3600000000000) {
		fuzz_require(units_parse_ns(buf, &back) == 0);
		/* Half of the last digit; of a minute it is a second. */
		fuzz_require(fabs((double)back - (double)v) <=
			     (double)v * (v < 59950000000 ? 0.0051 : 0.0084));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = mem_calloc(size + 1, 1);
	uint64_t ns = 1234, count = 1234;

	fuzz_require(s);
	memcpy(s, data, size);
	int r = units_parse_ns(s, &ns);
	fuzz_require(r == 0 || (r == -EINVAL && ns == 1234));
	r = units_parse_count(s, &count);
	fuzz_require(r == 0 || ((r == -EINVAL || r == -ERANGE) && count == 1234));
	if (size >= sizeof(uint64_t))
		check_formats(data);
	mem_free(s);
	return 0;
}
