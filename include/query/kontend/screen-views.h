/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SCREEN_VIEWS_H
#define KONTEND_SCREEN_VIEWS_H

/*
 * The root views of the screen, in the order in which Tab goes through them: those with a digit
 * first, then those with a letter. NAME is the view_NAME of the user interface, and the word for
 * --view and `:view`.
 */
#define SCREEN_VIEWS(FIRST, X)                                                                     \
	FIRST(overview)                                                                            \
	X(locks)                                                                                   \
	X(waiters)                                                                                 \
	X(slots)                                                                                   \
	X(contexts)                                                                                \
	X(rotation)                                                                                \
	X(uprobes)                                                                                 \
	X(mmap)                                                                                    \
	X(hot)                                                                                     \
	X(chains)                                                                                  \
	X(blame)                                                                                   \
	X(queues)                                                                                  \
	X(blocked)                                                                                 \
	X(incidents)                                                                               \
	X(callers)                                                                                 \
	X(tasks)                                                                                   \
	X(types)                                                                                   \
	X(cpus)                                                                                    \
	X(why)

#define SCREEN_VIEWS_FIRST_WORD(name) #name
#define SCREEN_VIEWS_WORD(name) " " #name
/* Their names, as a list of choices. */
#define SCREEN_VIEWS_WORDS                                                                         \
	SCREEN_VIEWS(SCREEN_VIEWS_FIRST_WORD, SCREEN_VIEWS_WORD) SCREEN_VIEWS_SETS
/* Names of the view blame, too: with that set of columns. */
#define SCREEN_VIEWS_SETS " held did"

#endif
