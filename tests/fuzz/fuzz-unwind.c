// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as registers and stack of a sample within this program, and any bytes as a program with
 * tables for unwinding, which is mapped at 4 MiB: there are at most as many frames as requested,
 * and the end has a reason. The first byte selects which of the two: 'S' or 'E'.
 */
#include "fuzz.h"
#include "kontend/unwind.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REGS = 33, MAPS = 64, MOST = 64, BASE = 4 << 20, PLACES = 64 };

#if defined(__x86_64__)
enum { SP = 7, IP = 8 };
#else
enum { SP = 31, IP = 32 };
#endif

struct rig {
	struct usersyms *files;
	struct unwind *u;
	struct unwind_space *space;
	struct unwind_map maps[MAPS];
	size_t n_maps;
};

static void read_maps(struct rig *r)
{
	char line[1024], path[512], perms[8];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && r->n_maps < MAPS && fgets(line, sizeof(line), f)) {
		struct unwind_map *m = &r->maps[r->n_maps];
		path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]",
			   &m->start, &m->end, perms, &m->file_offset, path) >= 4 &&
		    perms[2] == 'x' && usersyms_object(r->files, path, NULL, 0, 0, &m->object) == 0)
			r->n_maps++;
	}
	if (f)
		fclose(f);
}

static void check(struct rig *r, const struct unwind_sample *s)
{
	struct unwind_frame frames[MOST];
	enum unwind_end end;
	size_t n = unwind_stack(r->space, s, frames, MOST, &end);

	fuzz_require(n <= MOST && end < UNWIND_ENDS);
	for (size_t i = 0; i < n; i++) {
		struct unwind_rule rule;
		fuzz_require(frames[i].is_known || !frames[i].object);
		int code = unwind_rule_of(r->space, frames[i].at, &rule);
		fuzz_require(code <= 0 && (code || rule.kind <= UNWIND_RULE_LAST));
	}
}

/* A stack of this program; the input may say where it is, within its text. */
static void stack_of(struct rig *r, const uint8_t *data, size_t size)
{
	uint64_t regs[REGS] = {0};
	size_t n = size < sizeof(regs) ? size : sizeof(regs);

	read_maps(r);
	unwind_space_set(r->space, r->maps, r->n_maps);
	memcpy(regs, data, n);
	regs[IP] = (uintptr_t)stack_of + regs[IP] % 65536;
	struct unwind_sample s = {UINT64_MAX >> 31, regs, data + n, size - n};
	check(r, &s);
}

static void tables_of(struct rig *r, const uint8_t *data, size_t size)
{
	uint64_t regs[REGS], stack[256];
	char path[40];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r->maps[0] = (struct unwind_map){.start = BASE, .end = BASE + size};
	fuzz_require(usersyms_object(r->files, path, NULL, 0, 0, &r->maps[0].object) == 0);
	unwind_space_set(r->space, r->maps, 1);
	for (size_t i = 0; i < sizeof(stack) / sizeof(stack[0]); i++)
		stack[i] = BASE + i * 8 % (size + 1);
	for (size_t i = 0; i < REGS; i++)
		regs[i] = 0x7000000 + i * 8;
	for (size_t i = 0; i < PLACES; i++) {
		regs[SP] = 0x7000000;
		regs[IP] = BASE + i * size / PLACES;
		struct unwind_sample s = {UINT64_MAX >> 31, regs, stack, sizeof(stack)};
		check(r, &s);
	}
	close(fd);
}

static void run(const uint8_t *data, size_t size, enum unwind_way way)
{
	struct unwind_config how = {.way = way};
	struct usersyms_config c = {.same_machine = true};
	struct rig r = {0};

	fuzz_require(usersyms_new(&r.files, &c, NULL) == 0);
	if (size && unwind_new(&r.u, r.files, &how, NULL) == 0 &&
	    !unwind_space_new(&r.space, r.u)) {
		if (data[0] == 'S')
			stack_of(&r, data + 1, size - 1);
		else
			tables_of(&r, data + 1, size - 1);
	}
	unwind_space_free(r.space);
	unwind_free(r.u);
	usersyms_free(r.files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run(data, size, UNWIND_LIBUNWIND);
	run(data, size, UNWIND_LIBDW);
	return 0;
}
