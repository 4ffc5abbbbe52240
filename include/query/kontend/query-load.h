/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_LOAD_H
#define KONTEND_QUERY_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;

/*
 * Continues to load the names of programs and source lines that queries have asked for, for
 * @budget_ns and a step. True: there is more to do, or to be shown. New names are in the answers
 * after the next query_begin().
 */
bool query_load_names(struct query *q, uint64_t budget_ns);
/*
 * Has an answer since the last call been "(loading)"? Then the frame is to be drawn again when
 * names have come, whether or not anything else changes.
 */
bool query_load_asked(struct query *q);
/* Readable when lines have come, which query_load_names() takes; -1: none are under way. */
int query_load_fd(const struct query *q);
/*
 * For reports: loads names, and waits for lines, for @most_ns at most. True: ask again, as new
 * names have come. When the user asks to end (asked.h), it stops: what has no name yet has none.
 */
bool query_load_wait(struct query *q, uint64_t most_ns);
/*
 * For answers that are written once: true if one since the last call has "(loading)" for a name,
 * and names have come. Ask for them again.
 */
bool query_load_again(struct query *q);
/* A message about names, for people, once; NULL: nothing new. */
const char *query_load_note(struct query *q);
/*
 * The paths of files whose names are shown although nothing shows that they are the recorded ones
 * (usersyms_trusted()), from *@at = 0 on; NULL: no more.
 */
const char *query_load_trusted(const struct query *q, size_t *at);
size_t query_load_n_trusted(const struct query *q);
/* Tables of symbols that were dropped to limit their memory, and would be read again. */
uint64_t query_load_dropped(const struct query *q);

#endif
