// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sentence that the screen begins with. It gets worse at once and better after three seconds:
 * what changes with every refresh cannot be read. Where it is too long a figure that says nearly
 * the same as another one goes, then the name in it is cut, in the middle; of "rwsem:R in
 * lock_mm_and_find_vma" the type goes first.
 */
#include "verdict.h"
#include "kontend/engine.h"
#include "kontend/query.h"
#include "kontend/screen.h"
#include "kontend/text.h"

#include <stdio.h>
#include <string.h>

#define CACHEFILE_NS 3000000000ull

static void keep(struct verdict_said *s, const struct query_finding *f)
{
	s->level = f->level;
	s->rule = f->rule;
	s->lock = f->lock;
	text_clean(s->text, sizeof(s->text), f->text);
	text_clean(s->name, sizeof(s->name), f->name ? f->name : "");
	text_clean(s->word, sizeof(s->word), f->word ? f->word : "");
	text_clean(s->spare, sizeof(s->spare), f->spare ? f->spare : "");
	text_clean(s->longest, sizeof(s->longest), f->longest ? f->longest : "");
	text_clean(s->because, sizeof(s->because), f->because ? f->because : "");
	text_clean(s->at, sizeof(s->at), f->at ? f->at : "");
	text_clean(s->syscall, sizeof(s->syscall), f->syscall ? f->syscall : "");
	text_clean(s->owner_at, sizeof(s->owner_at), f->owner_at ? f->owner_at : "");
}

int verdict_ask(struct verdict *k, struct query *q, const struct query_verdict_facts *f)
{
	uint64_t now = q->model->now_ns;
	struct query_verdict is;
	int r = query_verdict(q, f, &is);

	k->also = k->elsewhere = NULL;
	if (r < 0)
		return r;
	const char *name;
	k->also = query_elsewhere_most(q, &is.elsewhere, &name);
	k->elsewhere = query_elsewhere_short(q, &is.elsewhere);
	/* After a step back in time the former verdict does not matter. */
	if (is.worst.level < k->worst.level && now >= k->said_ns &&
	    now - k->said_ns < CACHEFILE_NS && !f->average)
		return 0;
	k->said_ns = now;
	k->n = is.n_findings;
	keep(&k->worst, &is.worst);
	for (uint32_t i = 0; i < is.n_findings; i++)
		keep(&k->found[i], &is.findings[i]);
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

/* The text, @part of it shortened in the middle so that all has @width columns. */
static void put_cut(struct line *l, enum role role, const char *text, const char *part, int width)
{
	const char *at = *part ? strstr(text, part) : NULL;
	int over = text_width(text) - width, keep = text_width(part) - over - 1;

	if (over <= 0 || !at || keep < 4) {
		line_put(l, role, text);
		return;
	}
	/* The end has the number of its process. */
	int first = keep / 3 < 2 ? 2 : keep / 3;
	int head = (int)(at - text) + (int)bytes_of(part, first, false);
	line_printf(l, role, "%.*s…", head, text);
	line_put(l, role, at + bytes_of(part, keep - first, true));
}

/* @text with @to in place of @part, if it has that. */
static void replace(char *ret, size_t size, const char *text, const char *part, const char *to)
{
	const char *at = *part ? strstr(text, part) : NULL;

	if (at)
		snprintf(ret, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(part));
	else
		snprintf(ret, size, "%s", text);
}

static void put_text(struct line *l, enum role role, const struct verdict_said *s, int width)
{
	char less[VERDICT_TEXT], least[VERDICT_TEXT], text[2 * VERDICT_TEXT];

	if (text_width(s->text) <= width) {
		line_put(l, role, s->text);
		return;
	}
	replace(less, sizeof(less), s->text, s->spare, "");
	replace(text, sizeof(text), less, s->name, s->word);
	if (text_width(less) > width && (!*s->word || text_width(text) > width)) {
		/* The overview and tables have the longest wait, too: a whole name says more. */
		replace(least, sizeof(least), less, s->longest, "");
		snprintf(less, sizeof(less), "%s", least);
		replace(text, sizeof(text), less, s->name, s->word);
	}
	if (text_width(less) <= width || !*s->word)
		put_cut(l, role, less, s->name, width);
	else
		put_cut(l, role, text, s->word, width);
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

	if (k->n > 1)
		snprintf(more, sizeof(more), "  +%u", k->n - 1);
	line_printf(&l, role_of(k->worst.level), "%-4s ", query_verdict_word(k->worst.level));
	put_text(&l, k->worst.level >= VERDICT_LOOK ? ROLE_BOLD : ROLE_DIM, &k->worst,
		 r.w - l.x - (int)strlen(more) - 1);
	line_put(&l, ROLE_DIM, more);
	if (hint)
		line_whole(&l, ROLE_DIM, " · %s", hint);
}

const char *verdict_view(const struct verdict_said *s)
{
	static const char *const views[VERDICT_RULES] = {
		[VERDICT_DEADLOCK] = "chains",	 [VERDICT_BLOCKED] = "blocked",
		[VERDICT_SLOTS] = "slots",	 [VERDICT_SHORT] = "contexts",
		[VERDICT_ROTATION] = "rotation", [VERDICT_UPROBES] = "uprobes",
		[VERDICT_XOL] = "uprobes",	 [VERDICT_SPIN] = "hot",
	};

	if (s->level == VERDICT_NONE)
		return "hot";
	return s->level >= VERDICT_LOOK ? views[s->rule] : NULL;
}
