// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function from inside: samples and waits by instruction, with code out of a recording, without
 * any, and as reports show it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "golden.h"
#include "kontend/mem.h"
#include "kontend/query-annotate.h"
#include "kontend/report.h"
#include "kontend/textsnap.h"
#include "synth-profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define START (1000 * MS)
#define FUNC 0xffffffff81020000ull /* rwsem_down_write_slowpath */
#define LOCK 0xffff888011111100ull

static const uint8_t code[] = {
	0xf0, 0x48, 0x0f, 0xb1, 0x17, /* 0x00 lock cmpxchgq */
	0x75, 0xf9,		      /* 0x05 jne 0x00 */
	0xe8, 0xf4, 0x2f, 0x00, 0x00, /* 0x07 callq down_read */
	0xe9, 0xef, 0x0f, 0x01, 0x00, /* 0x0c jmp native_queued_spin_lock_slowpath */
	0x75, 0xf0,		      /* 0x11 jne 0x03, inside of the first one */
	0xc3,			      /* 0x13 retq */
	0x90, 0xcc, 0xcc, 0x66, 0x90, /* 0x14 up to the next function */
};
enum { LINES = 6 };

static bool has_sti; /* in place of the last jump, with a sample after it */

static int read_code(void *ctx, uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	(void)ctx;
	if (addr != FUNC)
		return -EFAULT;
	*ret_n = n < sizeof(code) ? n : sizeof(code);
	memcpy(ret, code, *ret_n);
	if (has_sti && *ret_n == sizeof(code))
		memcpy((uint8_t *)ret + 0x11, "\xfb\x90", 2);
	return 0;
}

static char *take_code(size_t room, size_t *ret_len)
{
	struct codesource c = {.name = "test", .read = read_code};
	struct error err = {0};
	struct sym sym;
	char *out = NULL;

	sym_init(&sym);
	assert_int_equal(sym_load(&sym, synth_kallsyms, strlen(synth_kallsyms), &err), 0);
	assert_int_equal(textsnap_take(&sym, &c, room, &out, ret_len), 0);
	sym_deinit(&sym);
	return out;
}

static void sample(struct asked *w, uint64_t ms, uint64_t ip)
{
	struct synth_chain c = {.kernel = &ip, .n_kernel = 1};

	synth_sample(w->rig.synth, 0, START + ms * MS, 50, 51, MS, c);
}

static void wait_in(struct asked *w, uint64_t ms, const uint64_t *frames, uint32_t n)
{
	synth_begin(w->rig.synth, 0, START + ms * MS, 50, 51, LOCK, LCB_F_WRITE, frames, n);
	synth_end(w->rig.synth, 0, START + (ms + 5) * MS, 50, 51, LOCK, 0);
}

/* 10 of 20 samples in the function, 9 at its first instruction; two waits below it. */
static void state_stream(struct asked *w, bool has_code)
{
	const uint64_t called[] = {synth_addr(SYNTH_DOWN_READ), FUNC + 0x0c,
				   synth_addr(SYNTH_VM_MMAP_PGOFF)};
	const uint64_t inner[] = {FUNC + 0x05, synth_addr(SYNTH_VM_MMAP_PGOFF)};

	rig_init(&w->rig, 1);
	struct synth *s = w->rig.synth;
	synth_profile(s);
	if (has_code) {
		struct record_snapshot head = {.kind = SNAPSHOT_TEXT, .version = TEXTSNAP_VERSION};
		size_t len;
		char *body = take_code(sizeof(head), &len);
		memcpy(body, &head, sizeof(head));
		synth_record(s, RECORD_SNAPSHOT, 0, body, sizeof(head) + len);
		mem_free(body);
	}
	synth_comm(s, 0, START, 50, 51, "worker");
	for (uint64_t i = 0; i < 9; i++)
		sample(w, 10 + i, FUNC);
	sample(w, 20, FUNC + 0x06);
	if (has_sti)
		sample(w, 35, FUNC + 0x13);
	for (uint64_t i = 0; i < 10; i++)
		sample(w, 21 + i, synth_addr(SYNTH_EXC_PAGE_FAULT));
	wait_in(w, 40, called, 3);
	wait_in(w, 50, inner, 2);
	wait_in(w, 60, called + 2, 1);
	synth_tick(s, START + 100 * MS);
	asked_play(w, NULL);
	query_begin(&w->q);
}

