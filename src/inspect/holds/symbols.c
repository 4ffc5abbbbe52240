// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses of the variable that was asked for, of the functions at which the programs are, and of
 * the programs: a call chain begins with the program, the trampoline and the function, up to which
 * it is cut.
 */
#include "internal.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/number.h"

#include <errno.h>
#include <string.h>

enum { INNER = 8 };

static bool is_name(const char *name, size_t len, const char *of)
{
	return of && strlen(of) == len && !memcmp(name, of, len);
}

/* Of a line "ffffffff8d934220 D cgroup_mutex", without modules. */
static void take_line(const char *line, size_t len, const char *lock, struct holds_symbols *ret)
{
	const char *at = line, *end = line + len;
	uint64_t addr;

	if (number_take_hex(&at, &addr) < 0 || end - at < 4 || *at != ' ' || at[2] != ' ' || !addr)
		return;
	bool data = strchr("bBdDrR", at[1]), text = at[1] == 'T' || at[1] == 't';
	size_t name = strcspn(at + 3, "\t\n ");
	if (data && is_name(at + 3, name, lock))
		ret->lock = addr;
	if (text && is_name(at + 3, name, "__orc_find"))
		ret->by_frames = false;
	for (size_t i = 0; text && i < HOLDS_FUNCTIONS; i++)
		if (is_name(at + 3, name, holds_functions[i].name))
			ret->functions[i] = addr;
}

int holds_symbols_read(const char *path, const char *lock, struct holds_symbols *ret)
{
	char *text;
	size_t len;
	int code = fdio_read_file(path, &text, &len);

	*ret = (struct holds_symbols){0};
	if (code < 0)
		return code;
#ifdef __x86_64__
	ret->by_frames = true;
#endif
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");
		take_line(line, n, lock, ret);
		line += n + (line[n] == '\n');
	}
	mem_free(text);
	return 0;
}

static bool is_program(const struct holds_symbols *s, uint64_t frame)
{
	for (size_t i = 0; i < s->n_code; i++)
		if (frame - s->code[i].at < s->code[i].len)
			return true;
	return false;
}

uint32_t holds_symbols_inner(const struct holds_symbols *s, const uint64_t *frames, uint32_t n)
{
	uint32_t ret = 0;

	for (uint32_t i = 0; i < n && i < INNER; i++)
		for (size_t k = 0; k < HOLDS_FUNCTIONS; k++)
			if (s->functions[k] && frames[i] - s->functions[k] < RAW_HOLDS_NEAR)
				ret = i + 1;
	if (ret || n == 0 || !is_program(s, frames[0]))
		return ret;
	while (ret < n && is_program(s, frames[ret]))
		ret++;
	return ret < n ? ret + 1 : n;
}
