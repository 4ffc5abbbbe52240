// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uprobes: on top a row a probe, those that cost most first, or a row a process (b); below a row a
 * process that has an area of slots for instructions out of line, who waits for one first. Enter
 * leads from a probe to its hits by CPU, from a process to the tasks in its slots.
 */
#include "kontend/engine.h"
#include "kontend/units.h"
#include "list.h"
#include "note.h"

#include <stdio.h>
#include <string.h>

enum { PANE_PROBES, PANE_WAITS, PANE_AREAS, PANES };
enum { PROBES_MIN = 4, AREAS_MIN = 3, WAITS_MAX = 4 };

struct view_uprobes {
	struct view v;
	bool by_process;
	bool all_areas; /* also those that use no slot, a row each */
	struct pane panes[PANES];
	struct pane_set set;
};

struct page {
	struct query_uprobe_sum sum;
	struct list_part probes;
	struct table waits, areas;
	struct rect r_probes, r_waits, r_areas;
};

static struct view_uprobes *of_view(struct view *v)
{
	return (struct view_uprobes *)v;
}

static const char *rate_text(const struct query_uprobe_sum *p, char *buf)
{
	if (!p->rate_known)
		return "-";
	return p->hits_per_s > 0 ? units_rate(buf, p->hits_per_s) : "·";
}

/* "probes 12  hits/s 1.20k  CPU ~0.4%  slots 6/31 app/931  waiting 9" */
static void put_figures(const struct query_uprobe_sum *p, struct line *l)
{
	char buf[UNITS_BUF];

	line_put(l, ROLE_DIM, "probes ");
	line_printf(l, ROLE_BOLD, "%u", p->probes);
	line_put(l, ROLE_DIM, "  hits/s ");
	line_put(l, ROLE_NORMAL, rate_text(p, buf));
	if (p->cpu_known && p->hits_per_s > 0) {
		line_put(l, ROLE_DIM, "  CPU ");
		line_printf(l, ROLE_NORMAL, "~%s%%", units_pct(buf, p->cpu_pct));
	}
	if (p->worst) {
		bool full = p->worst_used >= p->worst_slots;
		line_put(l, ROLE_DIM, "  slots ");
		line_printf(l, full ? ROLE_WARN : ROLE_NORMAL, "%d/%d %s", p->worst_used,
			    p->worst_slots, p->worst);
	}
	if (p->waiting) {
		line_put(l, ROLE_DIM, "  waiting ");
		line_printf(l, ROLE_WAITING, "%u", p->waiting);
	}
}

void view_uprobes_line(const struct query_uprobe_sum *p, struct line *l)
{
	const uint32_t lists = UPSNAP_NO_TRACEFS | UPSNAP_NO_PERF | UPSNAP_NO_LINKS;
	char buf[UNITS_BUF];

	line_whole(l, ROLE_DIM, "uprobes ");
	if (!p->known || (!p->probes && !p->areas && !(p->missing & lists))) {
		line_put(l, ROLE_NORMAL, p->known ? "·" : "-");
		return;
	}
	line_printf(l, ROLE_BOLD, "%u%s", p->probes, p->missing & lists ? "+" : "");
	line_whole(l, ROLE_NORMAL, ", %s hits/s", rate_text(p, buf));
	if (p->cpu_known && p->hits_per_s > 0)
		line_whole(l, ROLE_NORMAL, ", ~%s%% of a CPU", units_pct(buf, p->cpu_pct));
	if (p->waiting)
		line_whole(l, ROLE_WAITING, "  %u waiting", p->waiting);
	if (p->worst)
		line_whole(l, p->worst_used >= p->worst_slots ? ROLE_WARN : ROLE_NORMAL,
			   "  XOL %d/%d %s", p->worst_used, p->worst_slots, p->worst);
	else if (p->areas)
		line_whole(l, ROLE_NORMAL, "  XOL - in %u processes", p->areas);
}

int view_uprobes_head(struct view *v, struct screen *s, struct rect r,
		      const struct query_uprobe_sum *p)
{
	/* Costs are an offer, not a lack: without probes they are not missed. */
	uint32_t missing = p->probes ? p->missing : p->missing & ~(uint32_t)UPSNAP_NO_COSTS;
	struct line l = {.s = s, .r = r, .x = 1};
	char ns[UNITS_BUF], cost[UNITS_BUF + 8];

	put_figures(p, &l);
	snprintf(cost, sizeof(cost), "cost %s", units_ns(ns, p->cost_ns));
	return view_draw_moment(v, s, r, l.x,
				&(struct view_moment){
					.method = query_uprobe_method_name(p->method),
					.costs = {cost, cost},
					.age_ns = p->age_ns,
					.incomplete = p->incomplete,
					.dropped = p->dropped,
					.dropped_what = "areas, tasks or probes",
					.missing = query_uprobe_missing_text(v->query, missing),
					.reason = p->reason,
				});
}

static int ask_probes(struct view *v, struct query_spec *spec, struct table *ret, struct error *err)
{
	spec->average = app_averages(v->app);
	return (of_view(v)->by_process ? query_uprobe_processes
				       : query_uprobe_probes)(v->query, spec, ret, err);
}

