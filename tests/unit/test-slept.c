// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of sleeps: what the programs have becomes rows that share equal chains, bytes from outside
 * are checked, and memory may end at any moment.
 */
#include "kontend/mem.h"
#include "kontend/sleptsnap.h"
#include "waits/slept-price.h"
#include "waits/slept.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Chain N has N frames: N * 100 and so on; that of 9 is gone. */
static int chain_of(void *arg, uint64_t hash, struct raw_slept_chain *ret)
{
	int *lookups = arg;

	(*lookups)++;
	if (hash == 9)
		return -ENOENT;
	*ret = (struct raw_slept_chain){.n = (unsigned)hash};
	for (uint64_t i = 0; i < hash && i < RAW_SLEPT_FRAMES; i++)
		ret->frames[i] = hash * 100 + i;
	return 0;
}

static int add(struct slept_fill *f, int pid, unsigned long long chain, unsigned kind,
	       unsigned long long n)
{
	const struct raw_slept_key key = {.chain = chain, .pid = pid, .kind = kind};
	const struct raw_slept_sum sum = {.sleeps = n,
					  .total_ns = n * 50,
					  .max_ns = 80,
					  .waker = 77,
					  .waker_comm = "kwork\ner/0:1-ev",
					  .comm = "sixteen-letters!"};

	return slept_fill(f, &key, &sum);
}

static int fill(struct sleptsnap *s, int *ret_lookups)
{
	struct slept_fill f = {.ret = s, .chain = chain_of, .arg = ret_lookups};
	int code = add(&f, 812, 2, RAW_SLEPT_DISK, 20);

	code = code < 0 ? code : add(&f, 812, 2, RAW_SLEPT_IO, 3);
	code = code < 0 ? code : add(&f, 813, 3, RAW_SLEPT_IO, 1);
	code = code < 0 ? code : add(&f, 813, 4, RAW_SLEPT_IO, 0);
	code = code < 0 ? code : add(&f, 814, 9, RAW_SLEPT_IO, 1);
	code = code < 0 ? code : add(&f, 815, 0, RAW_SLEPT_IO, 1);
	code = code < 0 ? code : add(&f, 816, 1000, RAW_SLEPT_IO, 1);
	map64_deinit(&f.rows);
	return code;
}

static void test_fill(void **state)
{
	struct sleptsnap s = {0};
	int lookups = 0;

	(void)state;
	assert_int_equal(fill(&s, &lookups), 0);
	assert_int_equal(lookups, 4);
	assert_int_equal(s.n_rows, 6); /* none for a row without a sleep */
	assert_int_equal(s.rows[0].pid, 812);
	assert_int_equal(s.rows[0].kind, LOCKSNAP_DISK);
	assert_int_equal(s.rows[0].sleeps, 20);
	assert_int_equal(s.rows[0].total_ns, 1000);
	assert_int_equal(s.rows[0].max_ns, 80);
	assert_int_equal(s.rows[0].waker, 77);
	assert_string_equal(sleptsnap_text(&s, s.rows[0].comm), "sixteen-letters!");
	assert_string_equal(sleptsnap_text(&s, s.rows[0].waker_comm), "kwork?er/0:1-ev");
	assert_int_equal(s.rows[0].n_frames, 2);
	assert_int_equal(s.frames[s.rows[0].frame + 1], 201);
	assert_int_equal(s.rows[1].kind, LOCKSNAP_IO);
	assert_int_equal(s.rows[1].frame, s.rows[0].frame);
	assert_int_equal(s.rows[1].n_frames, 2);
	assert_int_equal(s.rows[2].n_frames, 3);
	assert_int_equal(s.frames[s.rows[2].frame], 300);
	assert_int_equal(s.rows[3].n_frames, 0);
	assert_int_equal(s.rows[4].n_frames, 0);
	assert_int_equal(s.rows[5].n_frames, RAW_SLEPT_FRAMES);
	sleptsnap_deinit(&s);
}

