// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sides that a flame graph compares: both marks, two groups of waits, or another recording and
 * the one on the screen. A group is a row that the user chose, or a filter; both are of the same
 * time. Of another recording all waits are meant that pass the filters of the view, by names, as
 * numbers of tasks and addresses of locks are other ones there.
 */
#include "../views/flame.h"
#include "kontend/query-diff.h"
#include "kontend/query-flame-diff.h"
#include "kontend/query-load.h"
#include "kontend/text.h"
#include "kontend/wait-filter.h"
#include "priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Of a frame, for names of programs. */
static const uint64_t LOAD_NS = 2000000;

static const char *const names[MARKS] = {"A", "B"};

static bool has_groups(const struct app *a)
{
	return *a->versus.groups[MARK_A].name && *a->versus.groups[MARK_B].name;
}

int app_versus_begin(struct app *a, const struct app_options *o)
{
	if (!o->against)
		return 0;
	int r = query_init(&a->versus.other, o->against);
	if (r < 0)
		return r;
	a->versus.file = o->against_name;
	a->window = APP_WINDOW_ALL;
	return 0;
}

void app_versus_end(struct app *a)
{
	if (a->versus.file)
		query_deinit(&a->versus.other);
	query_flame_diff_free(a->versus.sum);
	a->versus = (struct app_versus){0};
}

/* Rows of these keys are the same in another recording, by name. False: those of @by are not. */
static bool add_terms(struct app *a, enum query_by by, uint64_t id, char *ret, size_t size)
{
	const char *title = query_title(&a->query, by, id), *blank = strchr(title, ' '),
		   *slash = strrchr(title, '/');
	int n = (int)size;

	if (strchr(title, '"'))
		return false;
	if (by == BY_CALLER && blank)
		n = snprintf(ret, size, "kind=\"%.*s\" caller=\"%s\" ", (int)(blank - title), title,
			     blank + 1);
	else if (by == BY_TASK && slash)
		n = snprintf(ret, size, "comm=\"%.*s\" ", (int)(slash - title), title);
	else if (by == BY_TYPE)
		n = snprintf(ret, size, "kind=\"%s\" ", title);
	else if (by == BY_CPU)
		n = snprintf(ret, size, "cpu=%llu ", (unsigned long long)id);
	else if (by == BY_CGROUP)
		n = snprintf(ret, size, "cgroup=\"%s\" ", title);
	return n < (int)size;
}

/* The scope as a filter; false: it has no counterpart. */
static bool terms_of(struct app *a, const struct query_scope *s, char *ret, size_t size)
{
	*ret = '\0';
	for (int by = 0; by < QUERY_SCOPES; by++) {
		const size_t at = strlen(ret);
		if (s->mask & 1u << by &&
		    !add_terms(a, (enum query_by)by, s->id[by], ret + at, size - at))
			return false;
	}
	return true;
}

static bool has_counterpart(const struct query_zoom *z)
{
	for (size_t i = 0; z && i < z->n; i++)
		if (z->terms[i].kind <= ZOOM_TASK)
			return false;
	return true;
}

enum app_versus_kind app_versus(struct app *a, bool groups, const struct query_flame_spec *s,
				const char **ret_why)
{
	char terms[APP_TERMS];

	*ret_why = NULL;
	if (groups && has_groups(a))
		return VERSUS_GROUPS;
	if (app_compare_on(a))
		return VERSUS_MARKS;
	if (!a->versus.file || a->versus.is_off)
		return VERSUS_NONE;
	if (has_counterpart(s->zoom) && terms_of(a, &s->scope, terms, sizeof(terms)))
		return VERSUS_OTHER;
	*ret_why = "no counterpart in A";
	return VERSUS_NONE;
}

const char *app_versus_name(const struct app *a, enum app_versus_kind kind, int side)
{
	if (kind == VERSUS_GROUPS)
		return a->versus.groups[side].name;
	if (kind == VERSUS_OTHER)
		return side == MARK_A ? a->versus.file : a->time.name;
	return NULL;
}

static int set_filter(struct app *a, struct query *q, const char *terms, struct error *err)
{
	const char *all = a->narrowed;

	if (*terms)
		all = arena_printf(&q->arena, "%s %s", all ? all : "", terms);
	if (*terms && !all)
		return error_enomem(err, "a filter");
	return wait_filter_set(q, all, err);
}

static int add_tree(struct app *a, int side, struct query *q, const struct query_flame_spec *s,
		    struct error *err)
{
	struct query_tree tree;

	if (query_flame(q, s, &tree) < 0 ||
	    query_flame_diff_add(a->versus.sum, side == MARK_A ? FLAME_A : FLAME_B, &tree,
				 query_diff_length(q)) < 0)
		return error_enomem(err, "the call chains of both sides");
	if (query_load_names(q, LOAD_NS))
		app_again(a);
	return 0;
}

static int add_mark(struct app *a, int side, const struct query_flame_spec *s, struct error *err)
{
	struct query *q = app_mark_query(a, side, err);

	return q ? add_tree(a, side, q, s, err) : err->code;
}

/* The frame's query has its own filter again afterwards. */
static int add_group(struct app *a, int side, const struct query_flame_spec *s, struct error *err)
{
	const struct app_group *g = &a->versus.groups[side];
	struct query_flame_spec of = *s;

	of.scope = g->scope;
	of.zoom = &g->zoom;
	int r = *g->only ? set_filter(a, &a->query, g->only, err) : 0;
	if (r == 0)
		r = add_tree(a, side, &a->query, &of, err);
	if (*g->only && set_filter(a, &a->query, "", NULL) < 0 && r == 0)
		r = error_enomem(err, "a filter");
	return r;
}

