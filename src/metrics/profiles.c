// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile of N seconds has the sums of the model at N ticks, beginning with the tick after the
 * request: overlapping profiles are both complete, and each costs as much as its waits. Names of
 * programs that are not loaded yet are left out, and loaded for the next second: the measuring
 * thread does not wait.
 */
#include "kontend/mem.h"
#include "kontend/memfile.h"
#include "kontend/model.h"
#include "kontend/query-hot.h"
#include "server.h"

#include <errno.h>
#include <string.h>

enum { HTTP_OK = 200, HTTP_NOT_FOUND = 404, HTTP_NOT_BUILT = 501, HTTP_UNAVAILABLE = 503 };

static const uint64_t SECOND_NS = 1000000000;

static void refuse(struct metrics_server *s, unsigned slot, unsigned status, const char *words)
{
	char *text = mem_join(words, "\n");

	metrics_server_answer(s, slot, status, text, text ? strlen(text) : 0);
}

static void hand_over(struct metrics_profile *one, struct metrics_server *s, unsigned slot)
{
	struct memfile bytes = {0};
	struct error err = {.text = "Out of memory."};
	FILE *out = memfile_open(&bytes);
	int code = out ? pprof_write(one->p, out, &err) : -ENOMEM;

	if (out && fclose(out) != 0)
		code = -ENOMEM;
	if (code == 0) {
		metrics_server_answer(s, slot, HTTP_OK, bytes.text, bytes.n);
		return;
	}
	mem_free(bytes.text);
	refuse(s, slot, HTTP_UNAVAILABLE, err.text);
}

static void end(struct metrics_profile *one)
{
	pprof_free(one->p);
	*one = (struct metrics_profile){0};
}

/* Ticks are not exactly a second apart. */
static bool is_over(const struct metrics_profile *one, uint64_t now_ns)
{
	return now_ns - one->begin_ns + SECOND_NS / 2 > one->asked.seconds * SECOND_NS;
}

static void add_profile(struct metrics_profile *one, struct metrics_server *s, unsigned slot,
			struct query *q)
{
	struct error err;

	if (pprof_add(one->p, q, &err) < 0) {
		refuse(s, slot, HTTP_UNAVAILABLE, err.text);
		end(one);
	} else if (is_over(one, q->model->now_ns)) {
		hand_over(one, s, slot);
		end(one);
	}
}

static bool has_samples(struct query *q)
{
	struct query_hot_sum sum;

	return query_hot_sum(q, NULL, &sum) == 0 && sum.known;
}

static void begin(struct metrics_profiles *all, struct metrics_server *s, struct query *q,
		  unsigned slot, const struct asked *asked)
{
	const struct pprof_spec spec = {.what = asked->what, .version = all->version, .live = true};
	struct metrics_profile *one = &all->of[slot];
	struct error err;

	if (asked->what == SAMPLES_CPU && !has_samples(q)) {
		refuse(s, slot, HTTP_NOT_FOUND,
		       "There are no CPU samples: start kontend record with -F HZ, like -F 99.");
		return;
	}
	*one = (struct metrics_profile){.asked = *asked, .begin_ns = q->model->now_ns};
	int code = pprof_new(&one->p, &spec, &err);
	if (code < 0)
		refuse(s, slot, code == -ENOTSUP ? HTTP_NOT_BUILT : HTTP_UNAVAILABLE, err.text);
}

void metrics_profiles_tick(struct metrics_profiles *all, struct metrics_server *s, struct query *q)
{
	struct asked asked;
	unsigned slot;

	for (slot = 0; slot < ASKED_MOST; slot++) {
		if (!all->of[slot].p)
			continue;
		if (metrics_server_has_left(s, slot)) {
			end(&all->of[slot]);
			continue;
		}
		query_begin(q);
		add_profile(&all->of[slot], s, slot, q);
	}
	query_begin(q);
	while (metrics_server_asked(s, &slot, &asked))
		begin(all, s, q, slot, &asked);
}

void metrics_profiles_deinit(struct metrics_profiles *all)
{
	for (unsigned i = 0; i < ASKED_MOST; i++)
		pprof_free(all->of[i].p);
}
