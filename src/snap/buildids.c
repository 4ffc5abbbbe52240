// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build ids in the format of perf.data. Writers before Linux 5.12 leave the length 0: then it is
 * 20.
 */
#include "kontend/buildids.h"

#include <linux/perf_event.h>
#include <string.h>

enum {
	TYPE_BUILD_ID = 67, /* perfdata.h */
	MISC_SIZE = 1 << 15,
	ID_AT = sizeof(struct perf_event_header) + 4,
	LENGTH_AT = ID_AT + BUILDIDS_ID,
	PATH_AT = ID_AT + 24,
};

size_t buildids_next(const void *payload, size_t len, size_t at, struct buildid *ret)
{
	const uint8_t *p = payload;
	struct perf_event_header h;

	if (at >= len || len - at < sizeof(h))
		return 0;
	p += at;
	memcpy(&h, p, sizeof(h));
	if (h.size <= PATH_AT || h.size > len - at || !memchr(p + PATH_AT, 0, h.size - PATH_AT))
		return 0;
	*ret = (struct buildid){.path = (const char *)p + PATH_AT,
				.len = p[LENGTH_AT] ? p[LENGTH_AT] : BUILDIDS_ID,
				.kernel = (h.misc & PERF_RECORD_MISC_CPUMODE_MASK) !=
					  PERF_RECORD_MISC_USER};
	if (ret->len > BUILDIDS_ID)
		ret->len = 0;
	memcpy(ret->id, p + ID_AT, ret->len);
	return at + h.size;
}

bool buildids_find(const void *payload, size_t len, const char *path, struct buildid *ret)
{
	size_t at = 0;

	while ((at = buildids_next(payload, len, at, ret)))
		if (!ret->kernel && ret->len && !strcmp(ret->path, path))
			return true;
	return false;
}

bool buildids_kernel(const void *payload, size_t len, struct buildid *ret)
{
	static const char mark[] = "[kernel.kallsyms]";
	size_t at = 0;

	while ((at = buildids_next(payload, len, at, ret)))
		if (ret->kernel && ret->len && !strncmp(ret->path, mark, sizeof(mark) - 1))
			return true;
	return false;
}

size_t buildids_put(const char *path, const uint8_t *id, size_t id_len, void *buf, size_t room)
{
	size_t text = strlen(path) + 1, n = (PATH_AT + text + 7) / 8 * 8;
	struct perf_event_header h = {.type = TYPE_BUILD_ID,
				      .misc = PERF_RECORD_MISC_USER | MISC_SIZE,
				      .size = (uint16_t)n};
	int32_t pid = -1;
	uint8_t *p = buf;

	if (n > UINT16_MAX || id_len > BUILDIDS_ID)
		return 0;
	if (n > room)
		return n;
	memset(p, 0, n);
	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h), &pid, sizeof(pid));
	memcpy(p + ID_AT, id, id_len);
	p[LENGTH_AT] = (uint8_t)id_len;
	memcpy(p + PATH_AT, path, text);
	return n;
}
