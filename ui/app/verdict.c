// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sentence that the screen begins with. It gets worse at once and better after three seconds:
 * what changes with every refresh cannot be read. Where it is too long the name in it is cut, in
 * the middle, and never a figure.
 */
#include "verdict.h"
#include "../widgets/line.h"
#include "kontend/engine.h"
#include "kontend/query.h"
#include "kontend/text.h"

#include <stdio.h>
#include <string.h>

#define KEPT_NS 3000000000ull

int verdict_ask(struct verdict *k, struct query *q, const struct query_verdict_facts *f)
{
	uint64_t now = q->model->now_ns;
	struct query_verdict is;
	int r = query_verdict(q, f, &is);

	if (r < 0)
		return r;
	/* After a step back in time what was said then does not matter. */
	if (is.level < k->level && now >= k->said_ns && now - k->said_ns < KEPT_NS && !f->average)
		return 0;
	k->level = is.level;
	k->rule = is.rule;
	k->lock = is.lock;
	k->said_ns = now;
	k->more = is.more;
	text_clean(k->text, sizeof(k->text), is.text);
	text_clean(k->name, sizeof(k->name), is.name ? is.name : "");
	text_clean(k->because, sizeof(k->because), is.because ? is.because : "");
	return 0;
}

/* Bytes of @s that are at most @width columns; of its end with @from_end. */
static size_t bytes_of(const char *s, int width, bool from_end)
{
	int skip = from_end ? text_width(s) - width : 0, x = 0;
	size_t at = 0;

	while (s[at]) {
		uint32_t ch;
		size_t n = text_decode(s + at, &ch);
		if (x >= (from_end ? skip : width))
			break;
		x += text_char_width(ch);
		at += n;
	}
	return at;
}

/* What is said, its name shortened in the middle so that all has @width columns. */
static void put_text(struct line *l, enum role role, const struct verdict *k, int width)
{
	const char *at = *k->name ? strstr(k->text, k->name) : NULL;
	int over = text_width(k->text) - width, keep = text_width(k->name) - over - 1;

	if (over <= 0 || !at || keep < 4) {
		line_put(l, role, k->text);
		return;
	}
	/* The end has the number of its process. */
	int first = keep / 3 < 2 ? 2 : keep / 3;
	int head = (int)(at - k->text) + (int)bytes_of(k->name, first, false);
	line_printf(l, role, "%.*s…", head, k->text);
	line_put(l, role, at + bytes_of(k->name, keep - first, true));
}

static enum role role_of(enum verdict_level l)
{
	if (l == VERDICT_BAD)
		return ROLE_ERROR;
	return l >= VERDICT_LOOK ? ROLE_WARN : ROLE_DIM;
}

void verdict_draw(const struct verdict *k, struct screen *s, struct rect r, const char *hint)
{
	char more[16] = "";
	struct line l = {.s = s, .r = r, .x = 1};

	if (k->more)
		snprintf(more, sizeof(more), "  +%u", k->more);
	line_printf(&l, role_of(k->level), "%-4s ", query_verdict_word(k->level));
	put_text(&l, k->level >= VERDICT_LOOK ? ROLE_BOLD : ROLE_DIM, k,
		 r.w - l.x - (int)strlen(more) - 1);
	line_put(&l, ROLE_DIM, more);
	if (hint)
		line_whole(&l, ROLE_DIM, " · %s", hint);
}

const char *verdict_view(const struct verdict *k)
{
	static const char *const views[VERDICT_RULES] = {
		[VERDICT_SLOTS] = "slots",	 [VERDICT_SHORT] = "contexts",
		[VERDICT_ROTATION] = "rotation", [VERDICT_UPROBES] = "uprobes",
		[VERDICT_XOL] = "uprobes",
	};

	return k->level >= VERDICT_LOOK ? views[k->rule] : NULL;
}
