/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_INCIDENT_THREAD_H
#define KONTEND_RECORD_INCIDENT_THREAD_H

#include "incident-file.h"

/* A thread that writes files of incidents, one after the other, while measuring goes on. */
struct incident_thread;

/* @o is borrowed as long as it lives. All signals are blocked by now. */
int incident_thread_new(struct incident_thread **ret, const struct incident_options *o,
			struct error *err);
/* Takes over @j. -EAGAIN: so many wait already that it is not taken. */
enum { INCIDENT_THREAD_MOST = 4 };
int incident_thread_put(struct incident_thread *t, struct incident_job *j);
/* One that is done, in their order; the caller frees it. NULL: none. */
struct incident_job *incident_thread_done(struct incident_thread *t);
/* So many are not done. */
unsigned incident_thread_left(struct incident_thread *t);
/* Polls readable when one is done. */
int incident_thread_fd(const struct incident_thread *t);
/* Ends the thread behind what it is writing; what waits is given up. NULL is fine. */
void incident_thread_free(struct incident_thread *t);

#endif
