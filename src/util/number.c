// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/number.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* -1: @c is no digit */
static int number_digit(char c, bool hex)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (hex && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return hex && c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int number_digits(const char **at, bool hex, uint64_t most, uint64_t *ret)
{
	const uint64_t base = hex ? 16 : 10;
	const char *p = *at;
	uint64_t v = 0;

	for (int d; (d = number_digit(*p, hex)) >= 0; p++) {
		if (v > (most - (uint64_t)d) / base || (uint64_t)d > most)
			return -ERANGE;
		v = v * base + (uint64_t)d;
	}
	if (p == *at)
		return -EINVAL;
	*at = p;
	*ret = v;
	return 0;
}

int number_take(const char **at, uint64_t most, uint64_t *ret)
{
	return number_digits(at, false, most, ret);
}

int number_take_hex(const char **at, uint64_t *ret)
{
	const char *p = *at;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	int r = number_digits(&p, true, UINT64_MAX, ret);
	if (r == 0)
		*at = p;
	return r;
}

int number_take_any(const char **at, uint64_t *ret)
{
	bool hex = strncmp(*at, "0x", 2) == 0;

	return hex ? number_take_hex(at, ret) : number_take(at, UINT64_MAX, ret);
}

int number_take_decimal(const char **at, double *ret)
{
	const char *p = *at;
	double v = 0, scale = 1;
	bool has_point = false, has_digit = false;

	for (;; p++) {
		int d = number_digit(*p, false);

		if (d < 0 && (has_point || *p != '.'))
			break;
		if (d < 0) {
			has_point = true;
			continue;
		}
		has_digit = true;
		v = v * 10 + d;
		scale *= has_point ? 10 : 1;
	}
	if (!has_digit)
		return -EINVAL;
	*at = p;
	*ret = v / scale;
	return 0;
}

int number_parse_n(const char *text, size_t n, uint64_t least, uint64_t most, uint64_t *ret)
{
	const char *at = text;
	uint64_t v;
	int r = number_take(&at, most, &v);

	if (r == -ERANGE && strspn(text, "0123456789") != n)
		return -EINVAL;
	if (r < 0)
		return r;
	if (at != text + n)
		return -EINVAL;
	if (v < least)
		return -ERANGE;
	*ret = v;
	return 0;
}

int number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	return number_parse_n(text, strlen(text), least, most, ret);
}
