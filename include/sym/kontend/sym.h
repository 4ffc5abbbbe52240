/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_H
#define KONTEND_SYM_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Kernel symbols from /proc/kallsyms, sorted once, one an address. Where addresses are withheld
 * (kptr_restrict, missing CAP_SYSLOG) there are no symbols and `state` says so.
 */
enum sym_state {
	SYM_NONE, /* nothing loaded yet */
	SYM_OK,
	SYM_WITHHELD,	/* kallsyms shows zeros */
	SYM_UNREADABLE, /* empty, or no line of it is one of kallsyms */
};

/* What a function is to the search for a caller. */
enum sym_lockfn {
	SYM_LOCKFN_NOT,
	SYM_LOCKFN_LOCK,  /* locking code */
	SYM_LOCKFN_TRACE, /* delivers lock:contention_begin or _end to whoever listens */
};

struct sym_entry {
	uint64_t addr;
	uint32_t name;	 /* offset of the name in the table's text */
	uint32_t module; /* offset of "[module]"'s name, 0 = kernel image */
	char type;	 /* as in kallsyms: t T d D b B ... */
	uint8_t lockfn;	 /* enum sym_lockfn */
	bool label;	 /* the linker's mark of a section's edge: covers nothing */
};

struct sym_pieces;

struct sym {
	enum sym_state state;
	/* By address. None where only what is asked for is read: then sym_whole() has them. */
	struct sym_entry *entries;
	size_t n, cap;
	char *text;
	size_t text_len, text_cap;
	uint64_t sched_text[2], lock_text[2]; /* ranges, 0 when not known */
	bool has_data;			      /* data symbols are there (KALLSYMS_ALL) */
	struct sym_pieces *pieces;	      /* what is asked for; NULL: all is in `entries` */
	uint32_t n_loads; /* entries and texts from before another one are no more */
};

void sym_init(struct sym *s);
void sym_deinit(struct sym *s);
/*
 * Takes the text of /proc/kallsyms (len 0: unreadable); replaces what was there. Lines that are
 * none are skipped. 0, whatever the state is then; -ENOMEM or -EFBIG with everything unchanged.
 */
int sym_load(struct sym *s, const char *text, size_t len, struct error *err);
/* The same for a text that stays until sym_deinit(): of a long one only what is asked for is read.
 */
int sym_load_persistent(struct sym *s, const char *text, size_t len, struct error *err);
/* With all its entries: @s itself, or made when first asked for. NULL: out of memory. */
const struct sym *sym_whole(const struct sym *s);

/* The symbol that covers @addr, or NULL. */
const struct sym_entry *sym_find(const struct sym *s, uint64_t addr);
static inline const char *sym_text(const struct sym *s, const struct sym_entry *e)
{
	return s->text + e->name;
}
/* The static object that a lock at @addr lies in, or NULL: heap behind the last one is none. */
const struct sym_entry *sym_object(const struct sym *s, uint64_t addr);
/* "name" (*ret_off = offset into it, if not NULL), or NULL when unknown. Data symbols count. */
const char *sym_name(const struct sym *s, uint64_t addr, uint64_t *ret_off);
bool sym_is_lock_function(const struct sym *s, uint64_t addr);
/* Is it on the way of the events of waits to who listens? */
bool sym_is_tracing(const struct sym *s, uint64_t addr);
/*
 * How many innermost frames of a wait's chain are of what reported it: the way from the tracepoint
 * to perf or a BPF program, which is on nobody's stack when nobody listens.
 */
uint32_t sym_after_tracing(const struct sym *s, const uint64_t *frames, uint32_t n);
/* Does who is called so try to get a lock and go away, so that no event tells of it? And what is to
 * be said of that. */
bool sym_is_trylock(const char *name);
extern const char sym_trylock_note[];
/* Does who is called so wait for the locks around breakpoint slots? */
bool sym_is_slot_function(const char *name);
/* Is it one of those whose only sleeping locks are the accounting's own? */
bool sym_accounts_slots(const char *name);
/*
 * Index of the caller in a chain (innermost first): the first frame outside the locking code; n - 1
 * when all are inside; 0 when n is 0. What lies inside the tracing of the event is left out first.
 */
uint32_t sym_caller(const struct sym *s, const uint64_t *frames, uint32_t n);

/*
 * An excerpt that answers as the whole does for the addresses marked in @marks (s->n bytes, zeroed
 * first), and knows the same locking code among them. 0, or -ENOMEM.
 */
void sym_mark(const struct sym *s, uint8_t *marks, uint64_t addr);
int sym_excerpt(const struct sym *s, uint8_t *marks, char **ret_text /* mem_free() */,
		size_t *ret_len);

#endif
