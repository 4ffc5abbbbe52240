// SPDX-License-Identifier: GPL-2.0-only
#include "selfplace.h"

#include <link.h>
#include <unistd.h>

struct search {
	uint64_t addr, offset;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && s->addr >= from && s->addr - from < p->p_filesz)
			s->offset = s->addr - from + p->p_offset;
	}
	return s->offset != 0;
}

uint64_t selfplace(uintptr_t addr)
{
	struct search s = {.addr = addr};

	dl_iterate_phdr(note_object, &s);
	return s.offset;
}

const char *selfplace_path(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}
