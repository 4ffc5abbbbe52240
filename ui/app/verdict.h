/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_VERDICT_H
#define KONTEND_UI_APP_VERDICT_H

#include "kontend/query-verdict.h"
#include "kontend/screen.h"

enum { VERDICT_TEXT = 320 };

struct query;

struct view;

struct verdict_said {
	enum verdict_level level;
	enum verdict_rule rule; /* from VERDICT_LOOK on */
	uint64_t lock;		/* id of the row by lock; 0: it is about none */
	char text[VERDICT_TEXT], name[VERDICT_TEXT], word[VERDICT_TEXT], because[VERDICT_TEXT];
	char spare[VERDICT_TEXT], longest[VERDICT_TEXT];
	char at[VERDICT_TEXT], syscall[VERDICT_TEXT], owner_at[VERDICT_TEXT];
};

/* The verdict shown, and until when no better one may replace it. `= {0}` is none yet. */
struct verdict {
	struct verdict_said worst;		  /* or that nothing is wrong */
	struct verdict_said found[VERDICT_RULES]; /* all, the worst first */
	uint32_t n;
	/* Tasks that wait for other things than kernel locks; texts of this frame, or NULL. */
	const char *also, *elsewhere;
	uint64_t said_ns; /* session clock: when that was true last */
	/* The findings that were opened one after the other, by rule, and the page of the last one:
	 * for comparison only. */
	uint32_t opened;
	const struct view *page;
};

/* 0 or -ENOMEM. */
int verdict_ask(struct verdict *k, struct query *q, const struct query_verdict_facts *f);
/* On the first line of @r; @hint, or NULL, after it where there is room. */
void verdict_draw(const struct verdict *k, struct screen *s, struct rect r, const char *hint);
/* The view that shows what it is about; NULL: a lock's page does, or it is about nothing. */
const char *verdict_view(const struct verdict_said *s);

#endif
