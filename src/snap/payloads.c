// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots whose payload is a plain struct, in native byte order like the whole recording. They
 * may come from files: the decoders trust no length, no number and no text. All texts of a decoded
 * struct are terminated; those of an incident have no control characters, either. An incident of a
 * later version may be longer.
 */
#include "kontend/incident.h"
#include "kontend/mmlevel.h"
#include "kontend/number.h"
#include "kontend/pmus.h"
#include <errno.h>
#include <string.h>

static void clean_incident_text(char *text, size_t size)
{
	text[size - 1] = 0;
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

bool incident_decode(const void *data, size_t len, struct incident *ret)
{
	/* The two of kontend 1 had less. */
	if (len < sizeof(*ret) && len != offsetof(struct incident, chain) &&
	    len != offsetof(struct incident, syscall))
		return false;
	*ret = (struct incident){0};
	memcpy(ret, data, len < sizeof(*ret) ? len : sizeof(*ret));
	clean_incident_text(ret->expr, sizeof(ret->expr));
	clean_incident_text(ret->fired, sizeof(ret->fired));
	clean_incident_text(ret->lock_name, sizeof(ret->lock_name));
	clean_incident_text(ret->task, sizeof(ret->task));
	clean_incident_text(ret->because, sizeof(ret->because));
	clean_incident_text(ret->chain, sizeof(ret->chain));
	clean_incident_text(ret->syscall, sizeof(ret->syscall));
	clean_incident_text(ret->at, sizeof(ret->at));
	return ret->fired_ns && ret->begin_ns <= ret->fired_ns && ret->from_ns <= ret->to_ns &&
	       (!ret->end_ns || ret->end_ns >= ret->begin_ns);
}

const struct pmus_item *pmus_find(const struct pmus *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (strcmp(p->items[i].name, name) == 0)
			return &p->items[i];
	}
	return NULL;
}

size_t pmus_size(const struct pmus *p)
{
	return offsetof(struct pmus, items) + p->n * sizeof(p->items[0]);
}

bool pmus_decode(const void *data, size_t len, struct pmus *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (len < offsetof(struct pmus, items) || len > sizeof(*ret))
		return false;
	memcpy(ret, data, len);
	if (ret->n > PMUS_MOST || pmus_size(ret) != len) {
		memset(ret, 0, sizeof(*ret));
		return false;
	}
	ret->reason[PMUS_REASON - 1] = 0;
	for (uint32_t i = 0; i < ret->n; i++)
		ret->items[i].name[PMUS_NAME - 1] = 0;
	return true;
}

static const char *const level_names[MMLEVELS] = {
	[MMLEVEL_CONTENDED] = "contended",
	[MMLEVEL_SAMPLED] = "sampled",
	[MMLEVEL_WAS_PID] = "", /* no name selects it */
	[MMLEVEL_ALL] = "all",
};

const char *mmlevel_name(uint32_t level)
{
	return level < MMLEVELS ? level_names[level] : "?";
}

static int parse_one_in(const char *text, size_t len, uint32_t *ret)
{
	uint64_t n;

	if (number_parse_n(text, len, 2, MMLEVEL_MOST, &n) < 0)
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
	while (level < MMLEVELS &&
	       (strlen(level_names[level]) != len || memcmp(level_names[level], text, len)))
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
	if (len != sizeof(*ret) && len != offsetof(struct mmlevel_how, memcg_reported) &&
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
