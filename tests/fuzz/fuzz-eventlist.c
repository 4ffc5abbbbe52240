// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as attributes, formats and names of events: every event has a name, is found by it and
 * by its number, and the names read as the same once they are written again. Pieces begin with a
 * byte that says what they are, and their length.
 */
#include "fuzz.h"
#include "kontend/eventlist.h"
#include "kontend/mem.h"
#include <linux/perf_event.h>
#include <string.h>

static void check_names(const void *data, size_t size)
{
	struct eventsnap s = {0}, t = {0};

	if (eventsnap_decode(&s, data, size) == 0) {
		size_t len = eventsnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		eventsnap_encode(&s, p);
		fuzz_require(eventsnap_decode(&t, p, len) == 0 && eventsnap_size(&t) == len);
		eventsnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	eventsnap_deinit(&s);
	eventsnap_deinit(&t);
}

static void add_attr(struct eventlist *l, const uint8_t *data, size_t size)
{
	uint32_t declared;

	/* As decode_add_attr() accepts them. */
	if (size < PERF_ATTR_SIZE_VER0)
		return;
	memcpy(&declared, data + offsetof(struct perf_event_attr, size), sizeof(declared));
	if (declared >= PERF_ATTR_SIZE_VER0 && declared <= size)
		fuzz_require(eventlist_add(l, data, size) == 0);
}

static void check_list(const struct eventlist *l)
{
	char number[24];
	struct error err = {0};

	fuzz_require(l->n <= EVENTLIST_MOST);
	for (size_t i = 0; i < l->n; i++) {
		uint64_t bit = UINT64_C(1) << i;
		snprintf(number, sizeof(number), "%zu", i + 1);
		fuzz_require(strlen(l->events[i].name) < EVENTLIST_NAME);
		fuzz_require(eventlist_match(l, number) == (l->events[i].is_own ? 0 : bit));
		fuzz_require(eventlist_same(l, i) & bit);
	}
	eventlist_check(l, "no such event", &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eventlist l = {0};

	while (size >= 3) {
		size_t len = (size_t)data[1] | (size_t)data[2] << 8;
		uint8_t what = data[0] % 4;
		data += 3;
		size -= 3;
		len = len < size ? len : size;
		if (what == 0)
			add_attr(&l, data, len);
		else if (what == 1)
			fuzz_require(eventlist_take_format(&l, data, len) == 0);
		else if (what == 2)
			fuzz_require(eventlist_take_names(&l, data, len) == 0);
		else
			check_names(data, len);
		data += len;
		size -= len;
	}
	check_list(&l);
	eventlist_deinit(&l);
	return 0;
}