static void *bytes_of(const struct sleptsnap *s, size_t *ret_len)
{
	*ret_len = sleptsnap_size(s);
	char *p = mem_calloc(1, *ret_len);
	assert_non_null(p);
	sleptsnap_encode(s, p);
	return p;
}

static void make(struct sleptsnap *s)
{
	int lookups = 0;

	sleptsnap_clear(s);
	assert_int_equal(fill(s, &lookups), 0);
	s->head = (struct sleptsnap_head){.time_ns = 9, .from_ns = 5, .dropped = 2};
	s->head.reason = sleptsnap_add_text(s, "because");
}

static void test_there_and_back(void **state)
{
	struct sleptsnap s = {0}, t = {0};
	size_t len, again;

	(void)state;
	make(&s);
	char *p = bytes_of(&s, &len);
	assert_int_equal(sleptsnap_decode(&t, p, len), 0);
	char *q = bytes_of(&t, &again);
	assert_int_equal(again, len);
	assert_memory_equal(p, q, len);
	assert_int_equal(t.head.from_ns, 5);
	assert_int_equal(t.head.dropped, 2);
	assert_string_equal(sleptsnap_text(&t, t.head.reason), "because");
	assert_int_equal(t.rows[2].sleeps, 1);
	mem_free(p);
	mem_free(q);
	sleptsnap_deinit(&s);
	sleptsnap_deinit(&t);
}

static void damage(struct sleptsnap *s, int what)
{
	if (what == 0)
		s->rows[0].kind = LOCKSNAP_FUTEX;
	if (what == 1)
		s->rows[0].kind = LOCKSNAP_SLEEPS;
	if (what == 2)
		s->rows[0].comm = (uint32_t)s->n_strings;
	if (what == 3)
		s->rows[0].waker_comm = UINT32_MAX;
	if (what == 4)
		s->rows[0].frame = (uint32_t)s->n_frames + 1;
	if (what == 5)
		s->rows[0].n_frames = (uint32_t)s->n_frames + 1;
	if (what == 6)
		s->rows[1].frame = (uint32_t)s->n_frames;
	if (what == 7)
		s->head.reason = UINT32_MAX;
}

static void test_damage(void **state)
{
	struct sleptsnap s = {0}, t = {0};
	size_t len;

	(void)state;
	for (int what = 0; what < 8; what++) {
		make(&s);
		damage(&s, what);
		char *p = bytes_of(&s, &len);
		assert_int_equal(sleptsnap_decode(&t, p, len), -EBADMSG);
		assert_int_equal(t.n_rows + t.n_frames + t.n_strings, 0);
		mem_free(p);
	}
	make(&s);
	char *p = bytes_of(&s, &len);
	for (size_t n = 0; n < len; n++) {
		char *cut = mem_dup(p, n + 1, 1); /* its end is the end of memory */
		int code = sleptsnap_decode(&t, cut, n);
		assert_true(code == 0 || code == -EBADMSG || code == -EPROTO);
		mem_free(cut);
	}
	mem_free(p);
	sleptsnap_deinit(&s);
	sleptsnap_deinit(&t);
}

/* A text that finds no memory is missing, a row is not. */
static void test_out_of_memory(void **state)
{
	struct sleptsnap s = {0};
	int code = -1, lookups;

	(void)state;
	for (long n = 0; code < 0; n++) {
		assert_true(n < 64);
		mem_fail_after(n);
		lookups = 0;
		code = fill(&s, &lookups);
		mem_fail_after(-1);
		assert_true(code == 0 || code == -ENOMEM);
		if (code == 0)
			assert_int_equal(s.n_rows, 6);
		sleptsnap_deinit(&s);
	}
}

static const uint64_t SECOND = 1000000000;

/* A second in which @switches took place, and sleeps took @busy_ns of the programs. */
static unsigned pass(struct slept_price *p, struct slept_look *l, uint64_t busy_ns,
		     uint64_t switches)
{
	l->time_ns += SECOND;
	l->busy_ns += busy_ns;
	l->switches += switches;
	return slept_price_look(p, l);
}

