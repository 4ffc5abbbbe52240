// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of made snapshots: hits of uprobes, blocked tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "canned.h"
#include "kontend/metrics.h"
#include "lock-snaps.h"
#include "openmetrics.h"
#include "uprobe-snaps.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS = 4, NO_PROBE = -1 };

/* Hits that the kernel has counted at each look, or NO_PROBE: it is not there. */
static const struct looked_at {
	const char *symbol;
	uint32_t flags;
	int64_t hits[LOOKS];
} looked_at[] = {
	{"before", UPSNAP_HITS, {1000, 1100, 1100, 1250}},
	{"later", UPSNAP_HITS, {NO_PROBE, 50, 80, 80}},
	{"gone", UPSNAP_HITS | UPSNAP_RETURN, {7, 17, NO_PROBE, NO_PROBE}},
	{"shared", UPSNAP_HITS | UPSNAP_SHARED, {5, 10, 20, 30}},
	{"uncounted", 0, {0, 0, 0, 0}},
	{"", UPSNAP_HITS, {0, 0, 4, 4}},
	{"quo\"te", UPSNAP_HITS, {0, 1, 1, 2}},
};

static void put_look(struct synth *s, unsigned look, bool incomplete)
{
	const uint64_t second = 1000 * CANNED_MS, first = CANNED_START + second / 2;
	struct upsnap snap = {.head = {.time_ns = first + look * second,
				       .interval_ns = look ? second : 0,
				       .first_ns = first,
				       .method = UPSNAP_BPF,
				       .incomplete = incomplete && !look}};

	for (size_t i = 0; i < sizeof(looked_at) / sizeof(*looked_at); i++) {
		const struct looked_at *l = &looked_at[i];
		struct upsnap_probe p = {.id = i + 1, .offset = 0x40 + i, .flags = l->flags};
		unsigned at = 0;
		while (l->hits[at] == NO_PROBE)
			at++;
		if (look < at || l->hits[look] == NO_PROBE)
			continue;
		p.hits = (uint64_t)l->hits[look];
		p.first_hits = (uint64_t)l->hits[at];
		p.first_ns = first + at * second;
		p.source = UPSNAP_PERF;
		p.binary = upsnap_add_text(&snap, "/bin/app");
		p.symbol = upsnap_add_text(&snap, l->symbol);
		upsnap_add_probe(&snap, &p);
	}
	uprobe_snap_put(s, &snap);
	upsnap_deinit(&snap);
}

/* The text written in the end, of all snapshots. */
static char *hits_of(bool incomplete)
{
	const struct metrics_options o = {.version = "1.2.3"};
	struct error err = {0};
	struct metrics *m;
	struct rig rig;
	char *text = NULL;
	size_t len = 0;

	rig_init(&rig, 1);
	synth_outputs(rig.synth);
	synth_round(rig.synth, CANNED_START);
	for (unsigned look = 0; look < LOOKS; look++) {
		put_look(rig.synth, look, incomplete);
		synth_tick(rig.synth, CANNED_START + (look + 1) * 1000 * CANNED_MS);
	}
	rig_play_ticks(&rig, NULL, 0);
	assert_int_equal(metrics_new(&m, &o, &err), 0);
	assert_int_equal(metrics_start(m, &rig.engine, &err), 0);
	for (unsigned look = 0; look < LOOKS; look++) {
		rig_play_ticks(&rig, NULL, 1);
		assert_int_equal(metrics_add(m, &err), 0);
		assert_int_equal(metrics_add(m, &err), 0); /* there is nothing new */
	}
	FILE *f = open_memstream(&text, &len);
	assert_non_null(f);
	assert_int_equal(metrics_put(m, NULL, METRICS_TEXT, f, &err), 0);
	fclose(f);
	metrics_free(m);
	rig_deinit(&rig);
	return text;
}

static void assert_hits(const char *text, const char *probe, double want)
{
	char sample[128];

	snprintf(sample, sizeof(sample), "kontend_uprobe_hits_total{probe=\"/bin/app:%s\"}", probe);
	double got = openmetrics_value(text, sample);
	if (!(got >= want && got <= want))
		fail_msg("%s is %f, not %f", sample, got, want);
}

static void hits_count_since_measuring_began(void **state)
{
	(void)state;
	char *text = hits_of(false);
	assert_hits(text, "before", 250);
	assert_hits(text, "later", 80);
	assert_hits(text, "gone%return", 10);
	assert_hits(text, "0x45", 4);
	assert_hits(text, "quo\\\"te", 2);
	assert_null(strstr(text, "shared"));
	assert_null(strstr(text, "uncounted"));
	free(text);
	/* It may have been there, and hit, before. */
	text = hits_of(true);
	assert_hits(text, "later", 30);
	free(text);
}

/* Tasks that cannot run, by cause: the latest snapshot, not the sum of all. */
static void blocked_tasks_are_those_of_the_latest_snapshot(void **state)
{
	const struct metrics_options o = {.version = "1.2.3"};
	struct error err = {0};
	char symbols[16384], *text = NULL;
	struct metrics *m;
	struct rig rig = {.synth = synth_new(1)};
	size_t len = 0;

	(void)state;
	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, lock_snap_symbols);
	synth_prologue(rig.synth, symbols);
	synth_round(rig.synth, CANNED_START);
	for (int look = 0; look < 2; look++) {
		struct locksnap s = {0};
		for (int i = 0; i < 5 - look; i++) {
			const struct locksnap_blocked b = {
				.pid = 10 + i, .tid = 10 + i, .state = LOCKSNAP_BLOCKED_D};
			lock_snap_blocked(&s, b, "make", i ? LOCK_SNAP_VFORK : LOCK_SNAP_UNKNOWN,
					  1);
		}
		lock_snap_emit(rig.synth, &s,
			       CANNED_START + (uint64_t)(look + 1) * 900 * CANNED_MS);
	}
	struct usersnap users = {.head = {.time_ns = CANNED_START + 900 * CANNED_MS,
					  .from_ns = CANNED_START,
					  .is_first = 1,
					  .unproven = 40,
					  .foreign = 7}};
	lock_snap_emit_users(rig.synth, &users);
	synth_tick(rig.synth, CANNED_START + 2000 * CANNED_MS);
	rig_play_ticks(&rig, NULL, 0);
	assert_int_equal(metrics_new(&m, &o, &err), 0);
	assert_int_equal(metrics_start(m, &rig.engine, &err), 0);
	rig_play_ticks(&rig, NULL, 1);
	assert_int_equal(metrics_add(m, &err), 0);
	FILE *f = open_memstream(&text, &len);
	assert_non_null(f);
	assert_int_equal(metrics_put(m, NULL, METRICS_TEXT, f, &err), 0);
	fclose(f);
	assert_non_null(strstr(text, "\nkontend_blocked_tasks{cause=\"child of vfork\"} 3\n"));
	assert_non_null(strstr(text, "\nkontend_blocked_tasks{cause=\"unknown\"} 1\n"));
	assert_non_null(
		strstr(text, "\nkontend_futex_sleeps_not_known_total{reason=\"32bit\"} 7\n"));
	assert_non_null(strstr(
		text, "\nkontend_futex_sleeps_not_known_total{reason=\"may_be_no_lock\"} 40\n"));
	free(text);
	metrics_free(m);
	rig_deinit(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_count_since_measuring_began),
		cmocka_unit_test(blocked_tasks_are_those_of_the_latest_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
