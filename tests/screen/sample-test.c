// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recording that comes with kontend, in every view of the program's own list, and on the tour:
 * each view has rows or says why there are none, and what a callout says is on the screen above it.
 * Called as: sample-test RECORDING WIDTH HEIGHT
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "display-mem.h"
#include "kontend/app.h"
#include "kontend/engine.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/query-incidents.h"
#include "kontend/query-ribbon.h"
#include "kontend/reader.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/timeline.h"
#include "kontend/trigger.h"
#include "kontend/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, TEXT = 2048, STEPS_MOST = 40 };

/* Views that need performance counters, and the reason shown on a machine without them. */
static const struct reason {
	const char *view, *text;
} reasons[] = {
	{"rotation", "no rotating PMU"},
	{"blocked", "no snapshot has the blocked tasks"},
	{"why", "no task was followed"},
};

/* The claim of each callout, by its title: all of these are on the screen above it. */
static const struct claim {
	const char *title, *shown[5];
} claims[] = {
	{"the verdict", {" BAD ", " wait for ", ", longest ", "held by "}},
	{"the first line", {"kontend  replay", "lost ·", "incidents "}},
	{"worst locks", {"─ worst locks", "WAIT/s▼", "pipe->mutex logger/"}},
	{"locks, and by what", {"by lock [b]", "WAIT/s ▼", "i_rwsem /srv/", "mmap_lock demo/"}},
	{"the page of a lock", {"locks › ", "─ callers", "CALL PATH", "─ waiting now", "logger/"}},
	{"who waits now", {"3 waiting", "HOLDER", "logger/", "demo-"}},
	{"where CPUs spend their time", {"cpu-clock ", "all samples [l]", "[kernel]"}},
	{"breakpoint slots", {"used 3 of 8", "─ holders", "watcher/", "4 a CPU"}},
	{"uprobes and rotation", {"out of line", "traced:up_ret", "out-of-line slots", "traced/"}},
	{"incidents", {" incidents", "WHAT FIRED", "wait ", "2."}},
	{"who are they waiting for?",
	 {"1 root, 3 tasks behind", "logger/", "i_rwsem /srv/", "asleep"}},
	{"B minus A", {"B minus A", "B - A: 0:", "A:WAIT/s", "B:WAIT/s", "+"}},
	{"time", {"PAUSED", "─ worst locks"}},
};

enum { CLAIMS = sizeof(claims) / sizeof(*claims), REASONS = sizeof(reasons) / sizeof(*reasons) };

static const char *recording;
static int width, height;

struct show {
	struct engine engine;
	struct timeline *timeline;
	struct triggers *triggers;
	struct query_incidents incidents;
	struct query_ribbon figures;
	struct display *display;
	struct app *app;
};

static uint64_t stopped(void *arg)
{
	(void)arg;
	return 1;
}

static const struct app_clock still = {.now_ns = stopped, .cpu_ns = stopped};

static void read_whole(struct show *s)
{
	const struct model_limits limits = model_limits_recent(0);
	const struct reader_options o = {.path = recording, .no_symbols = true};
	const struct timeline_options to = {.tick_ns = 500000000, .watch = &s->figures.watch};
	const char *trigger = "wait>300ms";
	struct error err = {0};
	struct source *source;
	struct incident in;

	if (reader_new(&source, &o, &err) < 0 ||
	    engine_init(&s->engine, source, &limits, &err) < 0 ||
	    triggers_new(&s->triggers, &s->engine, &trigger, 1, &err) < 0)
		fail_msg("%s", err.text);
	query_ribbon_init(&s->figures);
	if (timeline_new(&s->timeline, &s->engine, &to, &err) < 0)
		fail_msg("%s", err.text);
	while (triggers_next(s->triggers, &in, NULL) == 1)
		query_incidents_add(&s->incidents, &in);
	assert_true(s->incidents.n > 0);
	assert_int_equal(timeline_seek(s->timeline, timeline_end_ns(s->timeline), &err), 0);
}

