// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which PMUs rotate, from sysfs. Every PMU has a file perf_event_mux_interval_ms; those that never
 * rotate say 0, and taking another number from it changes nothing for them.
 */
#include "kontend/pmus.h"
#include "kontend/sysinfo.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 512 };

static uint32_t read_number(const char *dir, const char *pmu, const char *file)
{
	char path[PATH];

	snprintf(path, sizeof(path), "%s/%.64s/%s", dir, pmu, file);
	int64_t v = sysinfo_number(path, 0);
	return v > 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
}

static int by_name(const void *a, const void *b)
{
	const struct pmus_item *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void pmus_read(const char *dir, struct pmus *ret)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	memset(ret, 0, sizeof(*ret));
	while (d && ret->n < PMUS_MOST && (e = readdir(d))) {
		if (e->d_name[0] == '.' || strlen(e->d_name) >= PMUS_NAME)
			continue;
		uint32_t ms = read_number(dir, e->d_name, "perf_event_mux_interval_ms");
		if (!ms)
			continue;
		struct pmus_item *item = &ret->items[ret->n++];
		snprintf(item->name, sizeof(item->name), "%s", e->d_name);
		item->type = read_number(dir, e->d_name, "type");
		item->interval_ms = ms;
	}
	if (d)
		closedir(d);
	qsort(ret->items, ret->n, sizeof(ret->items[0]), by_name);
}
