// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the PMUs that rotate, in sysfs. Every PMU has a file perf_event_mux_interval_ms. Those that
 * never rotate have 0 there on Linux 6.1, but on 6.18 the same value as all others, so they are
 * recognized by name: they accept any number of events.
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

static bool never_rotates(const char *pmu)
{
	static const char *const names[] = {"software", "tracepoint",  "breakpoint",
					    "kprobe",	"uprobe",      "msr",
					    "power",	"cstate_core", "cstate_pkg"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(pmu, names[i]) == 0)
			return true;
	}
	return false;
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
		if (e->d_name[0] == '.' || strlen(e->d_name) >= PMUS_NAME ||
		    never_rotates(e->d_name))
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