static void begin(struct show *s, bool tour, const char *view)
{
	struct error err = {0};

	*s = (struct show){0};
	assert_int_equal(display_mem_new(&s->display, width, height), 0);
	read_whole(s);
	const struct app_options o = {.child_exit_fd = -1,
				      .clock = &still,
				      .timeline = s->timeline,
				      .figures = &s->figures,
				      .recording = "storm.data",
				      .incidents = &s->incidents,
				      .view = view,
				      .tour = tour};
	if (app_new(&s->app, &s->engine, s->display, &o, &err) < 0)
		fail_msg("%s", err.text);
}

static void end(struct show *s)
{
	app_free(s->app);
	timeline_free(s->timeline);
	query_ribbon_deinit(&s->figures);
	triggers_free(s->triggers);
	query_incidents_deinit(&s->incidents);
	engine_deinit(&s->engine);
	s->display->ops->free(s->display);
}

static void press(struct show *s, uint32_t key)
{
	app_key(s->app, &(struct display_input){.key = key});
}

static char *shown(struct show *s)
{
	char *text;

	/* Names of programs come a frame after they were asked for. */
	app_draw(s->app);
	app_draw(s->app);
	assert_int_equal(screen_text(app_screen(s->app), &text), 0);
	return text;
}

/* A selected row begins with a mark. */
static bool has_rows(const char *text)
{
	return strncmp(text, "›", 3) == 0 || strstr(text, "\n›") != NULL;
}

static const char *reason_of(const char *view)
{
	for (size_t i = 0; i < REASONS; i++)
		if (strcmp(reasons[i].view, view) == 0)
			return reasons[i].text;
	return NULL;
}

static void every_view_has_something(void **state)
{
	size_t with_reason = 0;

	(void)state;
	for (size_t i = 0; view_roots[i]; i++) {
		const char *name = view_roots[i]->name, *reason = reason_of(name);
		struct show s;

		begin(&s, false, name);
		char *text = shown(&s);
		if (reason ? !strstr(text, reason) : !has_rows(text))
			fail_msg("%s at %dx%d: %s\n%s", name, width, height,
				 reason ? "does not say why it is empty" : "no rows", text);
		if (reason && has_rows(text))
			fail_msg("%s has rows, and a reason why it has none", name);
		with_reason += reason != NULL;
		mem_free(text);
		end(&s);
	}
	assert_int_equal(with_reason, REASONS); /* each is still a view */
}

/* The callout of a screen, its lines joined; where it begins. */
static char *callout_of(const char *screen, char ret[TEXT], char title[LINE])
{
	char *rule = strstr(screen, "─ tour "), *line;
	size_t n = 0;

	assert_non_null(rule);
	assert_int_equal(sscanf(rule, "─ tour %*u/%*u · %1023[^─\n]", title), 1);
	text_clean(title, LINE, title);
	title[strlen(title) - 1] = 0; /* the blank before the rule goes on */
	ret[0] = 0;
	for (line = strchr(rule, '\n') + 1; strncmp(line, " Enter ", 7) != 0;
	     line = strchr(line, '\n') + 1) {
		n += (size_t)snprintf(ret + n, TEXT - n, "%.*s", (int)strcspn(line, "\n"), line);
		assert_true(n < TEXT);
	}
	assert_int_equal(ret[n - 1], '.'); /* all of it has room */
	return rule;
}

/* " Here WHO has LOCK.": both are in the tree. */
static void check_root(const char *callout, const char *above)
{
	const char *here = strstr(callout, " Here ");
	char who[LINE], lock[LINE], text[2 * LINE];

	assert_non_null(here);
	assert_int_equal(sscanf(here, " Here %1023s %*s has %1023[^\n]", who, lock), 2);
	lock[strlen(lock) - 1] = 0;
	snprintf(text, sizeof(text), "rwsem %s", lock);
	assert_non_null(strstr(above, who));
	if (!strstr(above, text))
		fail_msg("no '%s' in\n%s", text, above);
}

