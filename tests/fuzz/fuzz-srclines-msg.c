// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a message about debug information: an accepted one stays the same when encoded. */
#include "../../src/sym/lines/internal.h"
#include "fuzz.h"

#include <string.h>

static void check(const struct srclines_msg *m)
{
	fuzz_require(m->kind >= SRCLINES_MSG_OPEN && m->kind < SRCLINES_MSG_KINDS);
	if (m->kind == SRCLINES_MSG_FIND)
		fuzz_require(m->n >= 1 && m->n <= SRCLINES_MSG_PLACES);
	if (m->kind == SRCLINES_MSG_OPENED)
		fuzz_require(strlen(m->why) < SRCLINES_MSG_TEXT);
	if (m->kind != SRCLINES_MSG_PLACE)
		return;
	fuzz_require(m->place.n <= SRCLINES_FRAMES);
	for (size_t i = 0; i < m->place.n; i++) {
		fuzz_require(strlen(m->place.frames[i].function) < SRCLINES_MSG_TEXT);
		fuzz_require(strlen(m->place.frames[i].file) < SRCLINES_MSG_TEXT);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t again[SRCLINES_MSG_MOST];
	static struct srclines_msg m, n;

	if (!srclines_msg_get(data, size, &m))
		return 0;
	check(&m);
	size_t len = srclines_msg_put(again, &m);
	fuzz_require(srclines_msg_get(again, len, &n));
	fuzz_require(n.kind == m.kind && n.file == m.file);
	return 0;
}
