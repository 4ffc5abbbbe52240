// SPDX-License-Identifier: GPL-2.0-only
/*
 * The C library of GNU, for 64 bits: its own locks, of which the word is all that a thread waits
 * on.
 *
 * The lock of a stream is a word, a count and the thread that has it; the stream has its address.
 * Streams that fopen() makes have it right after them, the three others are exported. The lock of
 * an arena of malloc() is the first word of it. Arenas are in a ring: one in the library, the
 * others at the begin of heaps, which are aligned and have the address of their arena.
 */
#include "internal.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Symbols: the streams in the order of their descriptors, and where a thread has its number. */
enum { STDIN, STDOUT, STDERR, NUMBER };

/* In a stream. */
enum { FLAGS_AT = 0, FLAGS_MASK = (int)0xffff0000, FLAGS = (int)0xfbad0000 };
enum { FD_AT = 0x70, LOCK_AT = 0x88, STREAM_SIZE = 0xe0 };
/* In its lock. */
enum { OWNER_AT = 8 };
/* In an arena; the head of a heap was one or the other. */
enum { NEXT_AT = 2160, ARENAS_MOST = 1024, HEAD = 0x20, LONGER_HEAD = 0x30 };
static const uint64_t HEAP = 64 << 20, NEAR = 1 << 20, THREAD_MOST = 1 << 16;

static bool open_library(const struct runtime_process *p, struct runtime *t)
{
	uint32_t bits[3]; /* how large the member is, how many, and where */

	t->version = 0;
	if (t->symbols[NUMBER] && p->read(p->arg, t->symbols[NUMBER], bits, sizeof(bits)) &&
	    bits[0] == 32 && bits[1] == 1 && bits[2] < THREAD_MOST)
		t->version = bits[2];
	return true;
}

static bool is_stream(const struct runtime_process *p, uint64_t at, uint64_t lock)
{
	uint32_t flags;
	uint64_t of;

	return runtime_read_u32(p, at + FLAGS_AT, &flags) &&
	       (flags & (uint32_t)FLAGS_MASK) == (uint32_t)FLAGS &&
	       runtime_read_u64(p, at + LOCK_AT, &of) && of == lock;
}

/* The file that its descriptor is; a stream in memory has none. */
static void name_stream(const struct runtime_process *p, uint64_t stream, struct runtime_lock *ret)
{
	char path[PATH_MAX], file[RUNTIME_NAME - sizeof("FILE ")];
	uint32_t fd;
	ssize_t n = -1;

	snprintf(ret->name, sizeof(ret->name), "FILE");
	if (!runtime_read_u32(p, stream + FD_AT, &fd) || fd > INT_MAX)
		return;
	snprintf(path, sizeof(path), "%s/%d/fd/%u", p->proc, p->pid, fd);
	n = readlink(path, file, sizeof(file) - 1);
	if (n > 0 && (size_t)n < sizeof(file) - 1) {
		file[n] = '\0';
		snprintf(ret->name, sizeof(ret->name), "FILE %s", file);
	} else {
		snprintf(ret->name, sizeof(ret->name), "FILE %u", fd);
	}
}

/*
 * The owner is the address of its thread, which has its number. The count is no help: newer
 * versions have 0 where a thread has locked the stream once.
 */
static uint32_t stream_owner(const struct runtime_process *p, const struct runtime *t,
			     uint64_t lock)
{
	uint32_t number;
	uint64_t owner;

	if (!t->version || !runtime_read_u64(p, lock + OWNER_AT, &owner) || !owner ||
	    !runtime_read_u32(p, owner + t->version, &number) || number > FUTEX_TID_MASK)
		return 0;
	return number;
}

static bool find_stream(const struct runtime_process *p, const struct runtime *t, uint64_t addr,
			struct runtime_lock *ret)
{
	static const char *const names[] = {"FILE stdin", "FILE stdout", "FILE stderr"};
	const char *name = NULL;

	for (size_t i = STDIN; !name && i <= STDERR; i++)
		if (is_stream(p, t->symbols[i], addr))
			name = names[i];
	if (name)
		snprintf(ret->name, sizeof(ret->name), "%s", name);
	else if (is_stream(p, addr - STREAM_SIZE, addr))
		name_stream(p, addr - STREAM_SIZE, ret);
	else
		return false;
	ret->owner = stream_owner(p, t, addr);
	return true;
}

/* The arena of the library itself is near its streams. */
static bool is_main(const struct runtime *t, uint64_t arena)
{
	uint64_t stream = t->symbols[STDIN];

	return arena < stream ? stream - arena < NEAR : arena - stream < NEAR;
}

static bool is_in_heap(const struct runtime_process *p, uint64_t arena)
{
	uint64_t heap = arena & ~(HEAP - 1), of;

	return (arena - heap == HEAD || arena - heap == LONGER_HEAD) &&
	       runtime_read_u64(p, heap, &of) && of == arena;
}

/* A new arena comes right after the first one: so the oldest is the last of the ring. */
static bool find_arena(const struct runtime_process *p, const struct runtime *t, uint64_t addr,
		       struct runtime_lock *ret)
{
	bool first = is_main(t, addr);
	uint64_t at = addr;
	unsigned number = 0;

	if (!first && !is_in_heap(p, addr))
		return false;
	for (unsigned i = 0; i < ARENAS_MOST; i++) {
		if (!runtime_read_u64(p, at + NEXT_AT, &at))
			return false;
		if (is_main(t, at))
			number = i + 1;
		else if (!is_in_heap(p, at))
			return false;
		if (at == addr)
			break;
	}
	if (at != addr || !number)
		return false;
	if (first)
		snprintf(ret->name, sizeof(ret->name), "malloc main arena");
	else
		snprintf(ret->name, sizeof(ret->name), "malloc arena %u", number);
	return true;
}

static bool name_word(const struct runtime_process *p, const struct runtime *t, uint64_t addr,
		      struct runtime_lock *ret)
{
	return find_stream(p, t, addr, ret) || find_arena(p, t, addr, ret);
}

const struct runtime_type runtime_libc = {
	.program = "libc-2",
	.library = "libc",
	.symbols = {[STDIN] = "_IO_2_1_stdin_",
		    [STDOUT] = "_IO_2_1_stdout_",
		    [STDERR] = "_IO_2_1_stderr_",
		    [NUMBER] = "_thread_db_pthread_tid"},
	.needed = NUMBER,
	.open = open_library,
	.name = name_word,
};
