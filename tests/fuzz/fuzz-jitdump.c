// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a dump of a compiler: whatever is found covers the address that was asked for, has a
 * name that can be shown, and its bytes lie in the file. The seed has two functions, one of which
 * moves, and records that are passed over.
 */
#include "fuzz.h"
#include "kontend/usersyms.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The file is opened as we see it, and not as a process does. */
enum { NOBODY = 0 };

static void ask_symbols(struct usersyms *u, uint64_t addr, size_t size)
{
	uint8_t bytes[64];
	struct usersym s;
	const char *path;
	size_t n;

	if (usersyms_lookup_jit(u, NOBODY, addr, &s) != USERSYM_OK)
		return;
	fuzz_require(addr - s.start < s.size);
	for (const char *p = s.name; *p; p++)
		fuzz_require((unsigned char)*p >= 0x20 && *p != 0x7f);
	if (usersyms_bytes_jit(u, NOBODY, addr, bytes, sizeof(bytes), &n, &path) == USERSYM_OK)
		fuzz_require(n <= sizeof(bytes) && n <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usersyms_config c = {.same_machine = true};
	struct usersyms *u = NULL;
	char path[40];
	bool changed;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_require(usersyms_new(&u, &c, NULL) == 0);
	fuzz_require(usersyms_jitdump(u, NOBODY, path) == 0);
	while (usersyms_load_some(u, UINT64_MAX, &changed))
		;
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t addr;
		memcpy(&addr, data + at, sizeof(addr));
		ask_symbols(u, addr, size);
		ask_symbols(u, addr + 3, size);
	}
	usersyms_free(u);
	close(fd);
	return 0;
}
