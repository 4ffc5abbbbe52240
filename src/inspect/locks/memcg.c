// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line of /proc/PID/cgroup is "ID:CONTROLLERS:PATH"; the unified hierarchy has ID 0 and no
 * controllers. If the memory controller is mounted on its own, its line counts, wherever it is.
 */
#include "memcg.h"
#include "kontend/mem.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MOST = 4096 };

/* Is "memory" one of "cpu,cpuacct"? */
static bool has_memory(const char *controllers, size_t len)
{
	static const char memory[] = "memory";

	while (len) {
		const char *comma = memchr(controllers, ',', len);
		size_t n = comma ? (size_t)(comma - controllers) : len;
		if (n == sizeof(memory) - 1 && !memcmp(controllers, memory, n))
			return true;
		n += comma != NULL;
		controllers += n;
		len -= n;
	}
	return false;
}

static void put_name(const char *path, char *ret, size_t size)
{
	snprintf(ret, size, "%s", path);
	for (char *p = ret; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = '?';
}

void memcg_parse(char *text, char *ret, size_t size)
{
	char *save = NULL;

	ret[0] = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		size_t len = (size_t)(path - controllers - 1);
		if (has_memory(controllers + 1, len)) {
			put_name(path + 1, ret, size);
			return;
		}
		if (!len && line[0] == '0')
			put_name(path + 1, ret, size);
	}
}

/* "" if it cannot be read: the process has ended. */
static void read_path(const char *proc, int pid, int tid, char *ret, size_t size)
{
	char name[64], text[TEXT_MOST];

	ret[0] = 0;
	snprintf(name, sizeof(name), "%s/%d/task/%d/cgroup", proc, pid, tid);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = 0;
	memcg_parse(text, ret, size);
}

const char *memcg_path(struct memcg_cache *c, const char *proc, uint64_t addr, int pid, int tid)
{
	const uint32_t *known = map64_get(&c->at, addr ^ (uint64_t)(uint32_t)pid << 32);
	char path[TEXT_MOST];

	if (known)
		return c->paths[*known];
	read_path(proc, pid, tid, path, sizeof(path));
	const char *kept = strpool_intern(&c->pool, path);
	/* Out of memory: the next snapshot searches again. */
	if (!kept || mem_grow(&c->paths, &c->cap, c->n, sizeof(*c->paths)) < 0 ||
	    map64_put(&c->at, addr ^ (uint64_t)(uint32_t)pid << 32, (uint32_t)c->n) < 0)
		return "";
	c->paths[c->n++] = kept;
	return kept;
}

void memcg_forget(struct memcg_cache *c)
{
	map64_clear(&c->at);
	map64_clear(&c->offsets);
	strpool_deinit(&c->pool);
	c->n = 0;
}

void memcg_deinit(struct memcg_cache *c)
{
	map64_deinit(&c->at);
	map64_deinit(&c->offsets);
	strpool_deinit(&c->pool);
	mem_free(c->paths);
	*c = (struct memcg_cache){0};
}
