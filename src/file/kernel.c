// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is the running kernel the one that was recorded, and booted at the same address? Only then the
 * addresses in /proc/kallsyms are right. A wrong name is worse than none, so everything that the
 * file allows to check (release, build id, address of _text) is checked.
 */
#include "kernel.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/ownfile.h"
#include "kontend/text.h"
#include "kontend/vmlinux.h"
#include "reader.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

size_t kernel_build_id(uint8_t id[20])
{
	struct vmlinux v;

	if (!vmlinux_running(&v, ""))
		return 0;
	memcpy(id, v.build_id, v.build_id_len);
	return v.build_id_len;
}

static int differs(const struct features *f, char why[KERNEL_WHY])
{
	struct utsname here;
	uint8_t id[20];

	if (!f->release[0] || uname(&here)) {
		snprintf(why, KERNEL_WHY, "the file does not say which kernel it was made on");
		return 1;
	}
	if (strcmp(here.release, f->release) || (f->arch[0] && strcmp(here.machine, f->arch))) {
		snprintf(why, KERNEL_WHY, "it was made on Linux %s (%s), here runs %s (%s)",
			 f->release, f->arch, here.release, here.machine);
		return 1;
	}
	size_t n = f->build_id_len ? kernel_build_id(id) : 0;
	if (n && (n != f->build_id_len || memcmp(id, f->build_id, n))) {
		snprintf(why, KERNEL_WHY, "it was made on another build of Linux %s", f->release);
		return 1;
	}
	return 0;
}

/* The address of _text, or of _stext if the recording has that one: among the first lines. */
static uint64_t text_address(const char *text, size_t len, bool is_stext)
{
	const char *end = text + len, *wanted = is_stext ? " _stext\n" : " _text\n";
	size_t n_wanted = strlen(wanted);

	for (unsigned n = 0; n < 4096 && text < end; n++) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		const char *name = eol ? memchr(text, ' ', (size_t)(eol - text)) : NULL;
		if (!name)
			return 0;
		/* the end of the line ends the number */
		if ((size_t)(eol - name) + 1 == 2 + n_wanted && !memcmp(name + 2, wanted, n_wanted))
			return strtoull(text, NULL, 16);
		text = eol + 1;
	}
	return 0;
}

/*
 * Symbols that perf record has saved: ~/.debug/[kernel.kallsyms]/BUILD-ID/kallsyms, a copy of
 * /proc/kallsyms. Reading a file takes a thirtieth of the time in which the kernel prints 120,000
 * lines, and the recorded kernel need not be running. The copy may be from another boot: its _text
 * must have the address in the recording, and its modules count only if it is from this boot and
 * has all that are loaded.
 */

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
	/* two seconds of margin, for a clock that was set after the start */
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

/* The length of the trustworthy part of the file, to which @st belongs; 0: none of it. */
static size_t usable(const struct stat *st, const struct filemap *file,
		     const struct kernel_place *k, bool is_running)
{
	const char *text = file->bytes;

	/* A file that other users can write may have wrong names. */
	if (st->st_mode & (S_IWGRP | S_IWOTH) ||
	    text_address(text, file->len, k->is_stext) != k->addr)
		return 0;
	if (is_running)
		return modules_are_right(st, text, file->len) ? file->len : 0;
	return without_modules(text, file->len);
}

/*
 * The saved symbols of the kernel with this build id, at this place. -ENOENT, or another negative
 * errno: there are none that can be trusted.
 */
static int saved_symbols(const uint8_t *id, size_t n, const struct kernel_place *k, bool is_running,
			 struct kallsyms_text *ret)
{
	char path[4096];
	struct stat st;

	*ret = (struct kallsyms_text){0};
	if (!k->addr || !path_of(id, n, path, sizeof(path)))
		return -ENOENT;
	int fd = ownfile_open(path);
	if (fd < 0)
		return fd;
	int r = fstat(fd, &st) < 0 ? -errno : filemap_open(&ret->file, fd);
	close(fd);
	if (r)
		return r;
	ret->text = ret->file.bytes;
	ret->len = usable(&st, &ret->file, k, is_running);
	if (!ret->len)
		kallsyms_text_deinit(ret);
	return ret->text ? 0 : -ENOENT;
}

/* Caches the text that the kernel printed, unless something changed meanwhile. */
static void keep(const struct kallsyms_cache_state *before, const char *text, size_t len)
{
	struct kallsyms_cache_state after = {0};

	if (text_address(text, len, false) && !kallsyms_cache_now(&after) &&
	    !memcmp(&after, before, sizeof(after)))
		kallsyms_cache_store(before, text, len);
}

int kernel_running_text(struct kallsyms_text *ret)
{
	struct kallsyms_cache_state now;
	bool is_known = !kallsyms_cache_now(&now);

	if (is_known && !kallsyms_cache_load(&now, ret))
		return 0;
	int e = fdio_read_file(kernel_kallsyms, &ret->heap, &ret->len);
	ret->text = ret->heap;
	if (!e && is_known)
		keep(&now, ret->text, ret->len);
	return e;
}

/* The text as a file that another process with more rights has opened. */
static int given_text(const struct reader_options *o, struct kallsyms_text *ret)
{
	int fd = o->open(o->open_ctx, kernel_kallsyms);
	int e = fd < 0 ? fd : filemap_open(&ret->file, fd);

	if (fd >= 0)
		close(fd);
	ret->text = ret->file.bytes;
	ret->len = ret->file.len;
	return e;
}

/* From the file that perf record saved, else from the cache, else from the kernel. */
static int running_symbols(const struct reader_options *o, const struct kernel_place *k,
			   struct kallsyms_text *ret)
{
	struct kallsyms_cache_state now;
	uint8_t id[20];

	if (!o->open && !kallsyms_cache_now(&now) && !kallsyms_cache_load(&now, ret))
		return 0;
	if (!saved_symbols(id, kernel_build_id(id), k, true, ret))
		return 0;
	return o->open ? given_text(o, ret) : kernel_running_text(ret);
}

int kernel_symbols(const struct features *f, const struct reader_options *o,
		   const struct kernel_place *k, struct kallsyms_text *ret, bool *ret_is_here,
		   char why[KERNEL_WHY])
{
	*ret = (struct kallsyms_text){0};
	*ret_is_here = false;
	if (differs(f, why)) {
		if (!saved_symbols(f->build_id, f->build_id_len, k, false, ret))
			why[0] = 0;
		return 0;
	}
	int e = running_symbols(o, k, ret);
	if (e == -ENOMEM)
		return e;
	if (e)
		snprintf(why, KERNEL_WHY, "/proc/kallsyms: %s", strerror(-e));
	uint64_t here = e || !k->addr ? 0 : text_address(ret->text, ret->len, k->is_stext);
	*ret_is_here = here && here == k->addr;
	if (!here || *ret_is_here)
		return 0;
	snprintf(why, KERNEL_WHY,
		 "it was made before this machine was booted, with the kernel at "
		 "another address");
	kallsyms_text_deinit(ret);
	return 0;
}
