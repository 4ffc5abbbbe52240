/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_APP_STAGE_H
#define KONTEND_TESTS_APP_STAGE_H

#include "app/priv.h"
#include "synth.h"

#define S 1000000000ull
enum { SECONDS = 20 };

/* The app on twenty seconds from 100 s on, with a wait of 100 ms in each. */
struct stage {
	struct synth *synth;
	struct engine engine;
	struct timeline *timeline;
	struct display *display;
	struct app *app;
	struct app_clock clock;
	uint64_t now_ns; /* what it shows */
};

void stage_replay(struct stage *st);  /* as a recording, at its beginning */
void stage_reading(struct stage *st); /* the same, of which the first second is read */
void stage_live(struct stage *st);    /* as a session that keeps its last minutes */
void stage_close(struct stage *st);
void stage_press(struct stage *st, uint32_t key);
void stage_go(struct stage *st, const char *where); /* by the key @ */
/* Lets @ns go by: the answer of app_tick(). */
int stage_pass(struct stage *st, uint64_t ns);
void stage_ticks(struct stage *st, int n);	/* live */
void stage_to_the_end(struct stage *st);	/* everything that is left, in a pause or not */
uint64_t stage_at(const struct stage *st);	/* seconds */
uint64_t stage_counted(const struct stage *st); /* finished waits */
bool stage_shows(const struct stage *st, const char *text);

#endif
