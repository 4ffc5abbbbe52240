// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line that is written over itself, ten times a second at most, and not at all within the first
 * half second: quicker work needs no bar. It is made of ASCII and of the carriage return alone, so
 * that any terminal can show it.
 */
#include "kontend/progress.h"
#include "kontend/clock.h"
#include "kontend/text.h"
#include "kontend/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 30, WIDTH = 79 };

#define FIRST_NS 500000000ull
#define EVERY_NS 100000000ull

void progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){0};
	if (!isatty(STDERR_FILENO))
		return;
	p->what = what;
	p->next_ns = clock_now_ns() + FIRST_NS;
}

static void draw(const struct progress *p, uint64_t done, uint64_t all)
{
	char what[40], bar[BAR + 1], line[WIDTH + 1], bytes[UNITS_BUF];
	unsigned pct = all ? (unsigned)((double)(done < all ? done : all) * 100 / (double)all) : 0;

	text_clean(what, sizeof(what), p->what);
	if (all) {
		memset(bar, '.', BAR);
		memset(bar, '#', BAR * pct / 100);
		bar[BAR] = '\0';
		snprintf(line, sizeof(line), "%s [%s] %u%%", what, bar, pct);
	} else {
		snprintf(line, sizeof(line), "%s: %s", what, units_bytes(bytes, done));
	}
	fprintf(stderr, "\r%-*s\r%s", WIDTH, "", line);
	fflush(stderr);
}

void progress_update(struct progress *p, uint64_t done, uint64_t all)
{
	uint64_t now;

	if (!p->what)
		return;
	now = clock_now_ns();
	if (now < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	p->shown = true;
	draw(p, done, all);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r%-*s\r", WIDTH, "");
	p->shown = false;
}
