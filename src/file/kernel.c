// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is the kernel that runs here the one that the recording was made on, and booted at the same
 * place? Only then do the addresses of /proc/kallsyms mean the same. A wrong name is worse than
 * none, so every doubt that the file lets us check (release, build id, address of _text) is
 * checked.
 */
#include "kernel.h"
#include "kontend/fdio.h"
#include "kontend/vmlinux.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

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

/* It is among the first lines. */
uint64_t kernel_text_address(const char *text, size_t len)
{
	const char *end = text + len;

	for (unsigned n = 0; n < 4096 && text < end; n++) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		const char *name = eol ? memchr(text, ' ', (size_t)(eol - text)) : NULL;
		if (!name)
			return 0;
		/* The line's end stops the number. */
		if (eol - name >= 8 && !memcmp(name + 3, "_text\n", 6))
			return strtoull(text, NULL, 16);
		text = eol + 1;
	}
	return 0;
}

/* Keeps what the kernel took long to say, if nothing has changed while it did. */
static void keep(const struct kallsyms_cache_state *before, const char *text, size_t len)
{
	struct kallsyms_cache_state after = {0};

	if (kernel_text_address(text, len) && !kallsyms_cache_now(&after) &&
	    !memcmp(&after, before, sizeof(after)))
		kallsyms_cache_store(before, text, len);
}

/* From our cache, else from what perf record kept, else from the kernel. */
static int running_symbols(uint64_t text_addr, struct kallsyms_text *ret)
{
	struct kallsyms_cache_state now;
	bool is_known = !kallsyms_cache_now(&now);
	uint8_t id[20];

	if (is_known && !kallsyms_cache_load(&now, ret))
		return 0;
	if (!kernel_saved_symbols(id, kernel_build_id(id), text_addr, true, ret))
		return 0;
	int e = fdio_read_file("/proc/kallsyms", &ret->heap, &ret->len);
	ret->text = ret->heap;
	if (!e && is_known)
		keep(&now, ret->text, ret->len);
	return e;
}

int kernel_symbols(const struct features *f, uint64_t text_addr, struct kallsyms_text *ret,
		   char why[KERNEL_WHY])
{
	*ret = (struct kallsyms_text){0};
	if (differs(f, why)) {
		if (!kernel_saved_symbols(f->build_id, f->build_id_len, text_addr, false, ret))
			why[0] = 0;
		return 0;
	}
	int e = running_symbols(text_addr, ret);
	if (e == -ENOMEM)
		return e;
	if (e)
		snprintf(why, KERNEL_WHY, "/proc/kallsyms: %s", strerror(-e));
	uint64_t here = e || !text_addr ? 0 : kernel_text_address(ret->text, ret->len);
	if (!here || here == text_addr)
		return 0;
	snprintf(why, KERNEL_WHY,
		 "it was made before this machine was booted, with the kernel at "
		 "another address");
	kallsyms_text_deinit(ret);
	return 0;
}
