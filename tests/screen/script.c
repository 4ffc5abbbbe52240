// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays a script of keys against the whole program short of its terminal and its kernel interface:
 * a canned stream, the engine, the app, a display in memory. The clock is the script's own, so that
 * the cost shown in the header is the same on every machine.
 */
#include "script.h"

#include "display-mem.h"
#include "kontend/app.h"
#include "kontend/command.h"
#include "kontend/history.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/query-incidents.h"
#include "kontend/query-ribbon.h"
#include "kontend/reader.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/timeline.h"
#include "kontend/trigger.h"
#include "kontend/units.h"
#include "streams.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t SETTLE_NS = 1000000000;

struct play {
	const char *path;
	int line;
	struct synth *synth;
	struct engine engine, other; /* other: against */
	struct timeline *timeline;
	struct display *display;
	struct query_ribbon figures;
	struct app *app;
	struct app_options options;
	struct triggers *triggers;
	struct query_incidents incidents;
	struct app_catcher catcher;
	char view[40], filter[200], recording[80], file[200], against[200], by[40], sort[40],
		trigger[100];
	double from, to; /* of a range; seconds */
	bool ascii, history, engine_ready, other_ready;
	FILE *out;
	char *dumped; /* the screen of the dump before, of this size; NULL: none yet */
	int dumped_w, dumped_h;
	uint64_t now_ns;
};

static uint64_t fake_now(void *arg)
{
	struct play *p = arg;

	if (!p->timeline)
		p->now_ns += 1000000000u;
	return p->now_ns;
}

static uint64_t fake_cpu(void *arg)
{
	return ((struct play *)arg)->now_ns / 250; /* 0.4 % */
}

static int fail(const struct play *p, const char *what, const char *detail)
{
	fprintf(stderr, "%s:%d: %s%s%s\n", p->path, p->line, what, *detail ? ": " : "", detail);
	return 1;
}

/* As `kontend replay` begins: read once, then from the beginning. */
static int start_replay(struct play *p, struct error *err)
{
	const struct timeline_options to = {.tick_ns = p->file[0] ? 500000000 : 0,
					    .watch = &p->figures.watch};
	uint64_t begin;

	query_ribbon_init(&p->figures);
	if (timeline_new(&p->timeline, &p->engine, &to, err) < 0)
		return fail(p, "timeline", err->text);
	begin = timeline_begin_ns(p->timeline);
	if (timeline_seek(p->timeline, begin, err) < 0)
		return fail(p, "beginning", err->text);
	p->options.timeline = p->timeline;
	p->options.figures = &p->figures;
	p->options.recording = p->recording;
	if (p->to > 0) {
		p->options.from_ns = begin + (uint64_t)(p->from * 1e9);
		p->options.to_ns = begin + (uint64_t)(p->to * 1e9);
	}
	return 0;
}

/* A recording in a file, named from where the script is. */
static struct source *open_file(struct play *p, const char *file)
{
	char path[PATH_MAX];
	const struct reader_options o = {.path = path, .no_symbols = true};
	struct error err = {0};
	struct source *s;

	snprintf(path, sizeof(path), "%.*s%s", (int)(strrchr(p->path, '/') + 1 - p->path), p->path,
		 file);
	if (reader_new(&s, &o, &err) < 0) {
		fail(p, path, err.text);
		abort();
	}
	return s;
}

static struct source *open_source(struct play *p)
{
	if (p->file[0])
		return open_file(p, p->file);
	struct source *s = synth_source(p->synth);

	if (p->history && history_new(&s, s, NULL, NULL) < 0)
		abort();
	return s;
}

static size_t take_incidents(void *arg)
{
	struct play *p = arg;
	size_t before = p->incidents.n;
	struct incident in;

	while (triggers_next(p->triggers, &in, NULL) == 1)
		query_incidents_add(&p->incidents, &in);
	return p->incidents.n - before;
}

static int start_trigger(struct play *p)
{
	const char *expr = p->trigger;
	struct error err = {0};

	if (!*expr)
		return 0;
	if (triggers_new(&p->triggers, &p->engine, &expr, 1, &err) < 0)
		return fail(p, "trigger", err.text);
	p->catcher = (struct app_catcher){take_incidents, p};
	p->options.incidents = &p->incidents;
	p->options.catcher = &p->catcher;
	return 0;
}

/* Read whole, as `kontend replay --against` does. */
static int start_against(struct play *p)
{
	const struct model_limits limits = model_limits_recent(0);
	struct error err = {0};
	int r = ENGINE_TICK;

	if (!p->against[0])
		return 0;
	if (engine_init(&p->other, open_file(p, p->against), &limits, &err) < 0)
		return fail(p, "engine", err.text);
	p->other_ready = true;
	while (r >= 0 && r != ENGINE_END)
		r = engine_pump(&p->other, 0, &err);
	p->options.against = &p->other;
	p->options.against_name = strrchr(p->against, '/') + 1;
	return r < 0 ? fail(p, p->against, err.text) : 0;
}

