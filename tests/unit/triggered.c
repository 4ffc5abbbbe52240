// SPDX-License-Identifier: GPL-2.0-only
/* Streams for tests of triggers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kontend/limits.h"
#include "lock-snaps.h"
#include "triggered.h"

int triggered_setup(void **state)
{
	struct play *p = calloc(1, sizeof(*p));
	char symbols[16384];

	p->fired = calloc(1, sizeof(*p->fired));
	p->cooldown_ns = UINT64_MAX;
	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, lock_snap_symbols);
	p->rig = (struct rig){.synth = synth_new(4)};
	synth_prologue(p->rig.synth, symbols);
	synth_round(p->rig.synth, START);
	*state = p;
	return 0;
}

int triggered_teardown(void **state)
{
	struct play *p = *state;

	rig_deinit(&p->rig);
	free(p->fired);
	free(p);
	return 0;
}

static void take_fired(struct triggers *t, struct fired *f)
{
	struct error err = {0};

	while (f->n < MOST && triggers_next(t, &f->list[f->n], &err) == 1)
		f->n++;
}

const struct fired *triggered(struct play *p, const char *const *exprs, size_t n)
{
	struct model_limits limits = model_limits_of(0);
	struct error err = {0};
	struct triggers *t;
	int r;

	limits.blame = p->blame ? 4096 : 0;
	assert_int_equal(engine_init(&p->rig.engine, synth_source(p->rig.synth), &limits, &err), 0);
	p->rig.playing = true;
	if (triggers_new(&t, &p->rig.engine, exprs, n, &err) < 0)
		fail_msg("%s", err.text);
	if (p->cooldown_ns != UINT64_MAX)
		triggers_cooldown(t, p->cooldown_ns);
	do {
		r = engine_pump(&p->rig.engine, 0, &err);
		assert_true(r >= 0);
		take_fired(t, p->fired);
	} while (r != ENGINE_END);
	if (p->fired->n) {
		p->fired->followed = p->fired->list[p->fired->n - 1];
		p->fired->goes_on = triggers_follow(t, &p->fired->followed);
	}
	p->fired->count = triggers_count(t);
	triggers_free(t);
	assert_null(p->rig.engine.watch);
	return p->fired;
}

const struct fired *triggered_one(struct play *p, const char *expr)
{
	return triggered(p, &expr, 1);
}

void triggered_begin(struct play *p, int task, uint64_t t, int lock, uint32_t flags)
{
	static const enum synth_address chain[] = {SYNTH_DOWN_READ, SYNTH_PIPE_READ,
						   SYNTH_DO_SYSCALL_64};
	uint64_t frames[3];

	for (int i = 0; i < 3; i++)
		frames[i] = synth_addr(chain[i]);
	synth_begin(p->rig.synth, (uint32_t)task % 4, START + t, 700 + task, 700 + task, LOCK(lock),
		    flags, frames, 3);
}

void triggered_end(struct play *p, int task, uint64_t t, int lock)
{
	synth_end(p->rig.synth, (uint32_t)task % 4, START + t, 700 + task, 700 + task, LOCK(lock),
		  0);
}
