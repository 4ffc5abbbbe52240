/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_RUNTIMES_JAVA_H
#define KONTEND_INSPECT_RUNTIMES_JAVA_H

/* HotSpot, the virtual machine of OpenJDK: shared by the parts of java.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct runtime;
struct runtime_process;
struct runtimes;

/* Tables that it exports, and how they are built. */
enum java_symbol {
	JAVA_MEMBERS,
	JAVA_MEMBER_TYPE,
	JAVA_MEMBER_NAME,
	JAVA_MEMBER_TYPE_OF,
	JAVA_MEMBER_OFFSET,
	JAVA_MEMBER_ADDRESS,
	JAVA_MEMBER_STEP,
	JAVA_TYPES,
	JAVA_TYPE_NAME,
	JAVA_TYPE_SIZE,
	JAVA_TYPE_STEP,
	JAVA_SYMBOLS,
};

/* Answers of the machine about its own structures: offsets, and values of variables. */
enum java_place {
	/* The list of its threads: a vector, or in version 11 a chain. */
	JAVA_LIST,
	JAVA_LIST_LENGTH,
	JAVA_LIST_VECTOR,
	JAVA_FIRST,
	JAVA_NEXT,
	/* In a thread of Java, and in what it has of the system's thread. */
	JAVA_OSTHREAD,
	JAVA_NUMBER,
	JAVA_THREAD_OBJECT,
	JAVA_PENDING, /* the monitor for which it waits */
	JAVA_STACK_BASE,
	JAVA_STACK_SIZE,
	JAVA_OWNER_ID,
	JAVA_LOCK_STACK,
	JAVA_LOCK_TOP,
	JAVA_LOCK_BASE,
	JAVA_MONITOR_OBJECT,
	JAVA_MONITOR_OWNER,
	JAVA_KLASS_NAME,
	JAVA_KLASS_SUPER,
	JAVA_KLASS_MIRROR,
	JAVA_MIRROR_KLASS, /* in the object of a class */
	JAVA_SYMBOL_LENGTH,
	JAVA_SYMBOL_BODY,
	/* Fields of a class: until version 20 as words, then as a stream. */
	JAVA_CONSTANTS,
	JAVA_FIELD_WORDS,
	JAVA_FIELD_COUNT,
	JAVA_FIELD_STREAM,
	/* How short references become addresses. */
	JAVA_KLASS_BASE,
	JAVA_KLASS_SHIFT,
	JAVA_OOP_BASE,
	JAVA_OOP_SHIFT,
	JAVA_FLAGS,
	JAVA_N_FLAGS,
	JAVA_FLAG_NAME,
	JAVA_FLAG_AT,
	JAVA_PLACES,
};

struct java_places {
	uint64_t at[JAVA_PLACES];
	uint64_t have;		       /* bit of each that is known */
	uint64_t pool_size, flag_size; /* of the head of a constant pool, of a flag */
	bool handles;		       /* references from outside of the heap lead through a word */
	bool owners_by_id;	       /* else by address */
	bool short_klass, short_oop, compact; /* settings */
};

static inline bool java_has(const struct java_places *j, enum java_place p)
{
	return j->have >> p & 1;
}

/* java-structs.c: false if that is no machine which is known. */
bool java_read_places(const struct runtime_process *p, const struct runtime *t,
		      struct java_places *ret);

/* java-objects.c: objects of Java, by their addresses. */

struct java_object {
	const struct runtime_process *process;
	const struct java_places *j;
	uint64_t at, klass;
};

/* The object to which a word outside of the heap leads. False: none, or it does not prove itself.
 */
bool java_object_from(const struct runtime_process *p, const struct java_places *j, uint64_t word,
		      struct java_object *ret);
/* The object in the field @name; *offset: of it, 0 if not known yet. False: no such object. */
bool java_object_field(const struct java_object *o, const char *name, uint64_t *offset,
		       struct java_object *ret);
/* The same of a word. */
bool java_word_field(const struct java_object *o, const char *name, uint64_t *offset,
		     uint64_t *ret);
/* "java/lang/Object"; of a long name the end. */
bool java_class_name(const struct java_object *o, char *ret, size_t n);
bool java_is_a(const struct java_object *o, const char *name);

/* java-threads.c: the threads of a process. */

struct java_thread {
	uint64_t at, stack_from, stack_to, owner_id;
	uint32_t number;
};

enum { JAVA_SCANS = 8 };

struct java_threads {
	uint64_t read_ns;
	uint64_t blocker_at, machine_at, owner_at; /* of fields; 0: not known yet */
	/* Monitors whose owner was found, or not, by reading all threads. */
	struct java_scan {
		uint64_t monitor, owner, read_ns;
	} scans[JAVA_SCANS];
	size_t next_scan;
	size_t n;
	struct java_thread thread[];
};

/* Those that were kept, or as they are now. NULL: no memory, or it cannot be read. */
struct java_threads *java_threads_take(struct runtimes *r, const struct runtime_process *p,
				       const struct java_places *j);
/* Thread @number; false: none. It may read all threads again. */
bool java_threads_find(struct java_threads **ts, const struct runtime_process *p,
		       const struct java_places *j, uint32_t number, struct java_thread *ret);
/* That at an address. */
bool java_threads_at(const struct runtime_process *p, const struct java_places *j, uint64_t at,
		     struct java_thread *ret);
/* The number of the owner of a monitor, whose object is @object; 0: none, or not known. */
uint32_t java_threads_owner(struct java_threads **ts, const struct runtime_process *p,
			    const struct java_places *j, uint64_t monitor, uint64_t object);

#endif
