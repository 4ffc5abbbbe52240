/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_MAPS_H
#define KONTEND_MAPS_H

#include "kontend/event.h"
#include "kontend/map64.h"
#include "kontend/strpool.h"
#include <stdbool.h>
#include <stdint.h>

/*
 * Where code was mapped: the executable mappings of each process at this moment of the stream, and
 * their files. An address becomes (object, offset) when its sample comes, as mappings
 * change; names are looked up later.
 */

/* A file, or what else code is mapped from. */
struct map_object {
	const char *path;  /* interned; as the kernel names it: "[vdso]", "//anon", "/usr/bin/x";
			    * NULL: nothing has this number */
	uint32_t maj, min; /* 0, 0 with inode 0: no file */
	uint64_t ino;
	int32_t pid;	/* who had it mapped first; of memory that is no file: whose it is */
	uint8_t id[20]; /* build id, where the mapping says it instead of the inode */
	uint8_t id_len;
	uint64_t reported;  /* when it was mapped last: by `clock` */
	uint64_t mapped_ns; /* when it was mapped first, by the session clock; 0: before it began */
};

/* From MAP_NUMBERS on those of objects that are forgotten are given again. */
enum { MAP_RECENT = 64, MAP_NUMBERS = 1 << 14 };

/*
 * Objects are only added: a model that forgets some continues with another table, of the next
 * epoch, and so does a copy of the model, as its own events must decide what is forgotten. Index 0:
 * not known.
 */
struct map_objects {
	struct strpool names;
	struct map_object *items;
	size_t n, cap;
	struct map64 index;	     /* hash of what it is -> index */
	uint32_t recent[MAP_RECENT]; /* by inode: the last file found; 0 = none */
	unsigned refs;
	uint64_t version; /* of the space that changed last */
	uint64_t clock;	  /* mappings so far */
	size_t in_use;	  /* with index 0 */
	size_t next;	  /* a number that is free is not below, unless all were tried */
	uint32_t epoch;
	uint32_t again; /* numbers that were given again */
};

struct map_range {
	uint64_t start, end, pgoff; /* pgoff: bytes, of `start` in the object */
	uint32_t object;
};

/* The mappings of a process, by address; shared until one of those who share changes them. */
struct map_space {
	unsigned refs;
	uint64_t version; /* its own since it changed: who has the same has the same mappings */
	size_t n, cap;
	struct map_range *ranges;
};

/* A place that was looked up in mappings of that version; 0: none was. */
struct map_place {
	uint64_t version, addr, frame;
};

enum { MAP_PLACES = 512 };

struct map_spaces {
	struct map_objects *objects;
	struct map64 by_pid;
	struct map_space **spaces; /* NULL: free */
	size_t n, cap;
	size_t free_from; /* all before this one are used */
	size_t forget_at; /* objects: when there are so many, some are forgotten; 0: the usual */
	uint64_t dropped; /* mappings for which there was no room */
	struct map_place places[MAP_PLACES];
};

/*
 * A frame of a call chain: a kernel address as it is, a user address as object << 48 | offset, with
 * object 0 and the address where it is in no mapping.
 */
enum { MAP_OFFSET_BITS = 48, MAP_OBJECTS = (1 << 15) - 2, MAP_CODE = MAP_OBJECTS, MAP_MARK };

/*
 * Or it is no place but says why nothing more is known of who called: the number MAP_MARK in place
 * of an object, and the reason, which is an enum unwind_end; or MAP_MARK_ENDED, anywhere in a
 * chain: it was in code of a program that has ended, and of which nothing is kept any more;
 * or MAP_MARK_DEFERRED: the kernel was to write the user part later, and that has not come; or, of
 * a wait, MAP_MARK_SAVED: the user part would have cost too much; MAP_MARK_UNMAPPED: what comes
 * next is in no mapping; MAP_MARK_SOON: the tables of the program had not been read yet; or
 * MAP_MARK_MOST: there are more.
 */
enum {
	MAP_MARK_ENDED = 1 << 16,
	MAP_MARK_DEFERRED,
	MAP_MARK_SAVED,
	MAP_MARK_UNMAPPED,
	MAP_MARK_SOON,
	MAP_MARK_MOST
};
static inline uint64_t map_frame_mark(uint32_t why)
{
	return (uint64_t)MAP_MARK << MAP_OFFSET_BITS | why;
}

/*
 * A function that an interpreter runs (codes.h) is at no address: the number MAP_CODE in place of
 * an object, then the number of its name, and the line in its file; 0: not known.
 */
enum { MAP_LINE_BITS = 20, MAP_LINES = (1 << MAP_LINE_BITS) - 1 };
static inline uint64_t map_code_frame(uint32_t number, uint32_t line)
{
	return (uint64_t)MAP_CODE << MAP_OFFSET_BITS | (uint64_t)number << MAP_LINE_BITS |
	       (line <= MAP_LINES ? line : 0);
}

static inline bool map_frame_is_kernel(uint64_t frame)
{
	return frame >> 63;
}