static struct query_annotate annotate(struct asked *w, const char *symbol)
{
	struct query_annotate a;
	struct error err = {0};
	uint64_t start = 0;

	if (query_annotate_find(&w->q, symbol, &start, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(query_annotate(&w->q, start, &a, &err), 0);
	if (a.why && strstr(a.why, "No disassembler"))
		skip();
	return a;
}

static bool is_near(double a, double b)
{
	return a > b - 0.01 && a < b + 0.01;
}

static void instructions_have_their_samples_and_waits(void **state)
{
	struct asked *w = *state;

	state_stream(w, true);
	struct query_annotate a = annotate(w, "rwsem_down_write_slowpath");
	const struct query_code_line *l = a.lines;
	assert_string_equal(a.source, "recording");
	assert_int_equal(a.samples, 10);
	assert_true(is_near(a.pct, 50));
	assert_int_equal(a.wait_ns, 10 * MS);
	assert_true(is_near(a.wait_pct, 100.0 * 2 / 3));
	assert_int_equal(a.n, LINES);
	assert_int_equal(a.hottest, 0);
	assert_string_equal(l[0].text, "lock cmpxchgq %rdx,(%rdi)");
	assert_true(is_near(l[0].pct, 90));
	assert_int_equal(l[0].samples, 9);
	assert_int_equal(l[0].weight, 9 * MS);
	assert_true(a.is_time && !a.live);
	/* A sample in the middle of it is its own, and so is a wait that was reported there. */
	assert_string_equal(l[1].text, "jne +0x0");
	assert_int_equal(l[1].samples, 1);
	assert_int_equal(l[1].wait_ns, 5 * MS);
	assert_true(l[1].jumps && l[1].jump == 0);
	/* The return address of the call is the instruction after it. */
	assert_string_equal(l[2].text, "callq down_read");
	assert_string_equal(l[2].call, "down_read");
	assert_int_equal(l[2].wait_ns, 5 * MS);
	assert_true(l[2].has_target);
	assert_int_equal(l[2].target, FUNC + 0x3000);
	assert_string_equal(l[3].text, "jmp native_queued_spin_lock_slowpath");
	assert_false(l[3].jumps);
	assert_int_equal(l[3].samples + l[3].wait_ns, 0);
	assert_string_equal(l[4].text, "jne +0x3");
	assert_false(l[4].jumps);
	assert_string_equal(l[5].text, "retq");
	assert_memory_equal(l[2].code, code + 7, 5);
}

static void what_ran_without_interrupts_is_seen_behind_it(void **state)
{
	struct asked *w = *state;
	char buf[QUERY_ANNOTATE_TEXT];

	has_sti = true;
	state_stream(w, true);
	has_sti = false;
	struct query_annotate a = annotate(w, "rwsem_down_write_slowpath");
	assert_string_equal(a.lines[4].text, "sti");
	assert_int_equal(a.all_samples, 21);
	for (size_t i = 0; i < a.n; i++)
		assert_int_equal(a.lines[i].skid, a.lines[i].offset == 0x13);
	assert_string_equal(query_annotate_text(&a.lines[a.n - 1], buf), "retq  # irq-off region?");
}

static void without_code_places_are_shown(void **state)
{
	struct asked *w = *state;

	state_stream(w, false);
	struct query_annotate a = annotate(w, "rwsem_down_write_slowpath");
	assert_null(a.source);
	assert_non_null(strstr(a.why, "not in the recording"));
	assert_int_equal(a.n, 4);
	assert_int_equal(a.lines[0].offset, 0);
	assert_int_equal(a.lines[0].samples, 9);
	assert_null(a.lines[0].text);
	assert_int_equal(a.lines[1].offset, 5);
	assert_int_equal(a.lines[1].wait_ns, 5 * MS);
	assert_int_equal(a.lines[2].offset, 6);
	assert_int_equal(a.lines[3].offset, 0x0c);
	assert_int_equal(a.hottest, 0);
}

static void what_was_not_sampled_is_found_and_what_is_not_there_is_not(void **state)
{
	struct asked *w = *state;
	struct error err = {0};
	uint64_t start;

	state_stream(w, true);
	struct query_annotate a = annotate(w, "pipe_read");
	assert_int_equal(a.samples + a.wait_ns + a.n, 0);
	assert_int_equal(a.hottest, SIZE_MAX);
	assert_int_equal(query_annotate_find(&w->q, "rwsem_down_write_slowpaht", &start, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "rwsem_down_write_slowpath"));
	err = (struct error){0};
	assert_int_equal(query_annotate_find(&w->q, "zzzzzzzzzzzzzzzzz", &start, &err), -ENOENT);
	assert_non_null(strstr(err.text, "--view hot"));
}

static void every_length_of_recorded_code_is_bounded(void **state)
{
	const uint8_t *bytes;
	size_t len, n;
	char *payload = take_code(0, &len);

	(void)state;
	assert_true(textsnap_find(payload, len, FUNC, &bytes, &n));
	assert_int_equal(n, sizeof(code));
	assert_memory_equal(bytes, code, n);
	assert_false(textsnap_find(payload, len, FUNC + 1, &bytes, &n));
	for (size_t cut = 0; cut < len; cut++) {
		char *copy = malloc(cut + 1);
		memcpy(copy, payload, cut);
		assert_false(textsnap_find(copy, cut, FUNC, &bytes, &n));
		free(copy);
	}
	memset(payload, 0xff, sizeof(struct textsnap_head));
	assert_false(textsnap_find(payload, len, FUNC, &bytes, &n));
	mem_free(payload);
}

static int find_and_annotate(struct asked *w)
{
	struct query_annotate a;
	struct error err = {0};
	uint64_t start;
	int r = query_annotate_find(&w->q, "rwsem_down_write_slowpath", &start, &err);

	return r ? r : query_annotate(&w->q, start, &a, &err);
}

static void every_allocation_may_fail(void **state)
{
	struct asked *w = *state;

	state_stream(w, true);
	for (long n = 0;; n++) {
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		mem_fail_after(n);
		int r = find_and_annotate(w);
		bool all = mem_count() <= n;
		mem_fail_after(-1);
		assert_true(r == 0 || r == -ENOMEM);
		if (all)
			break;
	}
}

static void check_report(struct asked *w, enum report_format format, const char *golden)
{
	struct report_spec s = {.format = format, .annotate = "rwsem_down_write_slowpath"};
	struct error err = {0};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(report_write(&w->q, &s, f, &err), 0);
	fclose(f);
	golden_check(text, golden);
	free(text);
}

static void reports_show_it(void **state)
{
	struct asked *w = *state;
	struct report_spec csv = {.format = REPORT_CSV, .annotate = "pipe_read"};
	struct report_spec none = {.annotate = "no_such_function"};
	struct error err = {0};

	state_stream(w, true);
	annotate(w, "rwsem_down_write_slowpath");
	check_report(w, REPORT_TEXT, "annotate");
	check_report(w, REPORT_JSON, "annotate-json");
	assert_int_equal(report_write(&w->q, &csv, stdout, &err), -EINVAL);
	err = (struct error){0};
	assert_int_equal(report_write(&w->q, &none, stdout, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no_such_function"));
}

static void reports_say_why_there_is_no_code(void **state)
{
	struct asked *w = *state;

	state_stream(w, false);
	check_report(w, REPORT_TEXT, "annotate-no-code");
}

#define ON_STREAM(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STREAM(instructions_have_their_samples_and_waits),
		ON_STREAM(what_ran_without_interrupts_is_seen_behind_it),
		ON_STREAM(without_code_places_are_shown),
		ON_STREAM(what_was_not_sampled_is_found_and_what_is_not_there_is_not),
		cmocka_unit_test(every_length_of_recorded_code_is_bounded),
		ON_STREAM(every_allocation_may_fail),
		ON_STREAM(reports_show_it),
		ON_STREAM(reports_say_why_there_is_no_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
