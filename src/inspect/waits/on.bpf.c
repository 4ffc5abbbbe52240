// SPDX-License-Identifier: GPL-2.0-only
/*
 * On what a task's system call is: the file of a descriptor, a process, or what is mapped
 * at an address. User space has filled in which argument of which call names it. The tree of
 * mappings is read without the mmap_lock, for which the task may wait: programs at tracepoints are
 * readers of RCU, which keeps its nodes, and the mapping that is found has to contain the address.
 * waits.bpf.c and why.bpf.c include this file; each has a config with `on_calls`, and word_at().
 */
#include "kernel/files.h"
#include "kernel/user.h"
#include "on-shared.h"

enum { ON_DEPTH = 8, ON_PIVOTS = 16, ON_GROWS_DOWN = 0x100 };

/* include/linux/maple_tree.h: what the pointer to a node has in its lower bits. */
enum {
	MAPLE_NODE = 2,
	MAPLE_BITS = 255,
	MAPLE_TYPE_SHIFT = 3,
	MAPLE_TYPE = 15,
	MAPLE_LEAF = 1,
	MAPLE_RANGE = 2,
	MAPLE_ARANGE = 3,
	MAPLE_ROOT_LEAST = 4096,
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
} CORE;

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
} CORE;

struct maple_tree {
	void *ma_root;
} CORE;

struct mm_struct___on {
	struct maple_tree mm_mt;
	unsigned long start_brk, brk, start_stack;
} CORE;

struct vm_area_struct___on {
	unsigned long vm_start, vm_end, vm_flags;
	struct mm_struct___on *vm_mm;
	struct file *vm_file;
} CORE;

struct fdtable___on {
	unsigned int max_fds;
	struct file **fd;
} CORE;

struct files_struct___on {
	struct fdtable___on *fdt;
} CORE;

struct task_struct___on {
	struct mm_struct___on *mm;
	struct files_struct___on *files;
} CORE;

struct file___on {
	struct inode___files *f_inode;
} CORE;

struct on_work {
	union {
		struct waitrec_on on;
		__u64 words[WAITREC_ON_WORDS];
	};
	__u64 file, inode; /* open or mapped; 0: none */
	__u64 place;	   /* number of frames before it */
};

_Static_assert(sizeof(struct waitrec_on) == WAITREC_ON_WORDS * sizeof(__u64), "whole words");

/* A program that begins to wait is not called again on its CPU before it has returned. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct on_work);
	__uint(max_entries, 1);
} on_works SEC(".maps");

#define on_at(type, member) bpf_core_field_offset(((struct type *)0)->member)

static __always_inline void on_file(struct on_work *w, __u64 file)
{
	__u64 inode = file ? word_at(file + on_at(file___on, f_inode)) : 0;

	if (!inode)
		return;
	w->on.kind = WAITREC_ON_FILE;
	w->on.value = word_at(inode + on_at(inode___files, i_ino));
	w->on.dev = (__u32)number_at(word_at(inode + on_at(inode___files, i_sb)) +
				     on_at(super_block___files, s_dev));
	w->file = file;
	w->inode = inode;
}

static __always_inline void on_descriptor(struct on_work *w, struct task_struct___on *t, __u32 fd)
{
	struct files_struct___on *files = t->files;
	__u64 table;

	if (!files)
		return;
	table = (__u64)files->fdt;
	if (!table || fd >= (__u32)number_at(table + on_at(fdtable___on, max_fds)))
		return;
	on_file(w, word_at(word_at(table + on_at(fdtable___on, fd)) + fd * 8ull));
}

struct on_walk {
	__u64 entry, addr; /* of the tree */
	bool is_found;	   /* `entry` is a mapping, or 0 */
};

/* Down by one node. */
static long on_step(__u64 depth, void *arg)
{
	struct on_walk *w = arg;
	__u64 node = w->entry & ~(__u64)MAPLE_BITS, pivots, slots, past;
	__u32 type = (__u32)(w->entry >> MAPLE_TYPE_SHIFT) & MAPLE_TYPE, n, i;

	(void)depth;
	if (type == MAPLE_ARANGE) {
		pivots = node + on_at(maple_arange_64, pivot);
		slots = node + on_at(maple_arange_64, slot);
	} else {
		pivots = node + on_at(maple_range_64, pivot);
		slots = node + on_at(maple_range_64, slot);
	}
	n = (__u32)(slots - pivots) / sizeof(__u64);
	w->entry = 0;
	if (type != MAPLE_LEAF && type != MAPLE_RANGE && type != MAPLE_ARANGE)
		return 1;
	for (i = 0; i < ON_PIVOTS && i < n; i++) {
		past = word_at(pivots + i * 8ull);
		if (w->addr <= past || (i && !past))
			break;
	}
	w->entry = word_at(slots + i * 8ull);
	w->is_found = type == MAPLE_LEAF;
	return w->is_found || !w->entry;
}

