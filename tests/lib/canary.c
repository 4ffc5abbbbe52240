// SPDX-License-Identifier: GPL-2.0-only
/* This program as what was measured: a function that can be looked up in its own file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canary.h"
#include "synth-profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

#define MS 1000000ull

/* It is looked for by its name. */
__attribute__((noinline, used)) uint64_t names_canary(uint64_t x);
__attribute__((noinline, used)) uint64_t names_canary(uint64_t x)
{
	return x * 2654435761u ^ x >> 3;
}

uint64_t canary_addr(void)
{
	return (uint64_t)(uintptr_t)names_canary;
}

struct canary_place canary_here(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	struct canary_place h = {0};
	uint64_t end;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64 " %*s %*s %255s", &h.start,
			   &end, &h.pgoff, h.path) == 4 &&
		    h.start <= canary_addr() && canary_addr() < end)
			break;
	fclose(f);
	h.len = end - h.start;
	return h;
}

static uint64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Emits the header of a recording made by this machine. */
void canary_machine(struct synth *s)
{
	struct record_host h = {.clock_ns = clock_of(CLOCK_MONOTONIC),
				.wall_ns = clock_of(CLOCK_REALTIME),
				.machine = "x86_64"};
	struct utsname u;

	uname(&u);
	snprintf(h.release, sizeof(h.release), "%s", u.release);
	synth_record(s, RECORD_HOST, 0, &h, sizeof(h));
}

void canary_stream(struct synth *s, uint64_t begin, const struct canary_place *h)
{
	const uint64_t chain[] = {canary_addr() + 1, 0x10};

	synth_mmap(s, 0, begin, CANARY_PID, h->start, h->len, h->pgoff, h->path);
	for (uint64_t i = 0; i < 9; i++)
		synth_sample(s, 0, begin + i * MS, CANARY_PID, CANARY_PID, MS,
			     (struct synth_chain){.user = chain, .n_user = 2});
	synth_tick(s, begin + 100 * MS);
}
