/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_VERSUS_H
#define KONTEND_UI_APP_VERSUS_H

#include "kontend/query-zoom.h"
#include "kontend/view.h"
#include "prompt.h"

struct app;
struct app_options;
struct flame_diff;

/* The sides that a flame graph compares. */
enum { VERSUS_SIDES = 2, APP_GROUP_NAME = 80, APP_TERMS = 1024 };

/* Some of the waits. */
struct app_group {
	struct query_scope scope; /* with a mask: they have no samples */
	struct query_zoom zoom;
	char only[PROMPT_TEXT + 4]; /* a filter; "": all */
	char name[APP_GROUP_NAME];  /* "": none is chosen */
};

struct app_versus {
	struct app_group groups[VERSUS_SIDES];
	const char *file;	/* another recording, the side A; NULL: none */
	struct query other;	/* of that */
	bool is_off;		/* that is not compared any more */
	struct flame_diff *sum; /* of the last frame: names in it are of this */
};

/* 0 or -ENOMEM. */
int app_versus_begin(struct app *a, const struct app_options *o);
void app_versus_end(struct app *a);
/* A filter of a group; or "on", "off": with the other recording or without it. */
void app_versus_text(struct app *a, const char *text);

#endif
