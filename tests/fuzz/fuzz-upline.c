// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any text as a line of uprobe_events, as one of uprobe_profile, and as what --probe takes: what is
 * taken has all its parts, each a whole string.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/uprobe.h"
#include <string.h>

static bool is_whole(const char *text, size_t size)
{
	return *text && memchr(text, '\0', size);
}

static void check_line(const char *text)
{
	struct uprobe_line l;
	uint64_t hits;

	if (!uprobe_line_parse(text, &l))
		return;
	fuzz_require(is_whole(l.group, sizeof(l.group)) && is_whole(l.event, sizeof(l.event)) &&
		     is_whole(l.path, sizeof(l.path)));
	fuzz_require(l.is_return == (text[0] == 'r'));
	(void)uprobe_profile_parse(text, l.event, &hits);
}

static void check_spec(const char *text)
{
	struct uprobe_spec s;
	struct error err = {0};

	if (uprobe_spec_parse(text, &s, &err) < 0) {
		fuzz_require(*err.text);
		return;
	}
	fuzz_require(is_whole(s.binary, sizeof(s.binary)));
	fuzz_require(memchr(s.function, '\0', sizeof(s.function)) != NULL);
	fuzz_require(!s.is_return || !*s.function || !s.offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_calloc(1, size + 1);
	uint64_t hits;

	fuzz_require(text != NULL);
	if (size)
		memcpy(text, data, size);
	check_line(text);
	check_spec(text);
	if (uprobe_profile_parse(text, "main", &hits))
		fuzz_require(strstr(text, "main") != NULL);
	mem_free(text);
	return 0;
}