static int start(struct play *p, const struct app_clock *clock)
{
	const struct model_limits limits = model_limits_recent(0);
	struct error err = {0};

	if (p->app)
		return 0;
	if (!p->synth && !p->file[0])
		return fail(p, "no stream yet", "");
	if (engine_init(&p->engine, open_source(p), &limits, &err) < 0)
		return fail(p, "engine", err.text);
	p->engine_ready = true;
	p->display->ascii = p->ascii;
	p->options = (struct app_options){
		.view = p->view[0] ? p->view : NULL,
		.filter = p->filter[0] ? p->filter : NULL,
		.locks_by = p->by[0] ? p->by : NULL,
		.locks_sort = p->sort[0] ? p->sort : NULL,
		.child_exit_fd = -1,
		.save_dir = ".",
		.clock = clock,
		.has_history = p->history,
	};
	if (start_trigger(p) || start_against(p) || (p->recording[0] && start_replay(p, &err)))
		return 1;
	if (app_new(&p->app, &p->engine, p->display, &p->options, &err) < 0)
		return fail(p, "app", err.text);
	return 0;
}

static void press(struct play *p, const struct display_input *in)
{
	app_key(p->app, in);
	app_draw(p->app);
}

static void type(struct play *p, const char *text)
{
	struct display_input in = {0};
	size_t n;

	for (; (n = text_decode(text, &in.key)) > 0; text += n)
		press(p, &in);
}

static int tick(struct play *p, const char *count)
{
	long n = *count ? atol(count) : LONG_MAX;
	struct error err = {0};
	int r = 0;

	while (n > 0 && r != ENGINE_END && r != ENGINE_IDLE) {
		r = app_tick(p->app, &err);
		if (r < 0)
			return fail(p, "tick", err.text);
		if (r == ENGINE_TICK)
			n--;
		app_draw(p->app);
	}
	return 0;
}

/* A tick whose frame is not drawn before the next key. */
static int unseen(struct play *p)
{
	struct error err = {0};
	int r = app_tick(p->app, &err);

	return r < 0 ? fail(p, "unseen", err.text) : 0;
}

static int pass(struct play *p, const char *time)
{
	struct error err = {0};
	uint64_t ns;

	if (units_parse_ns(time, &ns) < 0)
		return fail(p, "wants a time", time);
	p->now_ns += ns;
	app_tick(p->app, &err);
	app_draw(p->app);
	return 0;
}

static int key(struct play *p, const char *name)
{
	struct display_input in = {.key = command_key_parse(name)};

	if (!in.key)
		return fail(p, "no such key", name);
	press(p, &in);
	return 0;
}

static int mouse(struct play *p, uint32_t what, const char *at)
{
	struct display_input in = {.key = what};

	if (sscanf(at, "%d %d", &in.x, &in.y) != 2)
		return fail(p, "wants X Y", at);
	press(p, &in);
	return 0;
}

/* The line at @at of @text, and where the next one is; "" at the end. */
static size_t line_of(const char *text, size_t at, size_t *ret_next)
{
	size_t len = strcspn(text + at, "\n");

	*ret_next = at + len + (text[at + len] == '\n');
	return len;
}

/*
 * A screen without what would be in all of them: lines that are as in the dump before are counted,
 * and so are empty ones. Nothing is lost by that, and a golden shows what a key has changed.
 */
static void put_screen(FILE *out, const char *now, const char *before)
{
	static const char *const words[] = {"", "empty", "as before"};
	int run = 0, of = 0;

	for (size_t a = 0, b = 0, a_end, b_end; now[a]; a = a_end, b = b_end) {
		size_t len = line_of(now, a, &a_end), was = line_of(before, b, &b_end);
		bool same = b_end > b && len == was && !memcmp(now + a, before + b, len);
		int kind = same && (len || !run || of == 2) ? 2 : !len;

		if (run && kind != of)
			fprintf(out, "⋮ %d %s\n", run, words[of]);
		run = kind && kind == of ? run + 1 : kind != 0;
		of = kind;
		if (!kind)
			fprintf(out, "%.*s\n", (int)len, now + a);
	}
	if (run)
		fprintf(out, "⋮ %d %s\n", run, words[of]);
}

static int dump(struct play *p, const char *name)
{
	const struct screen *s = app_screen(p->app);
	char *text;

	app_draw(p->app);
	bool same_size = p->dumped && p->dumped_w == s->w && p->dumped_h == s->h;
	if (screen_text(s, &text) < 0)
		return fail(p, "out of memory", "");
	fprintf(p->out, "=== %s %dx%d\n", name, s->w, s->h);
	put_screen(p->out, text, same_size ? p->dumped : "");
	mem_free(p->dumped);
	p->dumped = text;
	p->dumped_w = s->w;
	p->dumped_h = s->h;
	return 0;
}

static int resize(struct play *p, const char *size)
{
	int w, h;

	if (sscanf(size, "%d %d", &w, &h) != 2)
		return fail(p, "wants W H", size);
	display_mem_resize(p->display, w, h);
	if (p->app)
		press(p, &(struct display_input){.key = KEY_K_RESIZE});
	return 0;
}

