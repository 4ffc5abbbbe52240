// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a program with debug information, read by another process, which this program is
 * in another mode: it may crash over them, but the caller gets answers that can be shown.
 */
#include "fuzz.h"
#include "kontend/srclines.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 24, CODE = 0x1000 };

/* Before main(), which may be a fuzzer's. */
__attribute__((constructor)) static void become_worker(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], SRCLINES_WORKER_ARG))
		_exit(srclines_work());
}

static void check(const struct srclines_place *p)
{
	fuzz_require(p->n >= 1 && p->n <= SRCLINES_FRAMES);
	for (size_t i = 0; i < p->n; i++) {
		fuzz_require(strlen(p->frames[i].function) < 1024);
		fuzz_require(strlen(p->frames[i].file) < 1024);
	}
}

static void ask_lines(struct srclines *l, uint32_t object, size_t size)
{
	const struct srclines_place *p;

	for (size_t i = 0; i < PLACES; i++) {
		enum srclines_answer a = srclines_find(l, object, i * size / PLACES, &p);
		fuzz_require(a < SRCLINES_ANSWERS && srclines_reason(a));
		if (a == SRCLINES_OK)
			check(p);
		/* Of a file that is still to be linked, addresses are all there is to ask by. */
		a = srclines_find_addr(l, object, CODE + 2 * i, &p);
		if (a == SRCLINES_OK)
			check(p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usersyms_config c = {.same_machine = true};
	struct srclines_config how = {.argv = srclines_worker_argv};
	struct usersyms *u = NULL;
	struct srclines *l = NULL;
	char path[40];
	uint32_t object;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fuzz_require(usersyms_new(&u, &c, NULL) == 0 && srclines_new(&l, u, &how, NULL) == 0);
	fuzz_require(usersyms_object(u, path, NULL, 0, 0, &object) == 0);
	for (int i = 0; i < 3; i++) {
		ask_lines(l, object, size);
		while (usersyms_load_some(u, UINT64_MAX, NULL))
			;
		srclines_wait(l, UINT64_MAX);
	}
	srclines_free(l);
	usersyms_free(u);
	close(fd);
	return 0;
}