/* Sort keys and filters are for the probes. */
static int ask_page(struct view_uprobes *o, struct page *p, struct error *err)
{
	bool average = app_averages(o->v.app);
	struct query_spec waits = {.average = average}, areas = {0};
	int r = query_uprobe_sum(o->v.query, average, &p->sum);

	if (r == 0)
		r = list_part_ask(&p->probes, err);
	if (r == 0)
		r = (o->all_areas ? query_uprobe_areas
				  : query_uprobe_areas_folded)(o->v.query, &areas, &p->areas, err);
	if (r == 0)
		r = query_uprobe_waits(o->v.query, &waits, &p->waits, err);
	return r;
}

static void place(struct page *p, struct rect r)
{
	int areas = p->areas.n_rows + 2 > (size_t)r.h ? r.h : (int)p->areas.n_rows + 2;
	int most = r.h / 2;
	int waits = p->waits.n_rows > WAITS_MAX ? WAITS_MAX + 2 : (int)p->waits.n_rows + 2;
	struct rect rows[3];

	areas = areas > most ? most : areas;
	waits = p->waits.n_rows && r.h >= PROBES_MIN + waits + areas ? waits : 0;
	layout_rows(r,
		    (struct layout_part[]){
			    {PROBES_MIN, PROBES_MIN, 1}, {waits, waits, 0}, {AREAS_MIN, areas, 0}},
		    3, rows);
	p->r_probes = rows[0];
	p->r_waits = rows[1];
	p->waits.n_rows = waits ? p->waits.n_rows : 0; /* the selection does not go there */
	p->r_areas = rows[2];
}

/* Out of line has a colour where hits have costs. */
static enum role probe_role(const struct table *t, size_t row)
{
	const struct value *v = table_cell(t, row, "class");

	return v->known && !strcmp(v->s, "out of line") ? ROLE_HEAT_MID : ROLE_NORMAL;
}

static void draw_probes(struct view_uprobes *o, struct page *p, struct screen *s)
{
	struct table_style style = {.columns = app_columns(o->v.app),
				    .tick = o->v.query->model->n_ticks,
				    .row_role = o->by_process ? NULL : probe_role,
				    .search = app_search(o->v.app)};
	const char *title =
		list_part_title(&p->probes, o->by_process ? "probes, by process" : "probes");

	list_part_draw(&p->probes, s, p->r_probes, title, &style,
		       p->probes.table.n_total ? view_empty_text(&o->v, &p->probes.table)
					       : "there is no uprobe that is known");
}

static enum role area_role(const struct table *t, size_t row)
{
	const struct value *v = table_cell(t, row, "waiting");

	return v->known && v->u ? ROLE_WAITING : ROLE_NORMAL;
}

static void draw_areas(struct view_uprobes *o, struct page *p, struct screen *s)
{
	struct table_style style = {.columns = app_columns(o->v.app),
				    .tick = o->v.query->model->n_ticks,
				    .row_role = area_role,
				    .empty = "no process has slots"};

	o->panes[PANE_AREAS].table.sort[0] = '\0';
	pane_draw_table(&o->set, PANE_AREAS, s, p->r_areas, "out-of-line slots, by process",
			&p->areas, &style);
}

/* Absent where no task waits there, or there is no room. */
static void draw_waits(struct view_uprobes *o, struct page *p, struct screen *s)
{
	struct table_style style = {.columns = app_columns(o->v.app),
				    .tick = o->v.query->model->n_ticks,
				    .heat = "wait_ns_per_s"};

	o->panes[PANE_WAITS].table.sort[0] = '\0';
	pane_draw_table(&o->set, PANE_WAITS, s, p->r_waits,
			"waits for locks in the code of uprobes", &p->waits, &style);
}

static void uprobes_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_uprobes *o = of_view(v);
	struct page p = {.probes = {.v = v,
				    .set = &o->set,
				    .pane = PANE_PROBES,
				    .lines = r.h,
				    .ask = ask_probes}};
	struct error err = {0};

	if (ask_page(o, &p, &err) < 0) {
		view_draw_error(s, r, &err);
		return;
	}
	if (!p.sum.known) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM, p.sum.reason);
		return;
	}
	int y = view_uprobes_head(v, s, r, &p.sum);
	place(&p, layout_below(r, y));
	draw_probes(o, &p, s);
	draw_waits(o, &p, s);
	draw_areas(o, &p, s);
}

static int uprobes_init(struct view *v)
{
	struct view_uprobes *o = of_view(v);

	o->set = (struct pane_set){.panes = o->panes, .n = PANES, .focus = PANE_PROBES};
	return 0;
}

static void uprobes_deinit(struct view *v)
{
	pane_set_deinit(&of_view(v)->set);
}

typedef int ask_rows(struct query *q, const struct query_spec *s, struct table *ret,
		     struct error *err);

