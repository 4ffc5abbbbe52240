// SPDX-License-Identifier: GPL-2.0-only
/*
 * A view is the same whatever other view is in the report: for all pairs of views, as text and as
 * JSON, each part is as alone, byte for byte. The recording has samples of programs, some of
 * whose functions have no symbol, in files that are loaded one after the other while the report
 * is made: so names come while the rows of an earlier view are held.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "elfmake.h"
#include "json.h"
#include "kontend/query-incidents.h"
#include "perf-snaps.h"
#include "synth-profile.h"
#include "uprobe-snaps.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS 1000000ull
#define START (1000 * MS)
#define LOCK 0xffff888011111100ull

enum { FILES = 12, LEAVES = 5, ID = 20, SPAN = 0x100000, PARTS = 64, NAME = 64, VIEWS = 26 };

static char dir[] = "/tmp/kontend-pairs-XXXXXX";
static char paths[FILES][NAME];

static uint64_t base(unsigned file)
{
	return 0x400000ull + (uint64_t)file * SPAN;
}

/* Every third one is not there, and every fifth another one than was recorded. */
static bool is_missing(unsigned file)
{
	return file % 3 == 2;
}

static void set_id(uint8_t id[ID], unsigned file)
{
	memset(id, (int)file + 1, ID);
}

/* Of each file only a part has a symbol: addresses after that have none. */
static void make_file(unsigned i)
{
	char symbol[NAME];
	struct elfmake_symbol s = {symbol, ELFMAKE_ADDR, 0x40, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				   1};
	struct elfmake m = {.build_id_len = ID, .symtab = &s, .n_symtab = 1};

	set_id(m.build_id, i % 5 == 4 ? FILES : i);
	snprintf(symbol, sizeof(symbol), "function_of_file_%u", i);
	snprintf(paths[i], sizeof(paths[i]), "%s/file-%02u.so", dir, i);
	if (!is_missing(i))
		elfmake_file(&m, paths[i]);
}

/* A leaf in file @leaf where no symbol is, called by functions of the others. */
static void state_samples(struct synth *s, unsigned leaf, uint64_t t)
{
	uint64_t user[FILES];
	uint32_t n = 0;

	/* Callers come before their turn as leaves: their names then have another position. */
	user[n++] = base(leaf) + 0x800;
	for (unsigned i = FILES; i-- > leaf + 1;)
		user[n++] = base(i) + (i % 2 ? 0x10 : 0x900);
	for (uint32_t k = 0; k <= leaf; k++)
		synth_sample(s, 0, t + k, 50, 50, MS,
			     (struct synth_chain){.user = user, .n_user = n});
}

static void state_waits(struct synth *s)
{
	const uint64_t lock[] = {synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH),
				 synth_addr(SYNTH_DOWN_WRITE_KILLABLE),
				 synth_addr(SYNTH_VM_MMAP_PGOFF), synth_addr(SYNTH_DO_SYSCALL_64)};

	synth_sample(s, 1, START + 20 * MS, 50, 51, MS,
		     (struct synth_chain){.kernel = lock, .n_kernel = 4});
	synth_begin(s, 1, START + 30 * MS, 50, 51, LOCK, LCB_F_WRITE, lock, 4);
	synth_end(s, 1, START + 35 * MS, 50, 51, LOCK, 0);
	synth_begin(s, 1, START + 80 * MS, 50, 51, LOCK, LCB_F_WRITE, lock, 4);
}

static int setup(void **state)
{
	if (asked_setup_empty(state) < 0 || !mkdtemp(dir))
		return -1;
	struct asked *w = *state;
	rig_init(&w->rig, 2);
	struct synth *s = w->rig.synth;
	synth_profile(s);
	synth_comm(s, 0, START, 50, 50, "app");
	synth_comm(s, 0, START, 50, 51, "worker");
	for (unsigned i = 0; i < FILES; i++) {
		uint8_t id[ID];
		set_id(id, i);
		make_file(i);
		synth_mmap_id(s, 0, START + 1, 50, base(i) - ELFMAKE_TEXT, SPAN, paths[i], id);
	}
	for (unsigned i = 0; i < LEAVES; i++)
		state_samples(s, i, START + (2 + i) * MS);
	state_waits(s);
	perf_snap_emit(s, "x86", START + 90 * MS);
	uprobe_snap_emit(s, "busy", START + 90 * MS);
	synth_tick(s, START + 100 * MS);
	asked_play(w, NULL);
	return 0;
}

static int teardown(void **state)
{
	for (unsigned i = 0; i < FILES; i++)
		unlink(paths[i]);
	rmdir(dir);
	return asked_teardown(state);
}

/* As a process would that makes one report. */
static char *report_anew(struct asked *w, enum report_format format, unsigned views)
{
	static struct incident caught = {.fired_ns = START + MS,
					 .begin_ns = START,
					 .fired = "wait 1.00ms",
					 .expr = "wait>500us"};
	static const struct query_incidents incidents = {.list = &caught, .n = 1};
	struct report_spec s = {.format = format, .views = views};

	query_deinit(&w->q);
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
	w->q.incidents = &incidents;
	return asked_report(&w->q, &s);
}

