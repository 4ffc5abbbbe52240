// SPDX-License-Identifier: GPL-2.0-only
/* Causes of sleep: which function of a call chain names it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/query/chains/list.h"
#include "asked.h"
#include "canned.h"
#include "synth.h"

#include <stdio.h>
#include <string.h>

/* A kernel with functions of these names, in this order, 0x100 bytes each. */
static const char *const functions[] = {
	"io_schedule",
	"folio_wait_bit_common",
	"blk_mq_get_tag",
	"jbd2_log_wait_commit",
	"anon_pipe_write",
	"rpc_wait_bit_killable",
	"schedule_timeout",
	"wait_for_completion",
	"__flush_work",
	"msleep",
	"__mutex_lock.constprop.0",
	"do_nothing_known",
};

static const uint64_t FIRST = 0xffffffff81f00000;

static void play(struct asked *w)
{
	char symbols[8192];
	int at = snprintf(symbols, sizeof(symbols), "%s", synth_kallsyms);

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		at += snprintf(symbols + at, sizeof(symbols) - (size_t)at, "%llx t %s\n",
			       (unsigned long long)(FIRST + i * 0x100), functions[i]);
	w->rig = (struct rig){.synth = synth_new(2)};
	synth_prologue(w->rig.synth, symbols);
	synth_round(w->rig.synth, CANNED_START);
	asked_play(w, NULL);
	query_begin(&w->q);
}

/* The cause of a sleep in these functions, innermost first. */
static const char *cause(struct asked *w, const char *const *names, uint32_t n)
{
	uint64_t frames[8];

	for (uint32_t i = 0; i < n; i++) {
		size_t k = 0;
		while (strcmp(functions[k], names[i]) != 0)
			k++;
		frames[i] = FIRST + k * 0x100 + 0x10;
	}
	return asleep_for(&w->q, frames, n);
}

#define CAUSE(w, ...)                                                                              \
	cause(w, (const char *const[]){__VA_ARGS__},                                               \
	      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void the_innermost_function_names_the_cause(void **state)
{
	struct asked *w = *state;

	play(w);
	assert_string_equal(CAUSE(w, "anon_pipe_write"), "pipe is full");
	assert_string_equal(CAUSE(w, "rpc_wait_bit_killable"), "RPC, as of NFS");
	assert_string_equal(CAUSE(w, "folio_wait_bit_common", "jbd2_log_wait_commit"),
			    "I/O of a page");
	assert_string_equal(CAUSE(w, "__mutex_lock.constprop.0", "jbd2_log_wait_commit"),
			    "another lock");
	assert_null(CAUSE(w, "schedule_timeout", "do_nothing_known"));
	assert_null(asleep_for(&w->q, NULL, 0));
}

static void a_general_cause_gives_way_to_its_callers(void **state)
{
	struct asked *w = *state;

	play(w);
	assert_string_equal(CAUSE(w, "io_schedule"), "I/O");
	assert_string_equal(CAUSE(w, "io_schedule", "do_nothing_known"), "I/O");
	assert_string_equal(CAUSE(w, "io_schedule", "blk_mq_get_tag"), "request queue is full");
	assert_string_equal(CAUSE(w, "io_schedule", "jbd2_log_wait_commit"), "jbd2 commit");
	assert_string_equal(CAUSE(w, "wait_for_completion", "__flush_work"), "work of a kworker");
	assert_string_equal(CAUSE(w, "msleep"), "timer");
	/* Of two general causes the inner one counts. */
	assert_string_equal(CAUSE(w, "msleep", "wait_for_completion"), "timer");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_innermost_function_names_the_cause,
						asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(a_general_cause_gives_way_to_its_callers,
						asked_setup_empty, asked_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
