// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processors with CPUs of several kinds have a PMU for each kind (cpu_core and cpu_atom, or one for
 * each core of arm64), whose folder in sysfs has a file `cpus`. The hardware events of a CPU are
 * those of its own PMU; the upper half of perf_event_attr.config names it. Machines with one PMU
 * have no such file, or only one.
 */
#include "kontend/hybrid.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/sysinfo.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 512, LINE = 4096, TYPE_SHIFT = 32 };

static bool read_line(const char *path, char *ret, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(ret, (int)size, f);

	if (f)
		fclose(f);
	if (ok)
		ret[strcspn(ret, "\n")] = '\0';
	return ok;
}

/* True: it is the PMU of some CPUs. */
static bool read_pmu(const char *dir, const char *name, struct hybrid_pmu *ret)
{
	char path[PATH], line[LINE];

	snprintf(path, sizeof(path), "%s/%.64s/type", dir, name);
	int64_t type = sysinfo_number(path, -1);
	snprintf(path, sizeof(path), "%s/%.64s/cpus", dir, name);
	if (type < 0 || type > UINT32_MAX || !read_line(path, line, sizeof(line)))
		return false;
	*ret = (struct hybrid_pmu){.type = (uint32_t)type};
	return !cpulist_parse(line, &ret->cpus, &ret->n_cpus);
}

void hybrid_read(const char *dir, struct hybrid *ret)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	*ret = (struct hybrid){0};
	while (d && ret->n < HYBRID_MOST && (e = readdir(d)))
		if (e->d_name[0] != '.')
			ret->n += read_pmu(dir, e->d_name, &ret->pmus[ret->n]);
	if (d)
		closedir(d);
	/* One PMU for all: the kernel finds it. */
	if (ret->n < 2)
		hybrid_deinit(ret);
}

void hybrid_deinit(struct hybrid *h)
{
	for (size_t i = 0; i < h->n; i++)
		mem_free(h->pmus[i].cpus);
	*h = (struct hybrid){0};
}

bool hybrid_choose(const struct hybrid *h, int cpu, struct perf_event_attr *attr)
{
	if (attr->type != PERF_TYPE_HARDWARE || attr->config >> TYPE_SHIFT || cpu < 0)
		return false;
	for (size_t i = 0; i < h->n; i++) {
		if (!cpulist_has(h->pmus[i].cpus, h->pmus[i].n_cpus, (uint32_t)cpu))
			continue;
		attr->config |= (uint64_t)h->pmus[i].type << TYPE_SHIFT;
		return true;
	}
	return false;
}
