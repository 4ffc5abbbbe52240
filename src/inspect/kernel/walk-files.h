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
	w->bits = w->n ? walk_word(w->open) : 0;
}

/* A descriptor of the task that is open: its file, or 0 when it is time to go on. */
static __always_inline __u64 walk_file(struct walk_files *w, __u32 *ret_fd)
{
	__u64 lowest = w->bits & -w->bits;
	__u32 bit = 0;

	if (!lowest)
		return 0;
	w->bits ^= lowest;
	/* Its place, by halves. */
	bit |= lowest & 0xffffffff00000000ull ? 32 : 0;
	bit |= lowest & 0xffff0000ffff0000ull ? 16 : 0;
	bit |= lowest & 0xff00ff00ff00ff00ull ? 8 : 0;
	bit |= lowest & 0xf0f0f0f0f0f0f0f0ull ? 4 : 0;
	bit |= lowest & 0xccccccccccccccccull ? 2 : 0;
	bit |= lowest & 0xaaaaaaaaaaaaaaaaull ? 1 : 0;
	*ret_fd = w->from + bit;
	return walk_word(w->files + *ret_fd * 8ull);
}

/* False: all files of all tasks have been seen. */
static __always_inline bool walk_next_file(struct walk_files *w)
{
	if (w->bits)
		return true;
	w->from += 64;
	if (w->from < w->n) {
		w->bits = walk_word(w->open + w->from / 8);
		return true;
	}
	if (!walk_on(&w->tasks))
		return false;
	walk_open(w);
	return true;
}

/* The same for all files: @each(task, file, descriptor). */
#define WALK_FILES(program, each, torn)                                                            \
	static long program##_round(__u32 i, struct walk_files *w)                                 \
	{                                                                                          \
		__u32 fd = 0;                                                                      \
		__u64 file = walk_file(w, &fd);                                                    \
                                                                                                   \
		if (file)                                                                          \
			each(w->tasks.task, file, fd);                                             \
		return !walk_next_file(w);                                                         \
	}                                                                                          \
                                                                                                   \
	SEC("raw_tp")                                                                              \
	int program(void *ctx)                                                                     \
	{                                                                                          \
		struct walk_files w = {0};                                                         \
                                                                                                   \
		walk_begin(&w.tasks);                                                              \
		walk_open(&w);                                                                     \
		bpf_loop(WALK_MOST, program##_round, &w, 0);                                       \
		if (!w.tasks.ended)                                                                \
			(torn)++;                                                                  \
		return 0;                                                                          \
	}

#endif
