// SPDX-License-Identifier: GPL-2.0-only
/* Records of a stream that the naming of functions needs: all but samples, and some of these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/locksnap.h"
#include "kontend/record-sampler.h"
#include "kontend/record.h"
#include <linux/perf_event.h>
#include <string.h>

enum { SAMPLE = 1016, COMM = 40, SECOND = 1000000000 };

struct sampled {
	struct record_sampler s;
	uint64_t now;
};

static int setup(void **state)
{
	static struct sampled t;

	t = (struct sampled){.now = SECOND};
	*state = &t;
	return queue_new(&t.s.to, 8 << 20, NULL);
}

static int teardown(void **state)
{
	struct sampled *t = *state;

	queue_free(t->s.to);
	return 0;
}

static size_t add_record(uint8_t *p, uint32_t type, uint16_t size)
{
	struct perf_event_header h = {.type = type, .size = size};

	memset(p, (int)type, size);
	memcpy(p, &h, sizeof(h));
	return size;
}

/* Samples and others that were taken, and how many bytes. */
static void taken(struct sampled *t, unsigned *samples, unsigned *others)
{
	struct perf_event_header h;
	struct record r;

	*samples = *others = 0;
	while (queue_pop(t->s.to, &r) == 0) {
		for (size_t at = 0; r.kind == RECORD_PERF && at < r.len; at += h.size) {
			memcpy(&h, (const char *)r.data + at, sizeof(h));
			assert_true(h.size >= sizeof(h) && at + h.size <= r.len);
			assert_int_equal(((const uint8_t *)r.data)[at + h.size - 1], h.type);
			*(h.type == PERF_RECORD_SAMPLE ? samples : others) += 1;
		}
		queue_release(t->s.to, &r);
	}
}

static void round_at(struct sampled *t, uint64_t now)
{
	struct record r = {.kind = RECORD_ROUND, .data = &now, .len = sizeof(now)};

	record_sampler_put(&t->s, &r, now);
}

/* @n samples of @ring, a name after each hundredth. */
static void put_run_of(struct sampled *t, uint32_t ring, unsigned n)
{
	static uint8_t buf[4 << 20];
	size_t len = 0;

	for (unsigned i = 0; i < n; i++) {
		len += add_record(buf + len, PERF_RECORD_SAMPLE, SAMPLE);
		if (i % 100 == 0)
			len += add_record(buf + len, PERF_RECORD_COMM, COMM);
	}
	struct iovec v = {buf, len};
	record_sampler_run(&t->s, ring, &v, 1);
}

static void put_run(struct sampled *t, unsigned n)
{
	put_run_of(t, 3, n);
}

static void a_record_in_two_pieces_is_whole(void **state)
{
	struct sampled *t = *state;
	uint8_t buf[3 * SAMPLE];
	size_t len = add_record(buf, PERF_RECORD_SAMPLE, SAMPLE);
	unsigned samples, others;

	len += add_record(buf + len, PERF_RECORD_COMM, COMM);
	len += add_record(buf + len, PERF_RECORD_SAMPLE, SAMPLE);
	for (size_t cut = 8; cut < len; cut += 8) {
		const struct iovec v[2] = {{buf, cut}, {buf + cut, len - cut}};

		record_sampler_run(&t->s, 0, v, 2);
		taken(t, &samples, &others);
		assert_int_equal(samples, 2);
		assert_int_equal(others, 1);
	}
}

static void of_many_samples_some_are_taken(void **state)
{
	struct sampled *t = *state;
	unsigned samples, others, open = 0;

	for (int i = 0; i < 100; i++) {
		round_at(t, t->now += SECOND / 20);
		put_run(t, 1000);
		taken(t, &samples, &others);
		assert_int_equal(others, 10);
		open += samples != 0;
	}
	/* 5 seconds; half a MiB of each run that is taken at all. */
	assert_in_range(open, 5 * 4 * 2 - 2, 5 * 4 * 2 + 6);
}

static void after_a_pause_there_is_no_more(void **state)
{
	struct sampled *t = *state;
	unsigned samples, others, open = 0;

	round_at(t, t->now);
	t->now += 3600ull * SECOND;
	for (int i = 0; i < 10; i++) {
		round_at(t, t->now);
		put_run(t, 1000);
		taken(t, &samples, &others);
		open += samples != 0;
	}
	assert_in_range(open, 2, 4);
}

/* A ring of 10 MB; as one run, half a MiB of it is taken. */
static void a_ring_counts_as_one_in_any_number_of_runs(void **state)
{
	struct sampled *t = *state;
	unsigned samples, others;

	round_at(t, t->now);
	for (uint32_t ring = 0; ring < 2; ring++) {
		for (int i = 0; i < 100; i++)
			put_run_of(t, ring, 100);
		taken(t, &samples, &others);
		assert_int_equal(samples, (512 << 10) / SAMPLE + 1);
		assert_int_equal(others, 100);
	}
	/* So a second later, at the latest, there is more. */
	round_at(t, t->now += SECOND);
	put_run(t, 1000);
	taken(t, &samples, &others);
	assert_int_equal(samples, (512 << 10) / SAMPLE + 1);
}