/* The mapping of the address; 0: there is none, or another one is made there now. */
static __always_inline __u64 on_mapping(struct mm_struct___on *mm, __u64 addr)
{
	struct on_walk w = {.addr = addr};
	__u64 vma;

	if (!bpf_core_field_exists(mm->mm_mt) || !bpf_core_type_exists(struct maple_arange_64))
		return 0;
	w.entry = word_at((__u64)mm + on_at(mm_struct___on, mm_mt.ma_root));
	if ((w.entry & 3) != MAPLE_NODE || w.entry < MAPLE_ROOT_LEAST)
		return 0;
	bpf_loop(ON_DEPTH, on_step, &w, 0);
	vma = w.is_found ? w.entry : 0;
	if (!vma || vma & 3 || word_at(vma + on_at(vm_area_struct___on, vm_mm)) != (__u64)mm ||
	    addr < word_at(vma + on_at(vm_area_struct___on, vm_start)) ||
	    addr >= word_at(vma + on_at(vm_area_struct___on, vm_end)))
		return 0;
	return vma;
}

static __always_inline void on_memory(struct on_work *w, struct mm_struct___on *mm, __u64 addr,
				      __u64 sp)
{
	__u64 vma = mm ? on_mapping(mm, addr) : 0, file, from, past;

	w->on.kind = WAITREC_ON_MEMORY;
	w->on.value = addr;
	if (!vma)
		return;
	file = word_at(vma + on_at(vm_area_struct___on, vm_file));
	from = word_at(vma + on_at(vm_area_struct___on, vm_start));
	past = word_at(vma + on_at(vm_area_struct___on, vm_end));
	if (file)
		on_file(w, file);
	else if (word_at((__u64)mm + on_at(mm_struct___on, start_brk)) < past &&
		 word_at((__u64)mm + on_at(mm_struct___on, brk)) > from)
		w->on.kind = WAITREC_ON_HEAP;
	else if ((sp >= from && sp < past) ||
		 word_at(vma + on_at(vm_area_struct___on, vm_flags)) & ON_GROWS_DOWN)
		w->on.kind = WAITREC_ON_STACK;
	else
		w->on.kind = WAITREC_ON_ANONYMOUS;
}

/* The registers with which the task entered the kernel. */
struct on_call {
	__s64 number; /* -1: by no system call */
	__u64 args[3], sp;
};

static __always_inline bool on_call_read(struct task_struct___user *t, struct on_call *ret)
{
	void *regs = (void *)bpf_task_pt_regs((void *)t);

	if (is_x86()) {
		struct pt_regs___user_x86 *x = regs;
		*ret = (struct on_call){(__s64)x->orig_ax, {x->di, x->si, x->dx}, x->sp};
		return true;
	}
	if (!is_arm64())
		return false;
	struct pt_regs___user_arm64 *a = regs;
	*ret = (struct on_call){a->syscallno,
				{a->orig_x0, a->user_regs.regs[1], a->user_regs.regs[2]},
				a->user_regs.sp};
	return true;
}

static __always_inline void on_argument(struct on_work *w, struct task_struct___on *t,
					const struct on_call *c)
{
	__u64 number = (__u64)c->number;
	__u64 arg;
	__u32 what;

	barrier_var(number); /* the same register for test and use, or the verifier forgets */
	if (number >= ON_CALLS)
		return;
	what = config.on_calls[number];
	arg = what & ((1 << ON_ARG_BITS) - 1);
	arg = !arg ? c->args[0] : arg == 1 ? c->args[1] : c->args[2];
	what >>= ON_ARG_BITS;
	if (what == WAITREC_ON_FILE) {
		on_descriptor(w, t, (__u32)arg);
	} else if (what == WAITREC_ON_MEMORY) {
		on_memory(w, t->mm, arg, c->sp);
	} else {
		w->on.kind = what;
		w->on.value = arg;
	}
}

static __always_inline struct on_work *on_here(void)
{
	const __u32 first = 0;

	return bpf_map_lookup_elem(&on_works, &first);
}

/* Into @w, of the current task or one that an iterator hands out. False: it cannot be read. */
static __always_inline bool on_of(struct on_work *w, struct task_struct___user *t)
{
	struct on_call c;

	w->words[0] = w->words[1] = w->file = w->inode = 0;
	if (!user_is_program(t) || !on_call_read(t, &c))
		return false;
	if (c.number >= 0)
		on_argument(w, (void *)t, &c);
	return true;
}

/* Of the current task into on_here(). 0: it cannot be read. Global, as owner_read() is. */
__noinline int on_read(void)
{
	struct on_work *w = on_here();

	return w && on_of(w, (void *)bpf_get_current_task_btf());
}
