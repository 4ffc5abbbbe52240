// SPDX-License-Identifier: GPL-2.0-only
/*
 * While threads that inherit breakpoints come and go as fast as they can: whatever moment of that a
 * look falls into, no thread has more of those that count than were opened. They exchange them as
 * they follow one another: then what was opened for the first thread may have ended with another
 * one, and stays only as long as its descriptor does.
 *
 *     test-inspect-spawn BP-HOLDER
 */
#include "holder.h"
#include "kontend/inspect.h"
#include "live.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENOUGH = 3000, MOST_LOOKS = 200000, EACH = 2 };

struct test {
	struct inspect *inspect;
	struct perfsnap snap;
	int failures, children, whole;
};

#define CHECK(t, good, ...) live_check(&(t)->failures, good, __VA_ARGS__)

static void check_event(struct test *t, const struct bp_made *m, const struct snap_event *e)
{
	t->children += e->target_tid != e->target_pid;
	CHECK(t, e->bp_addr == m->addr && e->bp_len == m->len && (int)e->bp_type == m->bp_type,
	      "event %llu watches 0x%llx/%llu", (unsigned long long)e->id,
	      (unsigned long long)e->bp_addr, (unsigned long long)e->bp_len);
}

static void check_snap(struct test *t, const struct bp_made *m)
{
	const struct perfsnap *s = &t->snap;
	int own = 0, others = 0, other = 0;

	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		if (e->target_pid != m->target || e->type != PERF_TYPE_BREAKPOINT)
			continue;
		check_event(t, m, e);
		if (e->state <= SNAP_EXIT)
			continue;
		own += e->target_tid == m->target;
		/* There is one of them at a time, and maybe one that is ending. */
		other = e->target_tid != m->target && !other ? e->target_tid : other;
		others += e->target_tid == other;
	}
	/* Lists that change under the walk may lack some. */
	CHECK(t, own <= EACH, "the first thread has %d breakpoints, not %d", own, EACH);
	CHECK(t, others <= EACH, "thread %d has %d breakpoints, not %d", other, others, EACH);
	t->whole += own == EACH;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"spawn", NULL};
	struct inspect_options o = {0};
	struct error err = {0};
	struct holder holder;
	struct test t = {0};
	int looks = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	live_need_root();
	if (inspect_bpf_new(&t.inspect, &o, &err) < 0) {
		printf("skipped: %s\n", err.text);
		return LIVE_SKIP;
	}
	if (holder_start(&holder, argc > 1 ? argv[1] : "", kinds) < 0) {
		printf("skipped: others have the breakpoint slots\n");
		return LIVE_SKIP;
	}
	for (; looks < MOST_LOOKS && t.children < ENOUGH && t.failures < 10; looks++) {
		enum inspect_what what = looks % 2 ? INSPECT_SLOTS : INSPECT_ALL;
		if (!CHECK(&t, inspect_take(t.inspect, what, &t.snap, &err) == 0, "%s", err.text))
			break;
		check_snap(&t, &holder.made[0]);
	}
	holder_stop(&holder);
	inspect_free(t.inspect);
	perfsnap_deinit(&t.snap);
	printf("%d looks, %d of them whole, %d inherited breakpoints, %d failures\n", looks,
	       t.whole, t.children, t.failures);
	return t.failures != 0 || t.children < ENOUGH || !t.whole;
}
