/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_KERNEL_H
#define KONTEND_SRC_FILE_KERNEL_H

#include "features.h"
#include "kontend/kallsyms-cache.h"

enum { KERNEL_WHY = 512 };

/*
 * The text of /proc/kallsyms, if the running kernel is the one of the recording: same release, same
 * build id where the file has one, and (@text_addr != 0) loaded at the same address; or our copy or
 * perf's of it. Otherwise @ret is empty and @why says what differs. 0 or -ENOMEM.
 * kallsyms_text_deinit() it.
 */
int kernel_symbols(const struct features *f, uint64_t text_addr, struct kallsyms_text *ret,
		   char why[KERNEL_WHY]);
/* The running kernel's GNU build id into @id (20 bytes); bytes of it, 0 = not known. */
size_t kernel_build_id(uint8_t id[20]);
/* Address of _text in the text of kallsyms; 0 when withheld or not there. */
uint64_t kernel_text_address(const char *text, size_t len);
/*
 * What perf record has kept of the kernel with this build id, with _text at @text_addr. -ENOENT, or
 * another negative errno: nothing that can be relied on.
 */
int kernel_saved_symbols(const uint8_t *id, size_t n, uint64_t text_addr, bool is_running,
			 struct kallsyms_text *ret);

#endif