/* The marked row is the incident that is named, and the one with the longest wait. */
static void check_worst(struct show *s, const char *callout, const char *above)
{
	const char *row = strstr(above, "\n›"), *worst = strstr(callout, "worst is marked: ");
	char fired[LINE], line[LINE];
	const struct incident *longest = s->incidents.list;

	assert_non_null(row);
	assert_non_null(worst);
	assert_int_equal(sscanf(worst, "worst is marked: %1023[^.\n]", fired), 1);
	for (size_t i = 1; i < s->incidents.n; i++)
		if (s->incidents.list[i].worst_ns > longest->worst_ns)
			longest = &s->incidents.list[i];
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(row + 1, "\n"), row + 1);
	assert_non_null(strstr(line, longest->fired));
	assert_non_null(strstr(longest->fired, fired));
}

/* Of the first row: what is red. Less was waited in A than in B, in all. */
static void check_quiet(struct show *s)
{
	struct timeline *t = s->timeline;
	const struct timeline_bucket *b;
	uint64_t quiet = 0, busy = 0;
	size_t n;

	b = timeline_buckets(t, &n);
	for (size_t i = 0; i < n; i++)
		if (b[i].start_ns < timeline_begin_ns(t) + 5000000000u)
			quiet += b[i].wait_ns;
		else if (b[i].start_ns >= timeline_end_ns(t) - 10000000000u)
			busy += b[i].wait_ns;
	assert_true(quiet * 2 < busy);
}

static void check_step(struct show *s, size_t step, char *text)
{
	char title[LINE], callout[TEXT], *rule = callout_of(text, callout, title);
	const struct claim *c = &claims[step];

	*rule = 0; /* what is above it */
	assert_string_equal(title, c->title);
	for (size_t i = 0; i < sizeof(c->shown) / sizeof(*c->shown) && c->shown[i]; i++)
		if (!strstr(text, c->shown[i]))
			fail_msg("%s: no '%s' at %dx%d in\n%s", title, c->shown[i], width, height,
				 text);
	if (!strcmp(title, "incidents"))
		check_worst(s, callout, text);
	else if (!strcmp(title, "who are they waiting for?"))
		check_root(callout, text);
	else if (!strcmp(title, "B minus A"))
		check_quiet(s);
}

static void what_the_tour_says_is_there(void **state)
{
	struct show s;
	size_t step = 0;

	(void)state;
	begin(&s, true, NULL);
	for (;; step++) {
		char *text = shown(&s);

		if (!strstr(text, "─ tour ")) {
			assert_null(strstr(text, "B minus A"));
			mem_free(text);
			break;
		}
		assert_true(step < CLAIMS);
		check_step(&s, step, text);
		mem_free(text);
		press(&s, KEY_K_ENTER);
	}
	assert_int_equal(step, CLAIMS);
	end(&s);
}

/* Back from what comparing has set, and out of it. */
static void the_tour_leaves_no_marks(void **state)
{
	struct show s;
	char *text;

	(void)state;
	begin(&s, true, NULL);
	for (size_t i = 0; strcmp(claims[i].title, "B minus A") != 0; i++)
		press(&s, KEY_K_ENTER);
	text = shown(&s);
	assert_non_null(strstr(text, "B - A: "));
	mem_free(text);
	press(&s, KEY_K_LEFT);
	text = shown(&s);
	assert_null(strstr(text, "B - A: "));
	mem_free(text);
	press(&s, KEY_K_RIGHT);
	press(&s, KEY_K_ESC);
	text = shown(&s);
	assert_null(strstr(text, "B - A: "));
	assert_null(strstr(text, "─ tour "));
	mem_free(text);
	end(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_view_has_something),
		cmocka_unit_test(what_the_tour_says_is_there),
		cmocka_unit_test(the_tour_leaves_no_marks),
	};

	if (argc != 4)
		return 2;
	recording = argv[1];
	width = atoi(argv[2]);
	height = atoi(argv[3]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
