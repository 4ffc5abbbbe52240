// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flame graphs as SVG, which must be XML whatever functions are called and have the right widths;
 * and folded stacks of samples, which must add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "golden.h"
#include "kontend/flamegraph.h"
#include "kontend/folded.h"
#include "kontend/mem.h"
#include "kontend/stack.h"
#include "synth-profile.h"
#include "xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define START (1000 * MS)
#define BASE 0xffffffff81000000ull

/* Three functions with names that no format likes; 5 samples and a wait of 4 ms. */
static void state_stream(struct asked *w)
{
	static const char symbols[] = "ffffffff81000000 t outer<a&b>;\"'\n"
				      "ffffffff81000100 t mutex_lock\n"
				      "ffffffff81000200 t inner\x1b\n";
	const uint64_t deep[] = {BASE + 0x210, BASE + 0x110, BASE + 0x10};
	const uint64_t flat[] = {BASE + 0x20};
	struct synth *s = w->rig.synth = synth_new(1);

	synth_prologue(s, symbols);
	synth_profile(s);
	synth_comm(s, 0, START, 7, 7, "<a> & b\x07");
	for (uint64_t i = 0; i < 4; i++)
		synth_sample(s, 0, START + (10 + i) * MS, 7, 7, MS,
			     (struct synth_chain){.kernel = deep, .n_kernel = 3});
	synth_sample(s, 0, START + 20 * MS, 7, 7, MS,
		     (struct synth_chain){.kernel = flat, .n_kernel = 1});
	synth_begin(s, 0, START + 30 * MS, 7, 7, 4096, LCB_F_MUTEX, deep + 1, 2);
	synth_end(s, 0, START + 34 * MS, 7, 7, 4096, 0);
	synth_tick(s, START + 100 * MS);
}

static int write_graph(struct asked *w, const struct flamegraph_spec *s, char **ret,
		       struct error *err)
{
	size_t len = 0;
	FILE *f = open_memstream(ret, &len);

	assert_non_null(f);
	query_begin(&w->q);
	int r = flamegraph_write(&w->q, s, f, err);
	fclose(f);
	return r;
}

static char *graph(struct asked *w, struct flamegraph_spec s)
{
	struct error err = {0};
	char *text = NULL;
	size_t at;

	if (write_graph(w, &s, &text, &err) < 0)
		fail_msg("flamegraph_write: %s", err.text);
	if (xml_check(text, &at) < 0)
		fail_msg("no XML from byte %zu: %.60s", at, text + at);
	return text;
}

static char *folded(struct asked *w, struct folded_spec s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	query_begin(&w->q);
	assert_int_equal(folded_write(&w->q, &s, f, NULL), 0);
	fclose(f);
	return text;
}

/* The longest chain that is kept: all of its frames are in the line. */
static void folded_has_all_of_a_deep_chain(void **state)
{
	static const char symbols[] = "ffffffff81000000 t even\nffffffff81000100 t odd\n";
	struct asked *w = *state;
	struct synth *s = w->rig.synth = synth_new(1);
	uint64_t chain[STACK_MAX_FRAMES];
	size_t frames = 0;

	for (size_t i = 0; i < STACK_MAX_FRAMES; i++)
		chain[i] = BASE + i % 2 * 0x100 + i + 1;
	synth_prologue(s, symbols);
	synth_profile(s);
	synth_comm(s, 0, START, 7, 7, "deep");
	synth_sample(s, 0, START + 10 * MS, 7, 7, MS,
		     (struct synth_chain){.kernel = chain, .n_kernel = STACK_MAX_FRAMES});
	synth_tick(s, START + 100 * MS);
	asked_play(w, NULL);
	char *text = folded(w, (struct folded_spec){.samples = true});
	for (const char *p = text; (p = strchr(p, ';')); p++)
		frames++;
	assert_int_equal(frames, STACK_MAX_FRAMES);
	assert_non_null(strstr(text, "deep;even;odd;even;"));
	assert_non_null(strstr(text, ";odd;even 1\n"));
	free(text);
}

/* The text of the SVG, without the script. */
static void cut_script(char *text)
{
	char *script = strstr(text, "<script>");

	assert_non_null(script);
	*script = '\0';
}

static void graphs_are_xml_whatever_is_called(void **state)
{
	struct asked *w = *state;
	char *text;

	state_stream(w);
	asked_play(w, NULL);
	text = graph(w, (struct flamegraph_spec){0});
	assert_null(strstr(text, "<a>"));
	assert_non_null(strstr(text, "outer&lt;a&amp;b&gt;;\"'"));
	assert_null(strstr(strstr(text, "<svg xmlns=") + 12 + 26, "http"));
	cut_script(text);
	golden_check(text, "export-flamegraph");
	free(text);
	text = graph(w, (struct flamegraph_spec){.by_wait = true});
	cut_script(text);
	golden_check(text, "export-flamegraph-wait");
	free(text);
}

