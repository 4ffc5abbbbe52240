// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rotation in a live session. perf_rotate_context() runs in a timer of the kernel, one for each CPU
 * and PMU, that is armed only while a context has more events than counters. So only expiries of
 * this one function are recorded. The filter has its address or, if addresses are withheld, its
 * name, which kernels from 6.3 on accept in filters.
 */
#include "kontend/clock.h"
#include "live-internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char devices[] = "/sys/bus/event_source/devices";
/* The name since Linux 4.2, and the earlier one. */
static const char *const mux_names[] = {"perf_mux_hrtimer_handler", "perf_cpu_hrtimer_handler"};
/*
 * The name before Linux 6.9, in which the other name belongs to another function, and the name
 * since.
 */
static const char *const tick_names[] = {"tick_sched_timer", "tick_nohz_handler"};
enum { NAMES = 2, FILTER_TEXT = 160 };

static void give_up(struct live_timers *t, const char *what, int code)
{
	snprintf(t->pmus.reason, sizeof(t->pmus.reason), "%s: %s", what, strerror(-code));
}

void live_timers_read(struct live_timers *t, const char *tracefs)
{
	struct error err = {0};

	pmus_read(devices, &t->pmus);
	if (!t->pmus.n && !t->tick)
		return;
	int r = tracepoint_read(&t->entry, tracefs, "timer", "hrtimer_expire_entry", &err);
	if (r == 0)
		r = tracepoint_read(&t->exit, tracefs, "timer", "hrtimer_expire_exit", &err);
	if (r == 0 && !live_timers_offset(t)) {
		r = -EINVAL;
		error_set(&err, r, "timer:hrtimer_expire_entry does not identify the timer");
	}
	if (r == 0)
		return;
	tracepoint_deinit(&t->entry);
	tracepoint_deinit(&t->exit);
	snprintf(t->pmus.reason, sizeof(t->pmus.reason), "%.*s", PMUS_REASON - 1, err.text);
}

uint32_t live_timers_offset(const struct live_timers *t)
{
	static const char field[] = " hrtimer;\toffset:";
	const char *at = t->entry.format ? strstr(t->entry.format, field) : NULL;

	return at ? (uint32_t)strtoul(at + sizeof(field) - 1, NULL, 10) : 0;
}

/* Finds the line "ffffffff812f3a10 t NAME". */
static bool find_symbol(const char *text, size_t len, const char *name, uint64_t *ret_addr)
{
	char pattern[64];
	size_t n = (size_t)snprintf(pattern, sizeof(pattern), " %s\n", name);
	const char *at = memmem(text, len, pattern, n);

	if (!at)
		return false;
	while (at > text && at[-1] != '\n')
		at--;
	*ret_addr = strtoull(at, NULL, 16);
	return true;
}

void live_timers_find(struct live_timers *t, const char *kallsyms, size_t len)
{
	for (size_t i = 0; kallsyms && !t->is_mux && i < NAMES; i++)
		t->is_mux = find_symbol(kallsyms, len, mux_names[i], &t->mux);
	for (size_t i = 0; kallsyms && t->tick && !t->is_tick && i < NAMES; i++)
		t->is_tick = find_symbol(kallsyms, len, tick_names[i], &t->tick_handler);
}

static int put_symbol(char *text, size_t size, const char *before, uint64_t addr, const char *name)
{
	if (addr)
		return snprintf(text, size, "%sfunction == 0x%" PRIx64, before, addr);
	return snprintf(text, size, "%sfunction.function == %s", before, name);
}

void live_timers_aim(struct live_timers *t, struct perf_session *ps)
{
	char filter[FILTER_TEXT] = "";
	int n = 0;

	if (!t->entry.id)
		return;
	if (!t->is_mux && !t->is_tick) {
		snprintf(t->pmus.reason, sizeof(t->pmus.reason),
			 "/proc/kallsyms has no %s: it is not readable, or the kernel is another "
			 "one",
			 mux_names[0]);
		return;
	}
	if (t->is_mux)
		n = put_symbol(filter, sizeof(filter), "", t->mux, mux_names[0]);
	if (t->is_tick)
		put_symbol(filter + n, sizeof(filter) - (size_t)n, n ? " || " : "", t->tick_handler,
			   tick_names[0]);
	int r = perf_session_time(ps, filter);
	t->on = r == 0;
	if (r < 0)
		give_up(t, "The kernel does not filter timer:hrtimer_expire_entry by function", r);
}

void live_timers_enable(const struct live_timers *t, struct perf_session *ps)
{
	if (t->on)
		perf_session_enable(ps, PERF_TIMER_ENTRY);
}

int live_timers_put(struct live_timers *t, struct queue *q)
{
	t->body.pmus = t->pmus;
	t->body.head = (struct record_snapshot){
		.kind = SNAPSHOT_PMUS,
		.version = PMUS_VERSION,
		.time_ns = clock_now_ns(),
	};
	return queue_put_always(q, RECORD_SNAPSHOT, 0, &t->body,
				sizeof(t->body.head) + pmus_size(&t->body.pmus));
}

/* Another program may change the interval of a PMU while kontend measures. */
static void *take_changes(struct snapshot_source *l, bool last, size_t *ret_len)
{
	struct live_timers *t =
		(struct live_timers *)((char *)l - offsetof(struct live_timers, look));
	struct pmus now;

	(void)last;
	pmus_read(devices, &now);
	memcpy(now.reason, t->pmus.reason, sizeof(now.reason));
	if (!memcmp(&now, &t->pmus, sizeof(now)))
		return NULL;
	t->pmus = t->body.pmus = now;
	*ret_len = sizeof(t->body.head) + pmus_size(&now);
	return &t->body;
}

struct snapshot_source *live_timers_look(struct live_timers *t, struct snapshot_source *others)
{
	if (!t->pmus.n)
		return others;
	t->look = (struct snapshot_source){.next = others,
					   .kind = SNAPSHOT_PMUS,
					   .version = PMUS_VERSION,
					   .at_start = true,
					   .take = take_changes};
	return &t->look;
}

void live_timers_deinit(struct live_timers *t)
{
	tracepoint_deinit(&t->entry);
	tracepoint_deinit(&t->exit);
}
