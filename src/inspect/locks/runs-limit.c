// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit of CPU time of a task, by files: /proc/TID/cgroup names its cgroup, and the mounts
 * where that is. Version 2 has cpu.max and cpu.stat, version 1 cpu.cfs_quota_us and its own
 * cpu.stat.
 */
#include "runs-limit.h"
#include "kontend/mem.h"
#include "kontend/sysinfo.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 4096, SMALL = 1024 };

static const uint64_t US = 1000;

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, word, n) == 0 && (p[n] == ',' || !p[n]))
			return true;
	}
	return false;
}

/* The folder in which the hierarchy is mounted. */
static bool find_mount(const char *proc, bool v2, char *ret, size_t size)
{
	char path[PATH_MAX], line[LINE], at[LINE], kind[32], options[SMALL];
	bool found = false;

	snprintf(path, sizeof(path), "%s/self/mounts", proc);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %4095s %31s %1023s", at, kind, options) != 3)
			continue;
		found = v2 ? strcmp(kind, "cgroup2") == 0
			   : strcmp(kind, "cgroup") == 0 && has_word(options, "cpu");
		found &= strlen(at) < size;
	}
	if (f)
		fclose(f);
	if (found)
		memcpy(ret, at, strlen(at) + 1);
	return found;
}

/* Its cgroup in that hierarchy: "/app/worker". */
static bool find_group(const char *proc, int32_t tid, bool v2, char *ret, size_t size)
{
	char path[PATH_MAX], line[LINE];
	bool found = false;

	snprintf(path, sizeof(path), "%s/%" PRId32 "/cgroup", proc, tid);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *of = strchr(line, ':'), *group = of ? strchr(of + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = 0;
		group[strcspn(group, "\n")] = 0;
		found = v2 ? !of[1] : has_word(of + 1, "cpu");
		found &= strlen(group) < size;
		if (found)
			memcpy(ret, group, strlen(group) + 1);
	}
	if (f)
		fclose(f);
	return found;
}

static bool read_file(const char *folder, const char *name, char *ret, size_t size)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return sysinfo_read(path, ret, size) > 0;
}

/* The number after a word at the begin of a line. */
static bool number_of(const char *text, const char *word, uint64_t *ret)
{
	size_t n = strlen(word);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, word, n) == 0 && sscanf(p + n, " %" SCNu64, ret) == 1)
			return true;
	}
	return false;
}

static bool read_limit(const char *folder, bool v2, struct runs_limit *ret)
{
	char text[SMALL];
	uint64_t quota, period;

	if (v2) {
		if (!read_file(folder, "cpu.max", text, sizeof(text)) ||
		    sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) != 2)
			return false;
	} else {
		if (!read_file(folder, "cpu.cfs_quota_us", text, sizeof(text)) || *text == '-' ||
		    sscanf(text, "%" SCNu64, &quota) != 1 ||
		    !read_file(folder, "cpu.cfs_period_us", text, sizeof(text)) ||
		    sscanf(text, "%" SCNu64, &period) != 1)
			return false;
	}
	ret->quota_ns = quota * US;
	ret->period_ns = period * US;
	if (!read_file(folder, "cpu.stat", text, sizeof(text)))
		return false;
	if (!v2)
		return number_of(text, "throttled_time", &ret->throttled_ns);
	if (!number_of(text, "throttled_usec", &ret->throttled_ns))
		return false;
	ret->throttled_ns *= US;
	return true;
}

static bool search(const char *proc, int32_t tid, bool v2, struct runs_limit *ret)
{
	char mount[SMALL], folder[SMALL + RUNS_GROUP];

	if (!find_mount(proc, v2, mount, sizeof(mount)) ||
	    !find_group(proc, tid, v2, ret->group, sizeof(ret->group)))
		return false;
	while (ret->group[0] == '/' && ret->group[1]) {
		snprintf(folder, sizeof(folder), "%s%s", mount, ret->group);
		if (read_limit(folder, v2, ret))
			return true;
		*strrchr(ret->group, '/') = 0;
	}
	return false;
}

bool runs_limit_read(const char *proc, int32_t tid, struct runs_limit *ret)
{
	*ret = (struct runs_limit){0};
	return search(proc, tid, true, ret) || search(proc, tid, false, ret);
}
