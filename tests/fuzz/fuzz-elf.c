// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a program: whatever is found in it is a function that covers the place that was
 * asked for, with a name that can be shown. The seeds are what tests/lib/elfmake.c makes, a linked
 * program of an empty function, 64 and 32 bits, and its packed symbols.
 */
#include "fuzz.h"
#include "kontend/usersyms.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(const struct usersym *s, uint64_t at)
{
	size_t len = strnlen(s->name, 5000);

	fuzz_require(len > 0 && len < 5000);
	for (size_t i = 0; i < len; i++)
		fuzz_require((unsigned char)s->name[i] >= 0x20 && s->name[i] != 0x7f);
	fuzz_require(at - s->start < s->size);
}

static void ask_symbols(struct usersyms *u, uint32_t object, size_t size)
{
	struct usersym s;

	for (uint64_t at = 0; at <= size + 64; at += 16)
		if (usersyms_lookup(u, object, at, &s) == USERSYM_OK)
			check(&s, at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usersyms_config c = {.same_machine = true};
	struct usersyms *u = NULL;
	char path[40];
	uint32_t object;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_require(usersyms_new(&u, &c, NULL) == 0);
	fuzz_require(usersyms_object(u, path, NULL, 0, 0, &object) == 0);
	ask_symbols(u, object, 0);
	while (usersyms_load_some(u, UINT64_MAX, NULL))
		;
	ask_symbols(u, object, size);
	usersyms_free(u);
	close(fd);
	return 0;
}
