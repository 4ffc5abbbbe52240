// SPDX-License-Identifier: GPL-2.0-only
/*
 * On random streams triggers fire so often, and at those moments, that a plain account of all waits
 * gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "triggered.h"

/* An account by hand of a random stream. */
struct made {
	uint64_t from, to; /* without START */
	int task;
	uint32_t flags;
};

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

struct moment {
	uint64_t t;
	const struct made *m; /* NULL: a round */
	bool is_end;
};

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return x->t != y->t ? (x->t < y->t ? -1 : 1) : 0;
}

enum { TASKS = 12, WAITS = 60, ROUNDS = 200 };

static size_t make_moments(struct made *m, uint32_t seed)
{
	size_t n = 0;

	for (int task = 0; task < TASKS; task++) {
		uint64_t at = rnd(&seed) % (50 * MS);
		for (int i = 0; i < WAITS; i++, n++) {
			uint64_t ns =
				rnd(&seed) % 5 ? rnd(&seed) % (8 * MS) : rnd(&seed) % (60 * MS);
			m[n] = (struct made){at, at + ns + 1, task,
					     rnd(&seed) % 2 ? LCB_F_MUTEX : LCB_F_READ};
			at += ns + 2 + rnd(&seed) % (rnd(&seed) % 4 ? 3 * MS : 90 * MS);
		}
	}
	return n;
}

/* Times are all different, so that "before" says it all. */
static size_t order(struct moment *e, const struct made *m, size_t n, uint32_t seed)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		e[k++] = (struct moment){m[i].from * 4, &m[i], false};
		e[k++] = (struct moment){m[i].to * 4 + 1, &m[i], true};
	}
	for (int i = 0; i < ROUNDS; i++)
		e[k++] = (struct moment){(uint64_t)i * 60 * MS + rnd(&seed) % (50 * MS) + 2, NULL,
					 false};
	qsort(e, k, sizeof(*e), by_time);
	return k;
}

struct account {
	const struct made *m;
	size_t n;
	bool (*is)(const struct made *m);
	uint64_t limit;
	int kind; /* 0 wait, or blocked: all of these sleep; 1 waiting, 2 wait/s, 3 waits/s */
	uint64_t for_ns;
};

static uint64_t begun(const struct made *m)
{
	return START + m->from * 4;
}

static uint64_t ended(const struct made *m)
{
	return START + m->to * 4 + 1;
}

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t from = a > c ? a : c, to = b < d ? b : d;

	return to > from ? to - from : 0;
}

/* Is it true at @now, when all up to it has happened? */
static bool is_true(const struct account *a, uint64_t now)
{
	uint64_t v = 0, since = (now / (10 * MS) - 99) * 10 * MS;

	for (size_t i = 0; i < a->n; i++) {
		const struct made *m = &a->m[i];
		bool in_flight = begun(m) <= now && now < ended(m);
		if (!a->is(m))
			continue;
		if (a->kind == 0)
			v += in_flight && now - begun(m) > a->limit;
		else if (a->kind == 1)
			v += in_flight;
		else if (a->kind == 2)
			v += overlap(begun(m), ended(m), since, now);
		else
			v += ended(m) <= now && ended(m) >= since;
	}
	return a->kind == 0 ? v > 0 : v > a->limit;
}

/* When it fires, by a walk over all moments; those at which it is looked at are given by the 10 ms.
 */
static size_t expect(const struct account *a, const struct moment *e, size_t n, uint64_t *ret)
{
	uint64_t next = 0, since = 0;
	bool on = false;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t now = START + e[i].t;
		bool pulse = a->kind == 0 && e[i].is_end && a->is(e[i].m) &&
			     now - begun(e[i].m) > a->limit;
		if (pulse && !on)
			ret[k++] = now;
		on |= pulse;
		/* A condition that must last without a break is over at once. */
		if (a->for_ns && a->kind == 1 && e[i].is_end && !is_true(a, now)) {
			on = false;
			since = 0;
		}
		if (now < next)
			continue;
		next = (now / (10 * MS) + 1) * 10 * MS;
		if (!is_true(a, now)) {
			on = false;
			since = 0;
			continue;
		}
		since = since ? since : now;
		if (!on && now - since >= a->for_ns) {
			ret[k++] = now;
			on = true;
		}
	}
	return k;
}

