// SPDX-License-Identifier: GPL-2.0-only
/* Messages about debug information: what is put is got, and nothing else. */
#include "../../src/sym/lines/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint8_t bytes[SRCLINES_MSG_MOST];
static struct srclines_msg in, out;

static size_t pass(void)
{
	size_t n = srclines_msg_put(bytes, &in);

	memset(&out, 0x55, sizeof(out));
	assert_true(n <= sizeof(bytes));
	assert_true(srclines_msg_get(bytes, n, &out));
	assert_int_equal(out.kind, in.kind);
	assert_int_equal(out.file, in.file);
	/* Nothing less, and nothing more. */
	for (size_t i = 0; i < n; i += i < 80 ? 1 : 97)
		assert_false(srclines_msg_get(bytes, i, &out));
	bytes[n] = 0;
	assert_false(n < sizeof(bytes) && srclines_msg_get(bytes, n + 1, &out));
	assert_true(srclines_msg_get(bytes, n, &out));
	return n;
}

static void test_questions(void **state)
{
	(void)state;
	in = (struct srclines_msg){.kind = SRCLINES_MSG_OPEN, .file = 7};
	pass();
	in.kind = SRCLINES_MSG_CLOSE;
	pass();
	in.kind = SRCLINES_MSG_FIND;
	for (in.n = 0; in.n < SRCLINES_MSG_PLACES; in.n++)
		in.addrs[in.n] = in.n * 0x123456789;
	pass();
	assert_int_equal(out.n, in.n);
	assert_memory_equal(out.addrs, in.addrs, sizeof(in.addrs));
	/* More than there is room for, and none at all. */
	uint32_t more = SRCLINES_MSG_PLACES + 1;
	memcpy(bytes + 12, &more, sizeof(more));
	assert_false(srclines_msg_get(bytes, sizeof(bytes), &out));
	more = 0;
	memcpy(bytes + 12, &more, sizeof(more));
	assert_false(srclines_msg_get(bytes, 16, &out));
}

static void test_answers(void **state)
{
	static char text[2000];

	(void)state;
	in = (struct srclines_msg){
		.kind = SRCLINES_MSG_OPENED, .answer = SRCLINES_DAMAGED, .why = "so it is"};
	pass();
	assert_int_equal(out.answer, SRCLINES_DAMAGED);
	assert_string_equal(out.why, "so it is");
	in = (struct srclines_msg){
		.kind = SRCLINES_MSG_PLACE, .answer = SRCLINES_NO_LINE, .addr = 99};
	pass();
	assert_int_equal(out.addr, 99);
	assert_int_equal(out.place.n, 0);
	/* As large as it can be: texts are cut. */
	memset(text, 'x', sizeof(text) - 1);
	in.answer = SRCLINES_OK;
	for (in.place.n = 0; in.place.n < SRCLINES_FRAMES; in.place.n++)
		in.place.frames[in.place.n] = (struct srclines_frame){text, text, 4};
	pass();
	assert_int_equal(out.place.n, SRCLINES_FRAMES);
	assert_int_equal(strlen(out.place.frames[15].file), SRCLINES_MSG_TEXT - 1);
	assert_int_equal(out.place.frames[15].line, 4);
}

static void test_no_such_answer(void **state)
{
	uint32_t word = SRCLINES_ANSWERS;

	(void)state;
	in = (struct srclines_msg){
		.kind = SRCLINES_MSG_OPENED, .answer = SRCLINES_NO_INFO, .why = ""};
	size_t n = srclines_msg_put(bytes, &in);
	memcpy(bytes + 16, &word, sizeof(word));
	assert_false(srclines_msg_get(bytes, n, &out));
	word = SRCLINES_PENDING;
	memcpy(bytes + 16, &word, sizeof(word));
	assert_false(srclines_msg_get(bytes, n, &out));
	word = SRCLINES_MSG_KINDS;
	memcpy(bytes + 4, &word, sizeof(word));
	assert_false(srclines_msg_get(bytes, n, &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_no_such_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
