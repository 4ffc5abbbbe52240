// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stack of arm64, whatever machine this is: of a file made here that has one function, and tables
 * that say that it keeps the frame pointer and the place to return to in the lower half of 32
 * bytes.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "kontend/unwind.h"

enum {
	BASE = 0x400000,
	HEADER = 0x100,
	FRAMES = 0x200,
	FUNCTION = 0x400,
	END = 0x1000,
	FP = 29,
	LINK = 30,
	SP = 31,
	PC = 32,
	REGS = 33,
	FRAME = 32, /* bytes of the stack */
};

static uint8_t file[END];

static void put_header(void)
{
	Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				    EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_AARCH64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(h),
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2};
	Elf64_Phdr p[2] = {{.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_filesz = END,
			    .p_memsz = END,
			    .p_align = 0x1000},
			   {.p_type = PT_GNU_EH_FRAME,
			    .p_flags = PF_R,
			    .p_offset = HEADER,
			    .p_vaddr = HEADER,
			    .p_filesz = 20,
			    .p_memsz = 20}};

	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), p, sizeof(p));
}

static void put_tables(void)
{
	const uint8_t cie[] = {20, 0,	 0,    0, 0,	0,    0,  0, 1, 'z', 'R', 0,
			       1,  0x78, LINK, 1, 0x1b, 0x0c, SP, 0, 0, 0,   0,	  0};
	const uint8_t fde[] = {24, 0, 0, 0,    28,    0,	 0, 0,		 0, 0, 0, 0, 0, 1,
			       0,  0, 0, 0x0e, FRAME, 0x80 | FP, 4, 0x80 | LINK, 3, 0, 0, 0, 0, 0};
	enum { FDE = FRAMES + sizeof(cie) };
	const uint8_t encodings[] = {1, 0x1b, 0x03, 0x3b};
	const int32_t words[] = {FRAMES - (HEADER + 4), 1, FUNCTION - HEADER, FDE - HEADER};
	int32_t from = FUNCTION - (FDE + 8);

	memcpy(file + HEADER, encodings, sizeof(encodings));
	memcpy(file + HEADER + sizeof(encodings), words, sizeof(words));
	memcpy(file + FRAMES, cie, sizeof(cie));
	memcpy(file + FDE, fde, sizeof(fde));
	memcpy(file + FDE + 8, &from, sizeof(from));
}

static void callers_are_found(void **state)
{
	struct usersyms_config c = {.same_machine = true};
	struct unwind_config how = {.machine = "aarch64"};
	struct unwind_map map = {.start = BASE, .end = BASE + END};
	uint64_t regs[REGS] = {[FP] = 1, [SP] = 0x7000, [PC] = BASE + FUNCTION + 0x40};
	uint64_t stack[16] = {[1] = BASE + FUNCTION + 0x50, [5] = BASE + FUNCTION + 0x60};
	struct unwind_sample s = {UINT64_MAX >> 31, regs, stack, sizeof(stack)};
	struct unwind_frame frames[8];
	struct unwind_space *space;
	struct usersyms *files;
	struct unwind *u;
	enum unwind_end end;
	char path[40];
	int fd = memfd_create("arm64", MFD_CLOEXEC);

	(void)state;
	put_header();
	put_tables();
	assert_true(fd >= 0 && write(fd, file, sizeof(file)) == (ssize_t)sizeof(file));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(usersyms_new(&files, &c, NULL), 0);
	assert_int_equal(usersyms_object(files, path, NULL, 0, 0, &map.object), 0);
	if (unwind_new(&u, files, &how, NULL) < 0) {
		usersyms_free(files);
		skip();
	}
	assert_int_equal(unwind_space_new(&space, u), 0);
	unwind_space_set(space, &map, 1);
	assert_int_equal(unwind_stack(space, &s, frames, 8, &end), 3);
	assert_int_equal(end, UNWIND_DONE);
	assert_int_equal(frames[0].file_offset, FUNCTION + 0x40);
	assert_int_equal(frames[1].file_offset, FUNCTION + 0x4f);
	assert_int_equal(frames[2].file_offset, FUNCTION + 0x5f);
	s.stack_len = FRAME + 8;
	assert_int_equal(unwind_stack(space, &s, frames, 8, &end), 2);
	assert_int_equal(end, UNWIND_CUT);
	unwind_space_free(space);
	unwind_free(u);
	usersyms_free(files);
	close(fd);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(callers_are_found)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