/* Lines that come before the app is made: 0 done, 1 failed, -1 none of them. */
static int set_up(struct play *p, const char *verb, const char *rest)
{
	if (!strcmp(verb, "stream")) {
		p->synth = stream_make(rest);
		return p->synth ? 0 : fail(p, "no such stream", rest);
	}
	if (!strcmp(verb, "view"))
		snprintf(p->view, sizeof(p->view), "%s", rest);
	else if (!strcmp(verb, "filter"))
		snprintf(p->filter, sizeof(p->filter), "%s", rest);
	else if (!strcmp(verb, "locks-by"))
		snprintf(p->by, sizeof(p->by), "%s", rest);
	else if (!strcmp(verb, "locks-sort"))
		snprintf(p->sort, sizeof(p->sort), "%s", rest);
	else if (!strcmp(verb, "file"))
		snprintf(p->file, sizeof(p->file), "%s", rest);
	else if (!strcmp(verb, "against"))
		snprintf(p->against, sizeof(p->against), "%s", rest);
	else if (!strcmp(verb, "trigger"))
		snprintf(p->trigger, sizeof(p->trigger), "%s", rest);
	else if (!strcmp(verb, "history"))
		p->history = true;
	else if (!strcmp(verb, "replay"))
		snprintf(p->recording, sizeof(p->recording), "%s", rest);
	else if (!strcmp(verb, "range"))
		return sscanf(rest, "%lf %lf", &p->from, &p->to) == 2
			       ? 0
			       : fail(p, "wants FROM TO", rest);
	else if (!strcmp(verb, "ascii"))
		p->ascii = true;
	else if (!strcmp(verb, "no-clipboard"))
		display_mem_no_clipboard(p->display);
	else if (!strcmp(verb, "size"))
		return resize(p, rest);
	else
		return -1;
	return 0;
}

static int act(struct play *p, const char *verb, const char *rest)
{
	if (!strcmp(verb, "tick"))
		return tick(p, rest);
	if (!strcmp(verb, "settle")) {
		app_settle(p->app, SETTLE_NS);
		return 0;
	}
	if (!strcmp(verb, "unseen"))
		return unseen(p);
	if (!strcmp(verb, "pass"))
		return pass(p, rest);
	if (!strcmp(verb, "key"))
		return key(p, rest);
	if (!strcmp(verb, "type")) {
		type(p, rest);
		return 0;
	}
	if (!strcmp(verb, "click"))
		return mouse(p, KEY_K_CLICK, rest);
	if (!strcmp(verb, "dclick"))
		return mouse(p, KEY_K_DCLICK, rest);
	if (!strncmp(rest, "up ", 3) && !strcmp(verb, "wheel"))
		return mouse(p, KEY_K_WHEEL_UP, rest + 3);
	if (!strncmp(rest, "down ", 5) && !strcmp(verb, "wheel"))
		return mouse(p, KEY_K_WHEEL_DOWN, rest + 5);
	if (!strcmp(verb, "dump"))
		return dump(p, rest);
	if (!strcmp(verb, "copied")) {
		fprintf(p->out, "=== %s is in the clipboard\n%s\n", rest,
			display_mem_copied(p->display));
		return 0;
	}
	return fail(p, "unknown line", verb);
}

static int play_line(struct play *p, char *line, const struct app_clock *clock)
{
	char *rest = line + strcspn(line, " ");
	int r;

	line[strcspn(line, "\n")] = '\0';
	if (!*line || *line == '#')
		return 0;
	if (*rest)
		*rest++ = '\0';
	r = set_up(p, line, rest);
	if (r >= 0)
		return r;
	return start(p, clock) || act(p, line, rest);
}

int script_play(const char *path, int w, int h, FILE *out)
{
	struct play p = {.path = path, .out = out};
	const struct app_clock clock = {.now_ns = fake_now, .cpu_ns = fake_cpu, .arg = &p};
	FILE *f = fopen(path, "r");
	char line[512];
	int r = 0;

	if (!f)
		return fail(&p, "cannot open", "");
	if (display_mem_new(&p.display, w, h) < 0)
		abort();
	while (r == 0 && fgets(line, sizeof(line), f)) {
		p.line++;
		r = play_line(&p, line, &clock);
	}
	fclose(f);
	app_free(p.app);
	mem_free(p.dumped);
	timeline_free(p.timeline);
	query_ribbon_deinit(&p.figures);
	triggers_free(p.triggers);
	query_incidents_deinit(&p.incidents);
	if (p.engine_ready)
		engine_deinit(&p.engine);
	if (p.other_ready)
		engine_deinit(&p.other);
	if (p.synth)
		synth_free(p.synth);
	p.display->ops->free(p.display);
	return r;
}

int script_has_size(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];
	int found = 0;

	while (f && fgets(line, sizeof(line), f))
		found |= !strncmp(line, "size ", 5);
	if (f)
		fclose(f);
	return found;
}
