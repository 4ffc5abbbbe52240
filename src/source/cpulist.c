// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU lists as the kernel writes them and users type them. Parsing marks a bit for each CPU, so the
 * array is ascending and without repeats, whatever the order of the text.
 *
 * struct cpu_watch keeps such a file of the kernel open. Reading it takes a microsecond whatever
 * the number of CPUs, so the collector reads it each time that it drains the rings.
 */
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/sysinfo.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Marks the CPUs of @list in @bits and counts them. */
static int mark_cpus(const char *list, uint64_t *bits, size_t *ret_n)
{
	const char *p = list;
	uint64_t first, last;

	for (;;) {
		if (number_take(&p, CPULIST_MAX - 1, &first) < 0)
			return -EINVAL;
		last = first;
		if (*p == '-' && (p++, number_take(&p, CPULIST_MAX - 1, &last) < 0 || last < first))
			return -EINVAL;
		for (uint64_t c = first; c <= last; c++) {
			*ret_n += !(bits[c / 64] >> c % 64 & 1);
			bits[c / 64] |= 1ull << c % 64;
		}
		if (!*p)
			return 0;
		if (*p++ != ',')
			return -EINVAL;
	}
}

int cpulist_parse(const char *list, uint32_t **ret, size_t *ret_n)
{
	uint64_t *bits = mem_calloc(CPULIST_MAX / 64, sizeof(*bits));
	uint32_t *cpus = NULL;
	size_t n = 0, k = 0;

	if (!bits)
		return -ENOMEM;
	int r = mark_cpus(list, bits, &n);
	if (r == 0) {
		cpus = mem_calloc(n, sizeof(*cpus));
		r = cpus ? 0 : -ENOMEM;
	}
	for (uint32_t c = 0; r == 0 && k < n; c++) {
		if (bits[c / 64] >> c % 64 & 1)
			cpus[k++] = c;
	}
	mem_free(bits);
	if (r == 0) {
		*ret = cpus;
		*ret_n = n;
	}
	return r;
}

int cpulist_read(const char *which, uint32_t **ret, size_t *ret_n)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", which);
	int r = sysinfo_read(path, text, sizeof(text));
	return r < 0 ? r : cpulist_parse(text, ret, ret_n);
}

const char *cpulist_format(const uint32_t *cpus, size_t n, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0, j; i < n && used < size; i = j) {
		for (j = i + 1; j < n && cpus[j] == cpus[j - 1] + 1;)
			j++;
		int w = snprintf(buf + used, size - used, "%s%u", i ? "," : "", cpus[i]);
		used += (size_t)w;
		if (j > i + 1 && used < size)
			used += (size_t)snprintf(buf + used, size - used, "-%u", cpus[j - 1]);
	}
	return buf;
}

int cpulist_has(const uint32_t *cpus, size_t n, uint32_t cpu)
{
	size_t from = 0;

	while (from < n) {
		size_t mid = from + (n - from) / 2;
		if (cpus[mid] == cpu)
			return 1;
		if (cpus[mid] < cpu)
			from = mid + 1;
		else
			n = mid;
	}
	return 0;
}

static size_t read_watched(const struct cpu_watch *w, char *buf, size_t size)
{
	ssize_t n;

	do {
		n = pread(w->fd, buf, size - 1, 0);
	} while (n < 0 && errno == EINTR);
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

void cpu_watch_open(struct cpu_watch *w, const char *path)
{
	*w = (struct cpu_watch){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (w->fd >= 0)
		w->len = read_watched(w, w->text, sizeof(w->text));
}

void cpu_watch_close(struct cpu_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

bool cpu_watch_look(struct cpu_watch *w)
{
	char now[sizeof(w->text)];
	size_t n = w->fd >= 0 ? read_watched(w, now, sizeof(now)) : 0;

	if (!n || (n == w->len && memcmp(now, w->text, n) == 0))
		return false;
	memcpy(w->text, now, n + 1);
	w->len = n;
	return true;
}

int cpu_watch_list(const struct cpu_watch *w, uint32_t **ret, size_t *ret_n)
{
	return w->len ? cpulist_parse(w->text, ret, ret_n) : -ENOENT;
}
