// SPDX-License-Identifier: GPL-2.0-only
/* Names of the levels, and their record: the plain struct, with its text terminated. */
#include "kontend/mmlevel.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[MMLEVELS] = {
	[MMLEVEL_CONTENDED] = "contended",
	[MMLEVEL_SAMPLED] = "sampled",
	[MMLEVEL_WAS_PID] = "", /* no name selects it */
	[MMLEVEL_ALL] = "all",
};

const char *mmlevel_name(uint32_t level)
{
	return level < MMLEVELS ? names[level] : "?";
}

static int parse_one_in(const char *text, size_t len, uint32_t *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || end != text + len || n < 2 || n > MMLEVEL_MOST)
		return -EINVAL;
	*ret = (uint32_t)n;
	return 0;
}

/* Parses the level alone, of @n characters. */
static int parse_level(const char *text, size_t n, struct mmlevel_how *ret)
{
	size_t len = strcspn(text, "=,");
	uint32_t level = 0;

	if (!len)
		return -EINVAL;
	while (level < MMLEVELS && (strlen(names[level]) != len || memcmp(names[level], text, len)))
		level++;
	if (level == MMLEVELS || (len < n && level != MMLEVEL_SAMPLED))
		return -EINVAL;
	*ret = (struct mmlevel_how){.level = level, .asked = level, .one_in = 1};
	if (level == MMLEVEL_SAMPLED)
		ret->one_in = MMLEVEL_ONE_IN;
	return len < n ? parse_one_in(text + len + 1, n - len - 1, &ret->one_in) : 0;
}

int mmlevel_parse(const char *text, struct mmlevel_how *ret)
{
	static const char paths[] = ",paths";
	size_t n = strcspn(text, ",");
	int code = parse_level(text, n, ret);

	if (code < 0 || !text[n])
		return code;
	ret->paths = 1;
	return strcmp(text + n, paths) == 0 && ret->level != MMLEVEL_CONTENDED ? 0 : -EINVAL;
}

bool mmlevel_decode(const void *data, size_t len, struct mmlevel_how *ret)
{
	/* The sizes of all versions. */
	if (len != sizeof(*ret) && len != offsetof(struct mmlevel_how, memcg_told) &&
	    len != offsetof(struct mmlevel_how, counted))
		return false;
	*ret = (struct mmlevel_how){0};
	memcpy(ret, data, len);
	ret->reason[MMLEVEL_REASON - 1] = 0;
	ret->paths = ret->paths != 0;
	if (ret->level == MMLEVEL_WAS_PID)
		ret->level = MMLEVEL_ALL;
	if (ret->asked == MMLEVEL_WAS_PID)
		ret->asked = MMLEVEL_ALL;
	return ret->level < MMLEVELS && ret->asked < MMLEVELS && ret->one_in &&
	       ret->from_ns <= ret->to_ns;
}
