/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_RUNTIMES_INTERNAL_H
#define KONTEND_INSPECT_RUNTIMES_INTERNAL_H

#include "java.h"
#include "runtimes.h"

struct runtime;

/* A kind of runtime. */
struct runtime_type {
	/* How the name of its program begins, and of its library; NULL: it has none. */
	const char *program, *library;
	const char *symbols[RUNTIME_SYMBOLS]; /* variables that it exports */
	size_t needed;			      /* so many of these; others may be missing: 0 */
	/* Fills in what is its own in @t. False: a version that is not known. */
	bool (*open)(const struct runtime_process *p, struct runtime *t);
	bool (*find)(struct runtimes *r, const struct runtime_process *p, const struct runtime *t,
		     const struct runtime_thread *thread, struct runtime_lock *ret);
	/* Of the C library, which a process has besides: names the lock whose word is at @addr. */
	bool (*name)(const struct runtime_process *p, const struct runtime *t, uint64_t addr,
		     struct runtime_lock *ret);
	/* As runtimes_calls(); NULL: its threads run machine code only. */
	size_t (*calls)(const struct runtime_process *p, const struct runtime *t, int32_t tid,
			struct runtime_call *ret, size_t most);
	size_t code;  /* the symbol of the function that runs them */
	bool by_word; /* a lock has a word of its own, which says which one it is */
	/* As in runtimes.h; NULL: the process says it nowhere. */
	bool (*info)(struct runtimes *r, const struct runtime_process *p, const struct runtime *t,
		     const struct runtime_thread *thread, struct runtime_info *ret);
	bool (*by_number)(struct runtimes *r, const struct runtime_process *p,
			  const struct runtime *t, uint64_t number, struct runtime_lock *ret);
};

/* The runtime of one process. */
struct runtime {
	const struct runtime_type *type; /* NULL: none, or not known */
	bool is_library;		 /* the C library of the process */
	int32_t pid, parent, inner;	 /* inner: its number in its own PID namespace */
	uint64_t space, ticks;		 /* ticks: until it began */
	uint64_t again_ns;		 /* without a type: when to look again */
	uint64_t symbols[RUNTIME_SYMBOLS];
	uint64_t code_size; /* of the one that is a function */
	uint32_t version;
	struct java_places java;
};

/* The process that a child of @parent with the same type calls @inner; 0: none that is known. */
int32_t runtimes_sibling(struct runtimes *r, const struct runtime_process *p,
			 const struct runtime *t, int32_t inner);

/*
 * Data that a type keeps of a process from one thread to the next: a block of memory, of the caller
 * until it gives it back. NULL: nothing.
 */
void *runtimes_take_kept(struct runtimes *r, const struct runtime_process *p);
void runtimes_give_kept(struct runtimes *r, const struct runtime_process *p, void *kept);

static inline bool runtime_read_u64(const struct runtime_process *p, uint64_t addr, uint64_t *ret)
{
	return !(addr & 7) && p->read(p->arg, addr, ret, sizeof(*ret));
}

static inline bool runtime_read_u32(const struct runtime_process *p, uint64_t addr, uint32_t *ret)
{
	return !(addr & 3) && p->read(p->arg, addr, ret, sizeof(*ret));
}

/* symbols.c */

/*
 * Of the type, in an ELF file, relative to the first byte of the file in memory. *ret_code_size:
 * bytes of the one that is a function.
 */
bool runtime_symbols(int fd /* closed */, const struct runtime_type *type,
		     uint64_t ret[RUNTIME_SYMBOLS], uint64_t *ret_code_size);

/* postgres.c */
extern const struct runtime_type runtime_postgres;

/* postgres-names.c: NULL where that version has no such lock, or is not known. */
const char *postgres_lwlock(uint32_t version, uint32_t id);
const char *postgres_lock(uint32_t type);

/* postgres-locks.c: all of that type; and the lock of a row, a table or a transaction for which the
 * backend waits. */
void postgres_name_lock(uint32_t type, struct runtime_lock *ret);
bool postgres_find_lock(struct runtimes *r, const struct runtime_process *p,
			const struct runtime *t, uint32_t type, struct runtime_lock *ret);

/* python.c */
extern const struct runtime_type runtime_python;
enum { PYTHON_RUNTIME, PYTHON_VERSION, PYTHON_EVAL }; /* of the symbols */

/* From 3.13 on: the first words of _PyRuntime, where things are. */
bool python_words(const struct runtime_process *p, const struct runtime *t, uint64_t *ret,
		  size_t n);

/* python-frames.c */
size_t python_calls(const struct runtime_process *p, const struct runtime *t, int32_t tid,
		    struct runtime_call *ret, size_t most);
/*
 * The line of a unit of code by the table of its function, whose first line is @first; 0: it has
 * none.
 */
uint32_t python_line(const uint8_t *table, size_t len, uint32_t first, uint64_t unit);

/* libc.c */
extern const struct runtime_type runtime_libc;

/* java.c */
extern const struct runtime_type runtime_java;

#endif
