/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_H
#define KONTEND_SYM_H

#include "kontend/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Kernel symbols from /proc/kallsyms, sorted once, one per address. Where addresses are withheld
 * (kptr_restrict, missing CAP_SYSLOG) there are no symbols, and `state` is SYM_WITHHELD.
 */
enum sym_state {
	SYM_NONE, /* nothing loaded yet */
	SYM_OK,
	SYM_WITHHELD,	/* kallsyms shows zeros */
	SYM_UNREADABLE, /* empty, or no line has the format of kallsyms */
};

/* Role of a function when the caller of a lock is searched. */
enum sym_lockfn {
	SYM_LOCKFN_NOT,
	SYM_LOCKFN_LOCK,  /* locking code */
	SYM_LOCKFN_TRACE, /* delivers lock:contention_begin or _end to perf or BPF */
};

struct sym_entry {
	uint64_t addr;
	uint32_t name;	 /* offset of the name in the table's text */
	uint32_t module; /* offset of "[module]"'s name, 0 = kernel image */
	char type;	 /* as in kallsyms: t T d D b B ... */
	uint8_t lockfn;	 /* enum sym_lockfn */
	bool label;	 /* linker label at the edge of a section: covers nothing */
};

struct sym_pieces;

struct sym {
	enum sym_state state;
	/* By address. Empty if symbols are read on demand: sym_whole() returns all of them. */
	struct sym_entry *entries;
	size_t n, cap;
	char *text;
	size_t text_len, text_cap;
	uint64_t sched_text[2], lock_text[2]; /* ranges, 0 when not known */
	bool has_data;			      /* there are data symbols (KALLSYMS_ALL) */
	struct sym_pieces *pieces; /* symbols read on demand; NULL: all are in `entries` */
	uint32_t n_loads; /* number of loads: a load makes older entries and texts invalid */
};

void sym_init(struct sym *s);
void sym_deinit(struct sym *s);
/*
 * Reads the text of /proc/kallsyms (len 0: unreadable) and replaces all symbols. Lines of another
 * format are skipped. 0, whatever the state is then; -ENOMEM or -EFBIG with everything unchanged.
 */
int sym_load(struct sym *s, const char *text, size_t len, struct error *err);
/*
 * The same for a text that stays until sym_deinit(): of a long one, only lines that are needed are
 * parsed.
 */
int sym_load_persistent(struct sym *s, const char *text, size_t len, struct error *err);
/* The table with all entries: @s itself, or one built at the first call. NULL: out of memory. */
const struct sym *sym_whole(const struct sym *s);

/* The symbol that covers @addr, or NULL. */
const struct sym_entry *sym_find(const struct sym *s, uint64_t addr);
static inline const char *sym_text(const struct sym *s, const struct sym_entry *e)
{
	return s->text + e->name;
}
/* The static object that contains a lock at @addr, or NULL: heap after the last object is none. */
const struct sym_entry *sym_object(const struct sym *s, uint64_t addr);
/* "name" (*ret_off = offset into it, if not NULL), or NULL when unknown. Data symbols count. */
const char *sym_name(const struct sym *s, uint64_t addr, uint64_t *ret_off);
bool sym_is_lock_function(const struct sym *s, uint64_t addr);
/* True if it waits for a resilient spinlock, as BPF has them. */
bool sym_is_resilient(const struct sym *s, uint64_t addr);
/* True if it is on the path that delivers wait events to perf or BPF. */
bool sym_is_tracing(const struct sym *s, uint64_t addr);
/*
 * Number of innermost frames in a wait's chain that belong to the measurement itself: the path from
 * the tracepoint to perf or a BPF program, which runs only while waits are measured.
 */
uint32_t sym_after_tracing(const struct sym *s, const uint64_t *frames, uint32_t n);
/*
 * True if function @name tries to get a lock and returns at once if it cannot: the kernel reports
 * no event. sym_trylock_note explains that to users.
 */
bool sym_is_trylock(const char *name);
extern const char sym_trylock_note[];
/* True if function @name waits for the locks around breakpoint slots. */
bool sym_is_slot_function(const char *name);
/* The static percpu-rwsem for which function @name waits, as it takes no other; NULL: not known. */
const char *sym_percpu_rwsem(const char *name);
/*
 * staticfn.c: the static lock of that type ("spinlock", "rwlock", "mutex", "rwsem") for which
 * function @function waits, as it takes no other of that type; NULL: not known.
 */
const char *sym_static_lock(const char *type, const char *function);
/*
 * fieldfn.c: the same of a lock in an object of the kernel, where it is not known which: "d_lock",
 * and *@ret_of: "dentry". @type "lockref": of the caller of a function such as lockref_get().
 */
const char *sym_field_lock(const char *type, const char *function, const char **ret_of);
/* Does it wait for no spinlock but those of page tables? */
bool sym_locks_page_table(const char *function);
/* True if the only sleeping locks that it takes are those of the slot accounting. */
bool sym_accounts_slots(const char *name);
/*
 * Index of the caller in a chain (innermost first): the first frame outside the locking code; n - 1
 * when all are inside; 0 when n is 0. Frames of event tracing are skipped first.
 */
uint32_t sym_caller(const struct sym *s, const uint64_t *frames, uint32_t n);

/*
 * An excerpt that gives the same answers as the whole table for the addresses marked in @marks
 * (s->n bytes, zeroed first), and knows the same locking code among them. 0, or -ENOMEM.
 */
void sym_mark(const struct sym *s, uint8_t *marks, uint64_t addr);
int sym_excerpt(const struct sym *s, uint8_t *marks, char **ret_text /* mem_free() */,
		size_t *ret_len);

#endif
