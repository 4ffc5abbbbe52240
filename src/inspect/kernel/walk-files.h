/* SPDX-License-Identifier: GPL-2.0-only */
/* A walk through all files of all tasks: see walk.h. */
#ifndef KONTEND_INSPECT_KERNEL_WALK_FILES_H
#define KONTEND_INSPECT_KERNEL_WALK_FILES_H

#include "walk.h"

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *open_fds;
} CORE;

struct files_struct {
	struct fdtable *fdt;
} CORE;

struct task_struct___files {
	struct files_struct *files;
	struct task_struct *group_leader;
} CORE;

struct walk_files {
	struct walk_tasks tasks;
	__u64 files, open; /* arrays of the task's: what its descriptors are of, which there are */
	__u64 bits;	   /* of the word of `open` that is looked at, those that are left */
	__u32 from, n;	   /* descriptors: of that word, in all */
};

/* Threads have mostly the files of their leader: these are looked at once. */
static __always_inline void walk_open(struct walk_files *w)
{
	struct task_struct___files *t = (void *)w->tasks.task, *leader = (void *)w->tasks.leader;
	struct files_struct *files = BPF_CORE_READ(t, files);
	struct fdtable *table;

	w->n = w->from = 0;
	w->bits = 0;
	if (!files || (t != leader && files == BPF_CORE_READ(leader, files)))
		return;
	table = BPF_CORE_READ(files, fdt);
	w->n = BPF_CORE_READ(table, max_fds);
	w->files = (__u64)BPF_CORE_READ(table, fd);
	w->open = (__u64)BPF_CORE_READ(table, open_fds);
	w->bits = w->n ? word_at(w->open) : 0;
}

/*
 * The place of the only bit that is set: how many there are below. By branches, one for each half,
 * the verifier would follow all that comes after them 64 times, tens of milliseconds at each start.
 */
static __always_inline __u32 walk_place(__u64 bit)
{
	__u64 n = bit - 1;

	n -= n >> 1 & 0x5555555555555555ull;
	n = (n & 0x3333333333333333ull) + (n >> 2 & 0x3333333333333333ull);
	n = (n + (n >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return n * 0x0101010101010101ull >> 56;
}

/* A descriptor of the task that is open: its file, or 0 when it is time to go on. */
static __always_inline __u64 walk_file(struct walk_files *w, __u32 *ret_fd)
{
	__u64 lowest = w->bits & -w->bits;

	if (!lowest)
		return 0;
	w->bits ^= lowest;
	*ret_fd = w->from + walk_place(lowest);
	return word_at(w->files + *ret_fd * 8ull);
}

/* False: all files of all tasks have been seen. */
static __always_inline bool walk_next_file(struct walk_files *w)
{
	if (w->bits)
		return true;
	w->from += 64;
	if (w->from < w->n) {
		w->bits = word_at(w->open + w->from / 8);
		return true;
	}
	if (!walk_on(&w->tasks))
		return false;
	walk_open(w);
	return true;
}

/*
 * The same for all files: @each(task, file, descriptor). The position is in memory of which the
 * verifier knows nothing: for a variable on the stack it would follow each possible start value.
 */
#define WALK_FILES(program, each, torn)                                                            \
	static struct walk_files program##_at;                                                     \
                                                                                                   \
	static long program##_round(__u32 i, void *ctx)                                            \
	{                                                                                          \
		__u32 fd = 0;                                                                      \
		__u64 file = walk_file(&program##_at, &fd);                                        \
                                                                                                   \
		if (file)                                                                          \
			each(program##_at.tasks.task, file, fd);                                   \
		return !walk_next_file(&program##_at);                                             \
	}                                                                                          \
                                                                                                   \
	SEC("raw_tp")                                                                              \
	int program(void *ctx)                                                                     \
	{                                                                                          \
		struct walk_files *w = &program##_at;                                              \
                                                                                                   \
		walk_begin(&w->tasks);                                                             \
		walk_open(w);                                                                      \
		bpf_loop(WALK_MOST, program##_round, NULL, 0);                                     \
		if (!w->tasks.ended)                                                               \
			(torn)++;                                                                  \
		return 0;                                                                          \
	}

#endif
