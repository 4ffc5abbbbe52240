/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_FROZEN_H
#define KONTEND_UI_FROZEN_H

#include "kontend/display.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Who looks after frames that a terminal does not take: with one that was not taken for a while, a
 * signal that ends us or the key that quits, the terminal is abandoned, and the frame comes to its
 * end. Started and stopped by the thread that draws.
 */
struct frozen {
	struct display *display;
	pthread_t watcher, drawer;
	int stop_fd, frame_fd;
	atomic_uint frame; /* odd: one is being drawn */
	atomic_bool quit;  /* a key asked for it meanwhile */
	bool runs;
};

/* Of displays that cannot be abandoned there is nothing to look after. */
int frozen_start(struct frozen *f, struct display *d, struct error *err);
void frozen_begin(struct frozen *f); /* of a frame */
void frozen_end(struct frozen *f);
void frozen_stop(struct frozen *f);

#endif
