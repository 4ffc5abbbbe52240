// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols that perf record has put by: ~/.debug/[kernel.kallsyms]/BUILD-ID/kallsyms, a copy of
 * /proc/kallsyms. Reading a file costs a thirtieth of having the kernel print 120,000 lines, and
 * the kernel of the recording need not run any more. The copy is of some boot: its _text must be
 * where the recording has it, and modules count only when it is of this boot and has all that are
 * loaded.
 */
#include "kernel.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/ownfile.h"
#include "kontend/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool path_of(const uint8_t *id, size_t n, char *path, size_t size)
{
	const char *home = getenv("HOME");
	char hex[2 * 20 + 1];

	if (!home || home[0] != '/' || !n || n > 20)
		return false;
	text_hex(hex, id, n);
	int len = snprintf(path, size, "%s/.debug/[kernel.kallsyms]/%s/kallsyms", home, hex);
	return len > 0 && (size_t)len < size;
}

static bool is_of_this_boot(const struct stat *st)
{
	struct timespec wall, up;

	if (clock_gettime(CLOCK_REALTIME, &wall) || clock_gettime(CLOCK_BOOTTIME, &up))
		return false;
	/* A margin for a clock that was set after the start. */
	return st->st_mtime > wall.tv_sec - up.tv_sec + 2;
}

/* Lines of modules are the last ones: "address type name\t[module]". */
static size_t without_modules(const char *text, size_t len)
{
	const char *bracket = memmem(text, len, "\t[", 2);

	while (bracket && bracket > text && bracket[-1] != '\n')
		bracket--;
	return bracket ? (size_t)(bracket - text) : len;
}

/* Has @text symbols of every module in the lines of /proc/modules? */
static bool has_modules(const char *text, size_t len, const char *modules)
{
	size_t core = without_modules(text, len);

	for (const char *p = modules; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		char name[80];
		int n = snprintf(name, sizeof(name), "\t[%.*s]", (int)strcspn(p, " \n"), p);
		if (n < 0 || (size_t)n >= sizeof(name) ||
		    !memmem(text + core, len - core, name, (size_t)n))
			return false;
	}
	return true;
}

static bool modules_are_right(const struct stat *st, const char *text, size_t len)
{
	char *modules = NULL;
	size_t n;

	if (!is_of_this_boot(st))
		return false;
	int e = fdio_read_file("/proc/modules", &modules, &n);
	bool right = e == -ENOENT || (!e && has_modules(text, len, modules));
	mem_free(modules);
	return right;
}

/* What of the file, which @st is of, can be relied on: its length, 0 when nothing can. */
static size_t usable(const struct stat *st, const struct filemap *file, uint64_t text_addr,
		     bool is_running)
{
	const char *text = file->bytes;

	/* Others must not be able to tell us names. */
	if (st->st_mode & (S_IWGRP | S_IWOTH) || kernel_text_address(text, file->len) != text_addr)
		return 0;
	if (is_running)
		return modules_are_right(st, text, file->len) ? file->len : 0;
	return without_modules(text, file->len);
}

int kernel_saved_symbols(const uint8_t *id, size_t n, uint64_t text_addr, bool is_running,
			 struct kallsyms_text *ret)
{
	char path[4096];
	struct stat st;

	*ret = (struct kallsyms_text){0};
	if (!text_addr || !path_of(id, n, path, sizeof(path)))
		return -ENOENT;
	int fd = ownfile_open(path);
	if (fd < 0)
		return fd;
	int r = fstat(fd, &st) < 0 ? -errno : filemap_open(&ret->file, fd);
	close(fd);
	if (r)
		return r;
	ret->text = ret->file.bytes;
	ret->len = usable(&st, &ret->file, text_addr, is_running);
	if (!ret->len)
		kallsyms_text_deinit(ret);
	return ret->text ? 0 : -ENOENT;
}