/* Positions and widths of the boxes of a level: within the box below them. */
static void boxes_have_the_width_of_their_share(void **state)
{
	struct asked *w = *state;
	double x, part, root_end[8] = {0};
	unsigned level, n = 0;
	char *text;

	state_stream(w);
	asked_play(w, NULL);
	text = graph(w, (struct flamegraph_spec){0});
	for (const char *s = text; (s = strstr(s, "data-x=")); s++, n++) {
		assert_int_equal(
			sscanf(s, "data-x=\"%lf\" data-w=\"%lf\" data-l=\"%u\"", &x, &part, &level),
			3);
		assert_true(level < 8 && x >= 0 && x + part <= 1.000001);
		assert_true(!level || x + part <= root_end[level - 1] + 0.000001);
		root_end[level] = x + part;
	}
	assert_int_equal(n, 5);
	assert_true(root_end[0] > 0.99999 && root_end[4] > 0.79999 && root_end[4] < 0.80001);
	free(text);
}

static void a_graph_of_nothing_is_refused(void **state)
{
	struct asked *w = *state;
	struct query_zoom zoom = {0};
	struct flamegraph_spec s = {.zoom = &zoom};
	struct error err = {0};
	char *text = NULL;

	state_stream(w);
	asked_play(w, NULL);
	assert_int_equal(query_zoom_parse("cpu=5", NULL, &zoom, NULL), 0);
	assert_int_equal(write_graph(w, &s, &text, &err), -ENODATA);
	assert_non_null(strstr(err.text, "no samples"));
	free(text);
}

static void samples_are_folded(void **state)
{
	struct asked *w = *state;
	struct query_zoom zoom = {0};
	char *text;

	state_stream(w);
	asked_play(w, NULL);
	text = folded(w, (struct folded_spec){.samples = true});
	assert_string_equal(text, "<a> & b?;outer<a&b>:\"' 1\n"
				  "<a> & b?;outer<a&b>:\"';mutex_lock;inner? 4\n");
	free(text);
	text = folded(w, (struct folded_spec){.samples = true, .mark_kernel = true});
	assert_non_null(strstr(text, ";mutex_lock_[k];inner?_[k] 4\n"));
	assert_null(strstr(text, "b?_[k]"));
	free(text);
	assert_int_equal(query_zoom_parse("tid=8", NULL, &zoom, NULL), 0);
	text = folded(w, (struct folded_spec){.samples = true, .zoom = &zoom});
	assert_string_equal(text, "");
	free(text);
	text = folded(w, (struct folded_spec){.zoom = &zoom});
	assert_string_equal(text, "");
	free(text);
	text = folded(w, (struct folded_spec){.mark_kernel = true});
	assert_string_equal(text, "<a> & b?;outer<a&b>:\"'_[k];[mutex] 4000000\n");
	free(text);
}

static void failures_are_said(void **state)
{
	struct asked *w = *state;
	const struct flamegraph_spec s = {0};
	FILE *full = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");
	long n;

	assert_non_null(full);
	assert_non_null(null);
	state_stream(w);
	asked_play(w, NULL);
	query_begin(&w->q);
	assert_int_equal(flamegraph_write(&w->q, &s, full, NULL), -ENOSPC);
	fclose(full);
	for (n = 0;; n++) {
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		query_begin(&w->q);
		mem_fail_after(n);
		int r = flamegraph_write(&w->q, &s, null, NULL);
		mem_fail_after(-1);
		if (r == 0)
			break;
		assert_int_equal(r, -ENOMEM);
	}
	assert_true(n > 2);
	fclose(null);
}

static void the_check_of_xml_finds_what_is_wrong(void **state)
{
	static const char *const good[] = {"<a/>",
					   "<?xml version=\"1.0\"?>\n<a b=\"&lt;\"><c/>x</a>",
					   "<a><![CDATA[ < & ]]></a>"};
	static const char *const bad[] = {"",
					  "x",
					  "<a>",
					  "<a></b>",
					  "<a/><b/>",
					  "<a>&</a>",
					  "<a><0.1</a>",
					  "<a b=c/>",
					  "<a b=\"<\"/>",
					  "<a>\x1b</a>",
					  "<a>\xff</a>",
					  "<a b=\"1\" b=\"2\"/>",
					  "</a>"};
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(xml_check(good[i], &at), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(xml_check(bad[i], &at), -EINVAL);
}

#define ON_STREAM(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STREAM(graphs_are_xml_whatever_is_called),
		ON_STREAM(boxes_have_the_width_of_their_share),
		ON_STREAM(a_graph_of_nothing_is_refused),
		ON_STREAM(samples_are_folded),
		ON_STREAM(folded_has_all_of_a_deep_chain),
		ON_STREAM(failures_are_said),
		cmocka_unit_test(the_check_of_xml_finds_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