/*
 * Code that the kernel made while it ran (ksyms.h): the number of its name, and the offset in it.
 * Other code may be at the same address later. No kernel has addresses that begin like that.
 */
enum { MAP_KSYM_TOP = 0x81, MAP_KSYM_BITS = 32, MAP_KSYMS = (1 << 24) - 1 };
static inline bool map_frame_is_ksym(uint64_t frame)
{
	return frame >> 56 == MAP_KSYM_TOP;
}

static inline uint64_t map_ksym_frame(uint32_t number, uint32_t offset)
{
	return (uint64_t)MAP_KSYM_TOP << 56 | (uint64_t)number << MAP_KSYM_BITS | offset;
}

static inline uint32_t map_ksym_number(uint64_t frame)
{
	return (uint32_t)(frame >> MAP_KSYM_BITS) & MAP_KSYMS;
}

static inline uint32_t map_ksym_offset(uint64_t frame)
{
	return (uint32_t)frame;
}

/*
 * Kernels of 32 bits, and of some machines with 64, are at addresses without the highest bit.
 * Frames have it in any case; zeros after it show that it was added.
 */
static inline uint64_t map_kernel_frame(uint64_t addr)
{
	addr |= 1ull << 63;
	return map_frame_is_ksym(addr) ? addr & ~(1ull << 56) : addr;
}

static inline uint64_t map_kernel_address(uint64_t frame)
{
	return frame >> 56 == 0x80 ? frame & ~(1ull << 63) : frame;
}

static inline uint32_t map_frame_object(uint64_t frame)
{
	return (uint32_t)(frame >> MAP_OFFSET_BITS);
}

static inline bool map_frame_is_mark(uint64_t frame)
{
	return map_frame_object(frame) == MAP_MARK;
}

/* Of chains of waits, whose kernel addresses are as they are: is it one of a program, or a mark? */
static inline bool map_frame_is_user(uint64_t frame)
{
	return !map_frame_is_kernel(frame) && map_frame_object(frame);
}

static inline bool map_frame_is_code(uint64_t frame)
{
	return map_frame_object(frame) == MAP_CODE;
}

static inline uint64_t map_frame_offset(uint64_t frame)
{
	return frame & ((1ull << MAP_OFFSET_BITS) - 1);
}

static inline uint32_t map_code_number(uint64_t frame)
{
	return (uint32_t)(map_frame_offset(frame) >> MAP_LINE_BITS);
}

static inline uint32_t map_code_line(uint64_t frame)
{
	return (uint32_t)frame & MAP_LINES;
}

struct map_objects *map_objects_new(void); /* NULL: no memory */
void map_objects_ref(struct map_objects *o);
void map_objects_unref(struct map_objects *o);
/* Index of what @ev (EVENT_MMAP) maps, made if new; 0: no room. @memory: as map_is_memory() says.
 */
uint32_t map_objects_find(struct map_objects *o, const struct event *ev, bool memory);
/* The objects for which @keep is set (NULL: all), with their numbers. NULL: no memory. */
struct map_objects *map_objects_some(const struct map_objects *o, const uint8_t *keep);

/* Is code with this name in memory of a process, and in no file? */
bool map_is_memory(const char *path);

int map_spaces_init(struct map_spaces *s); /* 0 or -ENOMEM */
int map_spaces_copy(struct map_spaces *dst, const struct map_spaces *src);
void map_spaces_deinit(struct map_spaces *s);

/* A mapping is made (EVENT_MMAP); what it covers of older ones is gone. 0 or -ENOMEM. */
int map_spaces_add(struct map_spaces *s, const struct event *ev);
/* @pid begins with the mappings of @parent; has none any more. */
int map_spaces_fork(struct map_spaces *s, int32_t pid, int32_t parent);
void map_spaces_clear(struct map_spaces *s, int32_t pid);

/* NULL: nothing is known of the process. Valid until the next change. */
const struct map_space *map_spaces_of(const struct map_spaces *s, int32_t pid);
/* The frame that @addr is there; @space may be NULL. */
uint64_t map_space_frame(const struct map_space *space, uint64_t addr);
/* The same, remembered: where the same places come often. */
uint64_t map_spaces_frame(struct map_spaces *s, const struct map_space *space, uint64_t addr);
/*
 * Frames of chains of waits: those in objects without the flag in @keep, of @n_keep, become the
 * mark MAP_MARK_ENDED.
 */
void map_frames_forget(uint64_t *frames, size_t n, const uint8_t *keep, size_t n_keep);
/* NULL: not known. */
const struct map_object *map_object_get(const struct map_objects *o, uint32_t index);
/* There are so many objects that map_spaces_forget() should be called. */
bool map_spaces_crowded(const struct map_spaces *s);
/*
 * Forgets the objects that no process has mapped, but for those that were mapped last. *ret_keep:
 * a flag for each that there was; mem_free(). 0 or -ENOMEM with nothing changed.
 */
int map_spaces_forget(struct map_spaces *s, uint8_t **ret_keep);
size_t map_spaces_bytes(const struct map_spaces *s);

#endif