/* Of what was selected in a heat map the lengths: its times are of the recording that is shown. */
static int add_other(struct app *a, const struct query_flame_spec *s, struct error *err)
{
	struct query *q = &a->versus.other;
	struct query_flame_spec of = *s;
	char terms[APP_TERMS];

	if (!terms_of(a, &s->scope, terms, sizeof(terms)))
		return error_set(err, -EINVAL, "That has no counterpart in the other recording");
	of.scope = (struct query_scope){0};
	q->part = (struct heat_part){.lower_ns = a->query.part.lower_ns,
				     .upper_ns = a->query.part.upper_ns};
	query_begin(q);
	int r = set_filter(a, q, terms, err);
	return r < 0 ? r : add_tree(a, MARK_A, q, &of, err);
}

static int add_side(struct app *a, enum app_versus_kind kind, int side,
		    const struct query_flame_spec *s, struct error *err)
{
	if (kind == VERSUS_GROUPS)
		return add_group(a, side, s, err);
	if (kind == VERSUS_MARKS)
		return add_mark(a, side, s, err);
	return side == MARK_A ? add_other(a, s, err) : add_tree(a, side, &a->query, s, err);
}

int app_versus_flame(struct app *a, enum app_versus_kind kind, const struct query_flame_spec *s,
		     struct query_flame_diff *ret, struct error *err)
{
	int r = 0;

	query_flame_diff_free(a->versus.sum);
	a->versus.sum = query_flame_diff_new(s->by_wait);
	for (int side = 0; a->versus.sum && r == 0 && side < MARKS; side++)
		r = add_side(a, kind, side, s, err);
	if (!a->versus.sum ||
	    (r == 0 && query_flame_diff_get(a->versus.sum, &a->query.arena, ret) < 0))
		r = error_enomem(err, "the call chains of both sides");
	return r;
}

/* The first is A; the second is B, and there the graph of both opens; a third is A again. */
static struct app_group *next_group(struct app *a)
{
	struct app_group *groups = a->versus.groups;
	const int side = *groups[MARK_A].name && !*groups[MARK_B].name ? MARK_B : MARK_A;

	if (side == MARK_A)
		groups[MARK_B] = (struct app_group){0};
	groups[side] = (struct app_group){0};
	return &groups[side];
}

static bool is_group(const struct app_group *a, const struct app_group *b)
{
	return strcmp(a->name, b->name) == 0 && a->scope.mask == b->scope.mask &&
	       memcmp(a->scope.id, b->scope.id, sizeof(a->scope.id)) == 0;
}

static int take(struct app *a, const struct app_group *g)
{
	struct app_group *groups = a->versus.groups;

	if (*groups[MARK_A].name && !*groups[MARK_B].name && is_group(g, &groups[MARK_A])) {
		app_say(a, ROLE_NORMAL, "that is A already: choose another one for B");
		return 0;
	}
	struct app_group *to = next_group(a);
	*to = *g;
	if (to == &groups[MARK_B])
		return flame_open_groups(app_keys(a), &groups[MARK_A].scope);
	app_say(a, ROLE_NORMAL, "%s is %s; F on another row draws the call chains of both",
		names[MARK_A], g->name);
	return 0;
}

/* The same, of samples as well, for those that take the CPU; false: it is of waits alone. */
static bool zoom_of(enum query_by by, uint64_t id, struct query_zoom *ret)
{
	char term[40];

	if (by == BY_PROCESS)
		snprintf(term, sizeof(term), "pid=%llu", (unsigned long long)id);
	else if (by == BY_CPU)
		snprintf(term, sizeof(term), "cpu=%llu", (unsigned long long)id);
	else
		return false;
	return query_zoom_parse(term, NULL, ret, NULL) == 0;
}

int app_versus_row(struct app *a, const struct query_scope *scope, enum query_by by, uint64_t id)
{
	struct app_group g = {.scope = *scope};

	text_clean(g.name, sizeof(g.name), query_title(&a->query, by, id));
	if (scope->mask || !zoom_of(by, id, &g.zoom)) {
		g.scope.mask |= 1u << by;
		g.scope.id[by] = id;
	}
	return take(a, &g);
}

static void turn(struct app *a, bool on)
{
	memset(a->versus.groups, 0, sizeof(a->versus.groups));
	a->versus.is_off = !on;
	if (a->versus.file)
		app_say(a, ROLE_NORMAL, "flame graphs are of %s%s", on ? "both: A is " : "B alone",
			on ? a->versus.file : "");
	else
		app_say(a, ROLE_DIM, "No group is chosen: F on a row is A, on another one B");
}

void app_versus_text(struct app *a, const char *text)
{
	struct app_group g = {.scope = app_keys(a)->scope};
	struct error err = {0};

	if (!strcmp(text, "off") || !strcmp(text, "on")) {
		turn(a, !strcmp(text, "on"));
		return;
	}
	if (wait_filter_check(text, &err) < 0) {
		app_say(a, ROLE_ERROR, "%s", err.text);
		return;
	}
	snprintf(g.only, sizeof(g.only), "(%s)", text);
	text_clean(g.name, sizeof(g.name), text);
	if (take(a, &g) < 0)
		app_say(a, ROLE_ERROR, "Not enough memory for the flame graph");
}

const char *app_versus_chosen(const struct app *a)
{
	const struct app_group *groups = a->versus.groups;

	return *groups[MARK_A].name && !*groups[MARK_B].name ? groups[MARK_A].name : NULL;
}