/* The page @ops of the row @id of what @rows answers, with what @key says of it as its title. */
static int open_page(struct view_uprobes *o, const struct view_ops *ops, ask_rows *rows,
		     const char *key, uint64_t id)
{
	struct query_spec all = {0};
	struct table t;
	int r = rows(o->v.query, &all, &t, NULL);
	size_t row = r < 0 ? SIZE_MAX : table_row(&t, id);
	const char *title = row == SIZE_MAX ? NULL : table_text(&t, row, key);

	if (r < 0)
		return r;
	if (title)
		return app_push_row(o->v.app, ops, id, title);
	app_say(o->v.app, ROLE_NORMAL, "this has just gone");
	return 0;
}

static int open_probe(struct view_uprobes *o, uint64_t id)
{
	return open_page(o, &view_uprobe, query_uprobe_probes, "probe", id);
}

static int open_area(struct view_uprobes *o, uint64_t mm)
{
	if (mm == QUERY_UPROBE_IDLE) {
		o->all_areas = true;
		return 0;
	}
	return open_page(o, &view_xol, query_uprobe_areas, "process", mm);
}

/* Of a process there is more to see when it has slots. */
static int open_process(struct view_uprobes *o, uint64_t id)
{
	const char *why;
	const struct upsnap *s = query_uprobe_snap(o->v.query, &why);

	for (size_t i = 0; s && i < s->n_areas; i++)
		if ((uint32_t)s->areas[i].pid + 1ull == id)
			return open_area(o, s->areas[i].mm);
	app_say(o->v.app, ROLE_NORMAL, "%s",
		id == QUERY_UPROBE_ALL ? "which processes these are hit in is not known"
				       : "this process has no slots");
	return 0;
}

static int open_row(struct view_uprobes *o)
{
	uint64_t id = o->panes[o->set.focus].table.selected;

	if (o->set.focus == PANE_AREAS)
		return open_area(o, id);
	if (o->set.focus == PANE_WAITS)
		return 0;
	return o->by_process ? open_process(o, id) : open_probe(o, id);
}

static int uprobes_page(struct view *v)
{
	struct view_uprobes *o = of_view(v);
	const struct table_widget *w = &o->panes[o->set.focus].table;
	bool is_folded = o->set.focus == PANE_AREAS && w->selected == QUERY_UPROBE_IDLE;

	return w->has_rows && !is_folded ? open_row(o) : VIEW_UNHANDLED;
}

static void set_by(struct view_uprobes *o, bool by_process)
{
	pane_deinit(&o->panes[PANE_PROBES]);
	o->panes[PANE_PROBES] = (struct pane){0};
	o->by_process = by_process;
}

static int set_by_name(struct view_uprobes *o, const char *name)
{
	if (name && (!strcmp(name, "process") || !strcmp(name, "probe")))
		set_by(o, !strcmp(name, "process"));
	else
		app_say(o->v.app, ROLE_WARN, "by %s? One of: probe process", name ? name : "what");
	return 0;
}

static int uprobes_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_uprobes *o = of_view(v);

	if (c == CMD_BY)
		return set_by_name(o, arg->text);
	if (c == CMD_BY_NEXT || c == CMD_BY_PREV) {
		set_by(o, !o->by_process);
		return 0;
	}
	if (c >= CMD_SORT_PREV && c <= CMD_SORT)
		o->set.focus = PANE_PROBES;
	int r = pane_command(&o->set, c, arg);
	return r == WIDGET_ENTER ? open_row(o) : r;
}

static void list_bys(struct view *v, struct view_bys *ret)
{
	*ret = (struct view_bys){{"probe", "process"}, 2, of_view(v)->by_process};
}

/* Sort keys are for the probes, wherever the focus is. */
static struct table_widget *sorted_table(struct view *v)
{
	return &of_view(v)->panes[PANE_PROBES].table;
}

static const struct view_choices choices = {list_bys, sorted_table};

static const struct view_key keys[] = {
	{CMD_ENTER, "why?"}, {CMD_FILTER, "filter"}, {CMD_BY, "by"},
	{CMD_SORT, "sort"},  {CMD_NONE, NULL},
};

const struct view_ops view_uprobes = {
	.name = "uprobes",
	.title = "uprobes",
	.brief = "uprb",
	.digit = '7',
	.keys = keys,
	.help = "Probes in programs and libraries, of any tool: what they replaced, how "
		"often they are hit, and what that costs. An instruction that the kernel can do "
		"itself is emulated: one trap a hit. Others are executed out of line: two traps, "
		"and one of the slots (31 on x86) that a process has, for which its threads may "
		"have to wait. Below, the processes that have such slots; those that use none are "
		"one row, and Enter on it shows each. COST and CPU% are known "
		"when kontend bench uprobe has measured them since the machine was started. Enter "
		"shows a probe by CPU, or who is in the slots of a process; b sums up by process.",
	.tables = "uprobes xol",
	.size = sizeof(struct view_uprobes),
	.init = uprobes_init,
	.deinit = uprobes_deinit,
	.draw = uprobes_draw,
	.command = uprobes_command,
	.page = uprobes_page,
	.choices = &choices,
};
