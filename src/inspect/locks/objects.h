/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_OBJECTS_H
#define KONTEND_INSPECT_LOCKS_OBJECTS_H

#include "kontend/map64.h"
#include "shared.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * Locks of files that had a name found for them. Each look reads whether they are still those of
 * the same files: memory of an inode that was freed is soon another one's, with the lock in it.
 */
struct locks_objects {
	struct map64 at; /* lock -> index */
	struct locks_object {
		struct raw_lock_object of;
		struct raw_lock_file named; /* as it was when its name was found */
	} known[RAW_LOCK_OBJECTS];
	size_t n;
	uint64_t ended[RAW_LOCK_OBJECTS]; /* found by the last look */
	size_t n_ended;
};

void locks_objects_deinit(struct locks_objects *o);
/* Fills in the objects to read, at most RAW_LOCK_OBJECTS. Returns their number. */
size_t locks_objects_ask(const struct locks_objects *o, struct raw_lock_object *ret);
/* Takes the results: `ended` gets those that are another file's now, and they are forgotten. */
void locks_objects_take(struct locks_objects *o, const struct raw_lock_object *read);
/* The name @n was found; if it is a file's, it is looked at from now on. */
void locks_objects_add(struct locks_objects *o, const struct raw_lock_name *n);

#endif
