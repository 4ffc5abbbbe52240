/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INCIDENTS_INCIDENT_THREAD_H
#define KONTEND_INCIDENTS_INCIDENT_THREAD_H

#include "incident-file.h"

/* A thread that writes incident files one after another during the measurement. */
struct incident_thread;

/* @o must outlive it. Call with all signals blocked. */
int incident_thread_new(struct incident_thread **ret, const struct incident_options *o,
			struct error *err);
/* Takes over @j. -EAGAIN: not taken, because the queue is full. */
enum { INCIDENT_THREAD_MOST = 4 };
int incident_thread_put(struct incident_thread *t, struct incident_job *j);
/* The next finished file, in order; the caller frees it. NULL: none. */
struct incident_job *incident_thread_done(struct incident_thread *t);
/* Number of unfinished files. */
unsigned incident_thread_left(struct incident_thread *t);
/* Polls readable when a file is finished. */
int incident_thread_fd(const struct incident_thread *t);
/* Ends the thread after its current file and drops the queue. NULL is fine. */
void incident_thread_free(struct incident_thread *t);

#endif
