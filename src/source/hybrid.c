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
	snprintf(ret->name, sizeof(ret->name), "%.63s", name);
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

/* h->n: none. */
static size_t pmu_of(const struct hybrid *h, uint32_t cpu)
{
	size_t i = 0;

	while (i < h->n && !cpulist_has(h->pmus[i].cpus, h->pmus[i].n_cpus, cpu))
		i++;
	return i;
}

static bool is_open(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE && !(attr->config >> TYPE_SHIFT);
}

bool hybrid_choose(const struct hybrid *h, int cpu, struct perf_event_attr *attr)
{
	size_t i = is_open(attr) && cpu >= 0 ? pmu_of(h, (uint32_t)cpu) : h->n;

	if (i < h->n)
		attr->config |= (uint64_t)h->pmus[i].type << TYPE_SHIFT;
	return i < h->n;
}

size_t hybrid_part(const struct hybrid *h, size_t pmu, struct perf_event_attr *attr,
		   const uint32_t *cpus, size_t n_cpus, const uint64_t *ids, size_t per_cpu,
		   uint64_t *ret)
{
	size_t n = 0;

	if (pmu < h->n && is_open(attr))
		attr->config |= (uint64_t)h->pmus[pmu].type << TYPE_SHIFT;
	for (size_t c = 0; c < n_cpus; c++)
		for (size_t i = 0; pmu_of(h, cpus[c]) == pmu && i < per_cpu; i++)
			ret[n++] = ids[c * per_cpu + i];
	return n;
}
