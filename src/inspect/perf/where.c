// SPDX-License-Identifier: GPL-2.0-only
/*
 * Describes an address of a process: a symbol of the file that is mapped there, variables included,
 * as nm has it, else the file's own address. A file gives the addresses of its bytes; the mapping
 * of its beginning shows how far from there it was loaded. Variables that begin as zero are after
 * the last page of the file, in a mapping without name right after it.
 */
#include "internal.h"
#include "kontend/binary.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_MOST = 40, PATH_MOST = 4200, FILE_MOST = 256 << 20, PAGE = 4096 };

struct mapping {
	uint64_t from, to, offset;
	char path[PATH_MOST]; /* "": none */
};

static bool parse(const char *line, struct mapping *ret)
{
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &ret->from, &ret->to,
		   &ret->offset, &at) < 3)
		return false;
	const char *path = at ? line + at : "";
	snprintf(ret->path, sizeof(ret->path), "%.*s", (int)strcspn(path, "\n"), path);
	return true;
}

/*
 * The mapping that @addr is in, into @ret, and the first one of the same file into @first. Zeroed
 * pages after a file's last one belong to it.
 */
static bool find_mapping(FILE *maps, uint64_t addr, struct mapping *ret, struct mapping *first)
{
	char line[PATH_MOST + 100];
	uint64_t end = 0;

	*first = (struct mapping){0};
	while (fgets(line, sizeof(line), maps)) {
		if (!parse(line, ret))
			continue;
		bool is_zeroed = !ret->path[0] && first->path[0] == '/' && ret->from == end;
		if (!is_zeroed && strcmp(ret->path, first->path) != 0)
			*first = *ret;
		end = is_zeroed ? 0 : ret->to;
		if (addr >= ret->from && addr < ret->to)
			return true;
	}
	return false;
}

/* The mapped file, whatever its path is by now; else the file at that path. */
static struct binary *open_file(const char *proc, const struct mapping *m)
{
	char path[PATH_MOST + 400];
	struct binary *b;
	struct error err;
	struct stat st;

	snprintf(path, sizeof(path), "%s/map_files/%" PRIx64 "-%" PRIx64, proc, m->from, m->to);
	if (stat(path, &st) < 0)
		snprintf(path, sizeof(path), "%s/root%s", proc, m->path);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MOST)
		return NULL;
	return binary_open(&b, path, &err) < 0 ? NULL : b;
}

static void put_place(char *ret, size_t size, const char *name, uint64_t into, const char *symbol)
{
	int n = snprintf(ret, size, "%.*s", NAME_MOST, name);

	if (symbol)
		n += snprintf(ret + n, size - (size_t)n, ":%.*s", NAME_MOST, symbol);
	if (into || !symbol)
		snprintf(ret + n, size - (size_t)n, "+0x%" PRIx64, into);
}

/* By the file itself; false: it says nothing. */
static bool put_symbol(char *ret, size_t size, const char *proc, const struct mapping *first,
		       const char *name, uint64_t addr)
{
	struct binary *b = open_file(proc, first);
	char symbol[NAME_MOST + 1];
	uint64_t at, into;
	bool known = b && binary_address(b, first->offset, &at);

	if (known) {
		addr -= first->from - (at & ~(uint64_t)(PAGE - 1));
		bool has_symbol = binary_symbol_at(b, addr, symbol, sizeof(symbol), &into);
		put_place(ret, size, name, has_symbol ? into : addr, has_symbol ? symbol : NULL);
	}
	binary_close(b);
	return known;
}

void where_find(char *ret, size_t size, const char *root, int32_t pid, uint64_t addr)
{
	char path[300];
	struct mapping m, first;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "%s/%" PRId32 "/maps", root, pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return;
	bool found = find_mapping(f, addr, &m, &first);
	fclose(f);
	if (!found)
		return;
	const char *slash = strrchr(first.path, '/');
	snprintf(path, sizeof(path), "%s/%" PRId32, root, pid);
	if (first.path[0] != '/')
		put_place(ret, size, first.path[0] ? first.path : "anon", addr - m.from, NULL);
	else if (!put_symbol(ret, size, path, &first, slash + 1, addr))
		put_place(ret, size, slash + 1, addr - m.from + m.offset, NULL);
}
