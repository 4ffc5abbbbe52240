// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints whose formats are not in the recording: the kernel, and so the fields of an event,
 * may be any. Their samples are counted and cannot be decoded; those of other events are not
 * affected.
 */
#include "engine-int.h"
#include "kontend/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Would waits or other views be read from it? The file may have its name. */
static bool is_missed(const struct eventlist_event *ev)
{
	const char *colon = strchr(ev->name, ':');
	char system[EVENTLIST_NAME];

	if (!colon)
		return false;
	snprintf(system, sizeof(system), "%.*s", (int)(colon - ev->name), ev->name);
	return trace_kind(system, colon + 1) != EVENT_NONE;
}

static int note(struct engine *e, const struct eventlist_event *ev, uint64_t samples)
{
	const bool missed = is_missed(ev);
	const struct record_note is = {.kind = missed ? NOTE_DAMAGE : NOTE_UNKNOWN,
				       .offset = NOTE_NOWHERE,
				       .bad = missed ? samples : 0};
	char body[NOTE_TEXT + sizeof(is)];
	int n = snprintf(body, NOTE_TEXT,
			 "%" PRIu64
			 " sample%s of %s cannot be decoded: the recording has no format "
			 "of this event",
			 samples, samples == 1 ? "" : "s", ev->name);
	size_t len = n < NOTE_TEXT ? (size_t)n + 1 : NOTE_TEXT;
	struct record r = {.kind = RECORD_NOTE, .data = body, .len = len + sizeof(is)};

	memcpy(body + len, &is, sizeof(is));
	return notes_take(&e->notes, &r);
}

int engine_note_formats(struct engine *e)
{
	int r = 0;

	if (e->noted_formats)
		return 0;
	e->noted_formats = true;
	for (size_t i = 0; !r && i < e->events.n && i < EVENTLIST_MOST; i++)
		if (e->events.events[i].no_format && e->merged.samples[i])
			r = note(e, &e->events.events[i], e->merged.samples[i]);
	return r;
}
