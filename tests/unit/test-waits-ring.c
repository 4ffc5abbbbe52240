// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings that the BPF program of waits writes, by the same code in a thread of user space, so
 * that the thread sanitizer sees both sides; and by the reader's own: nothing is read before it is
 * written, or written before it was read, and the next record counts those that found no room. And
 * what the first and the second program of an event note for each other, also with interrupts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/ring.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Definitions that the header takes from the kernel's side. */
#define KONTEND_INSPECT_KERNEL_ARCH_H
#define SEC(name)
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define barrier() __asm__ __volatile__("" ::: "memory")
#define barrier_var(x) __asm__ __volatile__("" : "+r"(x))
#define RING_READ(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)

/* Publishes by an atomic addition: the way of other machines. */
static inline bool is_x86(void)
{
	return false;
}

#include "../../src/inspect/waits/ring.h"

enum { RECORDS = 200000, FRAMES = 32, BYTES = 1 << 18 };

struct side {
	struct ring_place place;
	bool patient; /* waits for room, so that nothing is lost */
};

/* Records of all lengths, whose words follow from their number. */
static void write_one(const struct ring_place *p, struct ring_record *rec, uint32_t number)
{
	struct waits_ring *r = p->ring;
	uint32_t n = number % (FRAMES + 1);
	uint32_t size = ring_lead(p, rec, RING_BEGIN + n * sizeof(rec->begin.frames[0]));

	rec->begin.lock = number;
	rec->begin.missed = r->missed;
	rec->begin.n_frames = n;
	for (uint32_t i = 0; i < n; i++)
		rec->begin.frames[i] = (uint64_t)number << 8 | i;
	r->missed = 0;
	ring_publish(r, size);
}

static void *produce(void *arg)
{
	const struct side *s = arg;

	for (uint32_t i = 0; i < RECORDS; i++) {
		struct ring_record *rec = NULL;
		while (!(rec = ring_has_room(&s->place) ? ring_next(&s->place) : NULL) &&
		       s->patient)
			sched_yield();
		if (rec) {
			write_one(&s->place, rec, i);
		} else {
			s->place.ring->missed++;
			s->place.ring->gap = 1;
		}
	}
	return NULL;
}

struct seen {
	uint64_t next, missed, n;
};

/* One record: its number, and the count of missing ones before it. */
static void check_one(struct seen *s, const struct ring_record *rec)
{
	uint64_t number = rec->begin.lock;

	assert_int_equal(rec->type, PERF_RECORD_SAMPLE);
	assert_true(number >= s->next);
	assert_int_equal(rec->begin.missed, number - s->next);
	assert_int_equal(!!(rec->misc & WAITREC_AFTER_GAP), number != s->next);
	assert_int_equal(rec->begin.n_frames, number % (FRAMES + 1));
	for (uint32_t i = 0; i < rec->begin.n_frames; i++)
		assert_int_equal(rec->begin.frames[i], number << 8 | i);
	s->missed += rec->begin.missed;
	s->next = number + 1;
	s->n++;
}

static void take_records(struct ring *ring, struct seen *s, uint8_t *buf, size_t room)
{
	uint64_t head = ring_head(ring);
	size_t len, at = 0;
	struct perf_event_header h;
	struct ring_record rec;

	int code = ring_drain(ring, head, buf, room, &len);
	if (code == RING_EMPTY) {
		sched_yield();
		return;
	}
	for (assert_int_equal(code, 0); at < len; at += h.size) {
		memcpy(&h, buf + at, sizeof(h));
		memset(&rec, 0, sizeof(rec));
		memcpy(&rec, buf + at, h.size < sizeof(rec) ? h.size : sizeof(rec));
		check_one(s, &rec);
	}
}

/* The first one after a gap: there is room again. */
static void write_last(const struct ring_place *p)
{
	assert_true(p->ring->missed > 0 && ring_has_room(p));
	write_one(p, ring_next(p), RECORDS);
}

