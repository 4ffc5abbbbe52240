// SPDX-License-Identifier: GPL-2.0-only
/* The storm, with a profile beside it: who works, who spins for locks, who is idle. */
#include "kontend/mem.h"
#include "streams-int.h"
#include "synth-profile.h"

#define CODE 0x400000ull

struct place {
	int tid;
	uint32_t cpu, weight; /* samples a second */
	uint64_t kernel[5];
	uint64_t user[2];
};

static void emit_place(struct synth *s, const struct place *p, uint64_t t)
{
	struct synth_chain c = {.kernel = p->kernel, .user = p->user};

	while (c.n_kernel < 5 && p->kernel[c.n_kernel])
		c.n_kernel++;
	while (c.n_user < 2 && p->user[c.n_user])
		c.n_user++;
	for (uint32_t i = 0; i < p->weight; i++)
		synth_sample(s, p->cpu, t, 5214, p->tid, MS, c);
}

static void emit_profile(struct synth *s, uint64_t t)
{
	const uint64_t down_write = synth_addr(SYNTH_DOWN_WRITE_KILLABLE);
	const uint64_t slow = synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH);
	const uint64_t syscall = synth_addr(SYNTH_DO_SYSCALL_64);
	const struct place places[] = {
		{5215,
		 0,
		 41,
		 {slow, down_write, synth_addr(SYNTH_VM_MUNMAP), synth_addr(SYNTH_X64_SYS_MUNMAP),
		  syscall},
		 {CODE + 0x1100}},
		{5216,
		 1,
		 23,
		 {slow, down_write, synth_addr(SYNTH_VM_MMAP_PGOFF), synth_addr(SYNTH_X64_SYS_MMAP),
		  syscall},
		 {CODE + 0x1100}},
		{5216,
		 1,
		 17,
		 {synth_addr(SYNTH_QSPIN_SLOWPATH), synth_addr(SYNTH_RAW_SPIN_LOCK),
		  synth_addr(SYNTH_RMQUEUE_BULK), synth_addr(SYNTH_GET_PAGE), 0},
		 {CODE + 0x2200}},
		{5217, 0, 30, {0}, {CODE + 0x3300, CODE + 0x40}},
		{5217, 0, 9, {synth_addr(SYNTH_EXC_PAGE_FAULT)}, {0}},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		emit_place(s, &places[i], t);
}

struct synth *stream_hot(void)
{
	struct chains c;
	struct stage st;
	struct actor actors[16];
	size_t i = 0;

	chains_init(&c);
	stage_open(&st, 2, 6, synth_kallsyms);
	synth_profile(st.synth);
	synth_mmap(st.synth, 0, START_NS, 5214, CODE, 0x10000, 0x1000, "/opt/storm/bin/mm");
	size_t n = stage_storm(actors, &c);
	for (size_t k = 0; k < n; k++)
		stage_act(&st, &actors[k]);
	stage_sort(&st);
	for (uint32_t s = 1; s <= st.seconds; s++) {
		uint64_t t = START_NS + (uint64_t)s * SECOND;
		emit_profile(st.synth, t - SECOND + 1);
		i = stage_second(&st, i, t);
	}
	mem_free(st.list);
	return st.synth;
}

/* 96 CPUs: the last ones of each 16 do nothing but wait for a spinlock, the first have a rwsem. */
struct synth *stream_hot_cpus(void)
{
	enum { CPUS = 96, NODE = 16 };
	const uint64_t spin = synth_addr(SYNTH_QSPIN_SLOWPATH);
	const uint64_t slow = synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH);
	struct stage st;

	stage_open(&st, CPUS, 2, synth_kallsyms);
	synth_profile(st.synth);
	synth_mmap(st.synth, 0, START_NS, 5214, CODE, 0x10000, 0x1000, "/opt/storm/bin/mm");
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct place user = {5217, cpu, 20, {0}, {CODE + 0x3300}};
		struct place lock = {5215, cpu, cpu % NODE, {spin}, {CODE + 0x1100}};
		if (cpu < NODE)
			lock.kernel[0] = slow;
		if (cpu % NODE == NODE - 1)
			user.weight = 0;
		emit_place(st.synth, &user, START_NS + 1);
		emit_place(st.synth, &lock, START_NS + 1);
	}
	stage_second(&st, 0, START_NS + SECOND);
	mem_free(st.list);
	return st.synth;
}