/* Parts of a text begin with "#\n"; the first one is the head. Cuts @text; their number. */
static size_t parts_of(char *text, char *ret[PARTS])
{
	size_t n = 0;

	for (char *next; text; text = next) {
		next = strstr(text, "\n#\n");
		if (next) {
			next[1] = '\0';
			next += 2;
		}
		assert_true(n < PARTS);
		ret[n++] = text;
	}
	return n;
}

/* The text that views of perf events share is printed once, in the words of the first of them. */
static bool is_common(const char *part)
{
	return strstr(part, "# breakpoint slots by ") || strstr(part, "# perf contexts by ") ||
	       strstr(part, "# perf events by ");
}

static bool is_among(const char *part, char *const parts[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(part, parts[i]) == 0)
			return true;
	return is_common(part);
}

static void check_text(const char *pair, const char *a, const char *b)
{
	char *copies[3] = {strdup(pair), strdup(a), strdup(b)}, *parts[3][PARTS];
	size_t n[3];

	for (int i = 0; i < 3; i++)
		n[i] = parts_of(copies[i], parts[i]);
	for (int k = 1; k < 3; k++)
		for (size_t i = 0; i < n[k]; i++)
			if (!is_among(parts[k][i], parts[0], n[0]))
				fail_msg("alone:\n%s\nin the pair:\n%s", parts[k][i], pair);
	for (size_t i = 0; i < n[0]; i++)
		if (!is_among(parts[0][i], parts[1], n[1]) &&
		    !is_among(parts[0][i], parts[2], n[2]))
			fail_msg("in the pair alone:\n%s", parts[0][i]);
	for (int i = 0; i < 3; i++)
		free(copies[i]);
}

static bool is_same(const struct json *a, const struct json *b)
{
	if (a->type != b->type || a->n != b->n || a->truth != b->truth ||
	    (a->text ? strcmp(a->text, b->text) != 0 && a->type == JSON_STRING : b->text != NULL))
		return false;
	if (a->type == JSON_NUMBER &&
	    !(json_number(a) >= json_number(b) && json_number(a) <= json_number(b)))
		return false;
	for (a = a->first, b = b->first; a && b; a = a->next, b = b->next)
		if ((a->key && strcmp(a->key, b->key) != 0) || !is_same(a, b))
			return false;
	return a == b;
}

/* All that @alone has, @pair has. */
static size_t check_views(const struct json *pair, const struct json *alone, const char *text)
{
	size_t n = 0;

	for (const struct json *v = json_get(alone, "views")->first; v; v = v->next, n++) {
		const struct json *same = json_get(json_get(pair, "views"), v->key);
		if (!same || !is_same(v, same))
			fail_msg("%s is another one beside other views:\n%s", v->key, text);
	}
	return n;
}

static void check_json(const char *pair, const char *a, const char *b)
{
	const char *texts[3] = {pair, a, b};
	struct json_doc docs[3];
	size_t at;

	for (int i = 0; i < 3; i++)
		assert_int_equal(json_parse(&docs[i], texts[i], strlen(texts[i]), &at), 0);
	size_t n = check_views(json_root(&docs[0]), json_root(&docs[1]), pair);
	n += check_views(json_root(&docs[0]), json_root(&docs[2]), pair);
	assert_true(json_len(json_get(json_root(&docs[0]), "views")) <= n);
	for (int i = 0; i < 3; i++)
		json_deinit(&docs[i]);
}

/* Column sets of one table: in JSON that is one, with the default order of one of them. */
static bool is_one_table(enum report_format format, unsigned views)
{
	return format == REPORT_JSON &&
	       !(views & ~(unsigned)(REPORT_HELD | REPORT_BLAME | REPORT_DID));
}

static void check_pairs(struct asked *w, enum report_format format)
{
	char *alone[VIEWS];

	assert_int_equal(1 << VIEWS, REPORT_ALL + 1);
	for (unsigned i = 0; i < VIEWS; i++)
		alone[i] = report_anew(w, format, 1u << i);
	for (unsigned i = 0; i < VIEWS; i++) {
		for (unsigned k = i + 1; k < VIEWS; k++) {
			if (is_one_table(format, 1u << i | 1u << k))
				continue;
			char *pair = report_anew(w, format, 1u << i | 1u << k);
			(format == REPORT_TEXT ? check_text : check_json)(pair, alone[i], alone[k]);
			free(pair);
		}
	}
	for (unsigned i = 0; i < VIEWS; i++)
		free(alone[i]);
}

static void text_of_a_pair_is_that_of_both(void **state)
{
	check_pairs(*state, REPORT_TEXT);
}

static void json_of_a_pair_is_that_of_both(void **state)
{
	check_pairs(*state, REPORT_JSON);
}

/* Precondition of the pairs: otherwise nothing would be loaded while rows are held. */
static void names_come_while_rows_are_held(void **state)
{
	char *hot = report_anew(*state, REPORT_TEXT, REPORT_HOT);

	assert_non_null(strstr(hot, "no symbol covers it"));
	free(hot);
	char *flame = report_anew(*state, REPORT_TEXT, REPORT_FLAME);
	assert_non_null(strstr(flame, "function_of_file_7"));
	free(flame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_while_rows_are_held),
		cmocka_unit_test(text_of_a_pair_is_that_of_both),
		cmocka_unit_test(json_of_a_pair_is_that_of_both),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