static void pass_all(bool patient, bool slow)
{
	struct waits_ring *shared = aligned_alloc(128, sizeof(*shared));
	uint8_t *buf = malloc(BYTES), *data = malloc(BYTES);
	struct side side = {{shared, data, BYTES}, patient};
	struct seen seen = {0};
	pthread_t thread;
	bool done = false;

	assert_true(shared && buf && data);
	memset(shared, 0, sizeof(*shared));
	shared->id = 7;
	struct ring ring = {.head = (void *)&shared->head,
			    .tail = (void *)&shared->tail,
			    .base = data,
			    .size = BYTES};
	assert_int_equal(pthread_create(&thread, NULL, produce, &side), 0);
	if (slow)
		done = pthread_join(thread, NULL) == 0;
	while (seen.n + seen.missed < RECORDS) {
		uint64_t before = seen.n;
		take_records(&ring, &seen, buf, BYTES);
		/* No record counts the last missing ones. */
		if (done && seen.n == before)
			break;
		if (!done && !patient && pthread_tryjoin_np(thread, NULL) == 0)
			done = true;
	}
	if (!done)
		assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(seen.n + seen.missed + shared->missed, RECORDS);
	assert_true(patient ? seen.n == RECORDS : seen.n > 0);
	if (slow) {
		write_last(&side.place);
		take_records(&ring, &seen, buf, BYTES);
		assert_int_equal(seen.next, RECORDS + 1);
	}
	free(shared);
	free(buf);
	free(data);
}

static void nothing_is_lost_where_there_is_room(void **state)
{
	(void)state;
	pass_all(true, false);
}

static void what_finds_no_room_is_told(void **state)
{
	(void)state;
	pass_all(false, false);
}

static void a_full_ring_keeps_what_it_has(void **state)
{
	(void)state;
	pass_all(false, true);
}

enum { OUTER = 0x1000, INNER = 0x2000, INNERMOST = 0x3000 };

static void an_interrupt_between_both_programs_hides_no_event(void **state)
{
	struct waits_ring r = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		ring_saw(&r, OUTER);
		for (int nested = 0; nested < i; nested++) {
			ring_saw(&r, INNER);
			assert_true(ring_was_seen(&r, INNER));
		}
		assert_true(ring_was_seen(&r, OUTER));
	}
	/* The first program ran already: nothing was noted. */
	assert_false(ring_was_seen(&r, OUTER));
}

static void an_event_that_the_first_program_missed_is_for_the_second(void **state)
{
	struct waits_ring r = {0};

	(void)state;
	/* Before the first one has noted its event, and after that. */
	assert_false(ring_was_seen(&r, INNER));
	ring_saw(&r, OUTER);
	assert_false(ring_was_seen(&r, INNER));
	assert_true(ring_was_seen(&r, OUTER));
	/* The begin and the end of a wait for one lock are two events. */
	ring_saw(&r, OUTER);
	assert_false(ring_was_seen(&r, OUTER + 1));
}

static void a_second_program_that_is_not_called_hides_one_event_at_most(void **state)
{
	struct waits_ring r = {0};

	(void)state;
	ring_saw(&r, OUTER);
	ring_saw(&r, INNER);
	ring_saw(&r, INNERMOST);
	assert_true(ring_was_seen(&r, INNERMOST));
	assert_true(ring_was_seen(&r, OUTER));
	assert_false(ring_was_seen(&r, INNER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_where_there_is_room),
		cmocka_unit_test(what_finds_no_room_is_told),
		cmocka_unit_test(a_full_ring_keeps_what_it_has),
		cmocka_unit_test(an_interrupt_between_both_programs_hides_no_event),
		cmocka_unit_test(an_event_that_the_first_program_missed_is_for_the_second),
		cmocka_unit_test(a_second_program_that_is_not_called_hides_one_event_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