static bool any(const struct made *m)
{
	return m != NULL;
}

static bool is_mutex(const struct made *m)
{
	return m->flags == LCB_F_MUTEX;
}

static bool is_few(const struct made *m)
{
	return m->task >= 3 && m->task != 7;
}

static const struct {
	const char *expr;
	bool (*is)(const struct made *m);
	uint64_t limit;
	int kind;
	uint64_t for_ns;
} cases[] = {
	{"wait>60ms", any, 60 * MS, 0, 0},
	{"wait>40ms type:mutex", is_mutex, 40 * MS, 0, 0},
	{"wait>1ms !tid<703 !tid=707", is_few, 1 * MS, 0, 0},
	{"waiting>3", any, 3, 1, 0},
	{"waiting>1 type=mutex", is_mutex, 1, 1, 0},
	{"waiting>2 for 50ms", any, 2, 1, 50 * MS},
	{"waiting>1 type=mutex for 30ms", is_mutex, 1, 1, 30 * MS},
	{"blocked>7ms", any, 7 * MS, 0, 0},
	{"blocked>11ms type:mutex", is_mutex, 11 * MS, 0, 0},
	{"wait/s>3s", any, 3000 * MS, 2, 0},
	{"wait/s>1.3s type:mutex for 200ms", is_mutex, 1300 * MS, 2, 200 * MS},
	{"waits/s>70", any, 70, 3, 0},
	{"waits/s>40 (tid>702 !tid=707)", is_few, 40, 3, 0},
};

enum { CASES = sizeof(cases) / sizeof(*cases) };

static void play_random(struct play *p, const struct moment *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct made *m = e[i].m;
		if (!m)
			synth_round(p->rig.synth, START + e[i].t);
		else if (e[i].is_end)
			triggered_end(p, m->task, e[i].t, m->task % 5);
		else
			triggered_begin(p, m->task, e[i].t, m->task % 5, m->flags);
	}
}

/* Each alone, as the queue is bounded. */
static void random_streams_fire_as_an_account_of_them_says(void **state)
{
	struct made *m = calloc(TASKS * WAITS, sizeof(*m));
	struct moment *e = calloc(2 * TASKS * WAITS + ROUNDS, sizeof(*e));
	uint64_t *wanted = calloc(MOST, sizeof(*wanted));
	size_t in_all[CASES] = {0};

	(void)state;
	for (uint32_t seed = 1; seed <= 4; seed++)
		for (size_t c = 0; c < CASES; c++) {
			struct play *p;
			size_t n = make_moments(m, seed * 977), k = order(e, m, n, seed);
			const struct account a = {
				m, n, cases[c].is, cases[c].limit, cases[c].kind, cases[c].for_ns};

			triggered_setup((void **)&p);
			p->cooldown_ns = 0;
			play_random(p, e, k);
			const struct fired *f = triggered_one(p, cases[c].expr);
			size_t want = expect(&a, e, k, wanted);
			if (f->n != want)
				fail_msg("seed %u, %s: fired %zu times, wanted %zu", seed,
					 cases[c].expr, f->n, want);
			for (size_t i = 0; i < want; i++)
				if (f->list[i].fired_ns != wanted[i])
					fail_msg("seed %u, %s: %zu. at %llu, wanted %llu", seed,
						 cases[c].expr, i,
						 (unsigned long long)f->list[i].fired_ns,
						 (unsigned long long)wanted[i]);
			assert_int_equal(f->count.lost + f->count.again, 0);
			in_all[c] += want;
			triggered_teardown((void **)&p);
		}
	for (size_t c = 0; c < CASES; c++)
		if (!in_all[c])
			fail_msg("%s never fires, so nothing was compared", cases[c].expr);
	free(m);
	free(e);
	free(wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_streams_fire_as_an_account_of_them_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
