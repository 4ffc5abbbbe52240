// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a program with debug information: what it says of places can be shown. */
#include "fuzz.h"
#include "kontend/srclines.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 24 };

static void check(const struct srclines_place *p)
{
	fuzz_require(p->n >= 1 && p->n <= SRCLINES_FRAMES);
	for (size_t i = 0; i < p->n; i++) {
		fuzz_require(strlen(p->frames[i].function) < 5000);
		fuzz_require(strlen(p->frames[i].file) < 5000);
	}
}

static void ask(struct srclines *l, uint32_t object, size_t size)
{
	const struct srclines_place *p;

	for (size_t i = 0; i < PLACES; i++)
		if (srclines_find(l, object, i * size / PLACES, &p) == SRCLINES_OK)
			check(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usersyms_config c = {.same_machine = true};
	struct usersyms *u = NULL;
	struct srclines *l = NULL;
	char path[40];
	uint32_t object;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_require(usersyms_new(&u, &c, NULL) == 0 && srclines_new(&l, u, NULL) == 0);
	fuzz_require(usersyms_object(u, path, NULL, 0, 0, &object) == 0);
	ask(l, object, size);
	srclines_wait(l);
	ask(l, object, size);
	srclines_free(l);
	usersyms_free(u);
	close(fd);
	return 0;
}
