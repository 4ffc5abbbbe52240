/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MUX_H
#define KONTEND_MUX_H

#include "kontend/error.h"
#include "kontend/pmus.h"

#include <sys/types.h>

/*
 * The interval at which events of a PMU take turns is a setting of the whole machine. A session
 * that changes it first writes a note into a folder that a boot empties. Sessions at the same time
 * share the note. The value that was set last is in force until the last session ends, which
 * restores the value from before the first one. A session that is killed counts as ended. When no
 * session is left, the next one, or doctor, reads in the note which value to restore. A value that
 * another program has set meanwhile stays.
 */
enum { MUX_MOST = 8, MUX_MS_MOST = 10000 };

/* Folders: "/sys/bus/event_source/devices" and "/run/kontend", or those of a test. */
struct mux_roots {
	const char *devices, *notes;
};
extern const struct mux_roots mux_system;

struct mux_item {
	char pmu[PMUS_NAME];
	uint32_t ms;
	int fd;	  /* of the setting; opened before privileges were dropped */
	int note; /* locked as long as the session lives; -1: nothing was set */
};

/* The settings of a session. `= {0}` sets nothing. */
struct mux {
	const struct mux_roots *roots;
	struct mux_item items[MUX_MOST];
	uint32_t n;
};

/* "PMU=MS", several with commas between. -EINVAL with @err. */
int mux_parse(struct mux *m, const char *text, struct error *err);
/* Opens the settings, if those are PMUs that rotate. @roots is borrowed. 0 or a negative errno. */
int mux_open(struct mux *m, const struct mux_roots *roots, struct error *err);
/* Sets the opened files. After a failure mux_close() restores the earlier values. */
int mux_set(struct mux *m, struct error *err);
/*
 * Restores the earlier values if no other session is left, and closes. Negative with @err: a value
 * could not be restored.
 */
int mux_close(struct mux *m, struct error *err);

/* The settings that killed sessions have left. */
struct mux_left {
	char pmu[PMUS_NAME];
	uint32_t now_ms, before_ms; /* to be restored: before_ms */
	pid_t pid;		    /* pid of the killed session */
};

/*
 * Their number; at most @most of them go to @ret. Only root can read notes: other users get none.
 */
size_t mux_find_left(const struct mux_roots *roots, struct mux_left *ret, size_t most);
/* Restores one, unless it has changed since it was found. 0 or a negative errno. */
int mux_repair(const struct mux_roots *roots, const struct mux_left *left, struct error *err);
/* "cpu rotates every 8 ms, and not 4, since kontend 412 was killed" */
const char *mux_left_text(const struct mux_left *left, char *buf, size_t size);

#endif