static void each_file_has_some(void **state)
{
	struct sampled *t = *state;
	unsigned samples, others;

	for (uint32_t ring = 0; ring < 8; ring++)
		put_run_of(t, ring, 1000);
	taken(t, &samples, &others);
	round_at(t, ++t->now);
	put_run(t, 1000);
	taken(t, &samples, &others);
	assert_int_equal(samples, 0);

	record_sampler_cut(&t->s, ++t->now);
	put_run(t, 1000);
	taken(t, &samples, &others);
	assert_int_equal(samples, (512 << 10) / SAMPLE + 1);
}

static void what_is_no_record_ends_a_run(void **state)
{
	struct sampled *t = *state;
	uint8_t buf[2 * SAMPLE] = {0};
	struct iovec v = {buf, sizeof(buf)};
	struct record snapshot = {.kind = RECORD_SNAPSHOT, .data = buf, .len = 64};
	struct record_sampler nobody = {0};
	unsigned samples, others;

	add_record(buf, PERF_RECORD_SAMPLE, SAMPLE);
	record_sampler_run(&t->s, 0, &v, 1);
	v.iov_len = SAMPLE - 8;
	record_sampler_run(&t->s, 0, &v, 1);
	record_sampler_put(&t->s, &snapshot, 0);
	record_sampler_run(&nobody, 0, &v, 1);
	record_sampler_put(&nobody, &snapshot, 0);
	taken(t, &samples, &others);
	assert_int_equal(samples, 1);
	assert_int_equal(others, 0);
}

#define WITH_QUEUE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static void put_locks(struct sampled *t, enum locksnap_kind kind, const char *text)
{
	struct record_snapshot head = {.kind = SNAPSHOT_LOCKS, .version = LOCKSNAP_VERSION};
	struct locksnap_name n = {.addr = 1, .kind = kind, .cpu = -1};
	struct locksnap s = {0};
	_Alignas(8) char body[4096];

	n.text = locksnap_add_text(&s, text);
	assert_int_equal(locksnap_add_name(&s, &n), 0);
	assert_true(sizeof(head) + locksnap_size(&s) <= sizeof(body));
	memcpy(body, &head, sizeof(head));
	locksnap_encode(&s, body + sizeof(head));
	struct record r = {
		.kind = RECORD_SNAPSHOT, .data = body, .len = sizeof(head) + locksnap_size(&s)};
	record_sampler_put(&t->s, &r, t->now);
	locksnap_deinit(&s);
}

static unsigned n_queued(struct sampled *t)
{
	struct record r;
	unsigned n = 0;

	for (; queue_pop(t->s.to, &r) == 0; n++)
		queue_release(t->s.to, &r);
	return n;
}

/* Where only names of locks of programs are wanted, nothing is copied before there is one. */
static void snapshots_count_from_the_first_lock_of_a_program_on(void **state)
{
	struct sampled *t = *state;
	struct record_host host = {0};
	struct record h = {.kind = RECORD_HOST, .data = &host, .len = sizeof(host)};
	unsigned samples, others;

	t->s.only_locks = true;
	record_sampler_put(&t->s, &h, t->now);
	round_at(t, t->now);
	put_locks(t, LOCKSNAP_INODE, "/var/x");
	put_locks(t, LOCKSNAP_USER, "[heap]");
	assert_false(t->s.has_locks);
	assert_int_equal(n_queued(t), 1);
	put_locks(t, LOCKSNAP_USER, "/usr/bin/app");
	assert_true(t->s.has_locks);
	put_run_of(t, 0, 10);
	round_at(t, t->now);
	assert_int_equal(n_queued(t), 2);
	t->s.only_locks = false;
	put_run_of(t, 0, 10);
	put_locks(t, LOCKSNAP_SLAB, "/usr/bin/app");
	taken(t, &samples, &others);
	assert_int_equal(samples, 10);
}

/* For the names of the kernel's locks all of them are copied, other snapshots are not. */
static void snapshots_of_locks_are_copied_for_their_names(void **state)
{
	struct sampled *t = *state;
	struct record_snapshot head = {.kind = SNAPSHOT_PERF};
	struct record other = {.kind = RECORD_SNAPSHOT, .data = &head, .len = sizeof(head)};

	put_locks(t, LOCKSNAP_INODE, "/var/x");
	assert_int_equal(n_queued(t), 0);
	t->s.all_locks = true;
	put_locks(t, LOCKSNAP_INODE, "/var/x");
	record_sampler_put(&t->s, &other, t->now);
	other.len = sizeof(head) - 1;
	head.kind = SNAPSHOT_LOCKS;
	record_sampler_put(&t->s, &other, t->now);
	assert_int_equal(n_queued(t), 1);
	assert_false(t->s.has_locks);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_QUEUE(a_record_in_two_pieces_is_whole),
		WITH_QUEUE(of_many_samples_some_are_taken),
		WITH_QUEUE(after_a_pause_there_is_no_more),
		WITH_QUEUE(a_ring_counts_as_one_in_any_number_of_runs),
		WITH_QUEUE(each_file_has_some),
		WITH_QUEUE(what_is_no_record_ends_a_run),
		WITH_QUEUE(snapshots_count_from_the_first_lock_of_a_program_on),
		WITH_QUEUE(snapshots_of_locks_are_copied_for_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