static void the_price_is_kept(void **state)
{
	struct slept_look l = {.time_ns = SECOND, .busy_ns = 5, .switches = 1000, .cpus = 4};
	struct slept_price p = {.limit_ppm = 20000};

	(void)state;
	assert_int_equal(slept_price_look(&p, &l), RAW_SLEPT_ALL);
	assert_int_equal(pass(&p, &l, 50000000, 1000000), RAW_SLEPT_ALL);
	assert_int_equal(p.switch_ps, 50000);
	/* One dear second is a burst, two are not. */
	assert_int_equal(pass(&p, &l, 200000000, 1000000), RAW_SLEPT_ALL);
	assert_int_equal(pass(&p, &l, 50000000, 1000000), RAW_SLEPT_ALL);
	assert_int_equal(pass(&p, &l, 200000000, 1000000), RAW_SLEPT_ALL);
	assert_int_equal(pass(&p, &l, 200000000, 1000000), RAW_SLEPT_LONG_CHAINS);
	assert_int_equal(pass(&p, &l, 150000000, 1000000), RAW_SLEPT_LONG_CHAINS);
	assert_int_equal(pass(&p, &l, 150000000, 1000000), RAW_SLEPT_OFF);
	assert_int_equal(p.off_ns, 0);
	assert_int_equal(pass(&p, &l, 0, 1000000), RAW_SLEPT_OFF);
	assert_int_equal(p.off_ns, SECOND);
	/* It is tried again, and later if that was too early. */
	unsigned seconds = 1;
	for (; pass(&p, &l, 0, 1000000) == RAW_SLEPT_OFF; seconds++)
		assert_true(seconds < 1000);
	assert_int_equal(p.level, RAW_SLEPT_LONG_CHAINS);
	assert_true(pass(&p, &l, 150000000, 1000000) == RAW_SLEPT_LONG_CHAINS);
	assert_true(pass(&p, &l, 150000000, 1000000) == RAW_SLEPT_OFF);
	unsigned more = 0;
	for (; pass(&p, &l, 0, 1000000) == RAW_SLEPT_OFF; more++)
		assert_true(more < 1000);
	assert_true(more > seconds);
}

/* Few switches of an idle machine may be dear, and a kernel may not say how many there are. */
static void little_is_not_dear(void **state)
{
	struct slept_look l = {.time_ns = SECOND, .cpus = 1};
	struct slept_price p = {.limit_ppm = 20000};

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(pass(&p, &l, 19000000, 1000), RAW_SLEPT_ALL);
	assert_int_equal(p.switch_ps, 19000000);
	for (int i = 0; i < 10; i++)
		assert_int_equal(pass(&p, &l, 500000000, 0), RAW_SLEPT_ALL);
}

static void the_limit_may_be_another(void **state)
{
	struct slept_look l = {.time_ns = SECOND, .cpus = 1};
	struct slept_price all = {.limit_ppm = 1000000}, few = {.limit_ppm = 10000};
	struct slept_look l_few = l;

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(pass(&all, &l, 900000000, 1000), RAW_SLEPT_ALL);
	assert_int_equal(pass(&few, &l_few, 0, 1000), RAW_SLEPT_ALL);
	assert_int_equal(pass(&few, &l_few, 11000000, 1000), RAW_SLEPT_ALL);
	assert_int_equal(pass(&few, &l_few, 11000000, 1000), RAW_SLEPT_LONG_CHAINS);
}

static void no_storage_has_a_reason(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(slept_storage(0, 0, &err), 0);
	assert_int_equal(slept_storage(80, 3, &err), 0);
	assert_int_equal(slept_storage(0, 83, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "cmpxchg16b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(the_price_is_kept),
		cmocka_unit_test(little_is_not_dear),
		cmocka_unit_test(the_limit_may_be_another),
		cmocka_unit_test(no_storage_has_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
