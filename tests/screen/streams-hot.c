// SPDX-License-Identifier: GPL-2.0-only
/* The storm, with a profile beside it: who works, who spins for locks, who is idle. */
#include "kontend/funcsnap.h"
#include "kontend/mem.h"
#include "kontend/notes.h"
#include "streams-int.h"
#include "synth-profile.h"

#include <stdlib.h>
#include <string.h>

#define CODE 0x400000ull
#define SLOTS 0x7fffffffe000ull

struct place {
	int tid;
	uint32_t cpu, weight; /* samples a second */
	uint64_t kernel[5];
	uint64_t user[2];
};

/* A probed instruction, stepped out of line. */
static const struct place in_slot = {5217, 1, 7, {0}, {SLOTS + 0x80, CODE + 0x3300}};

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

void streams_state_names(struct synth *s, const char *path, const struct stated_function *named,
			 size_t n)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x90, 0x90, 0x5d, 0xc3};
	struct record_snapshot head = {.kind = SNAPSHOT_FUNCS, .version = FUNCSNAP_VERSION};
	struct funcsnap f = {0};
	struct funcsnap_object o = {
		.path = funcsnap_add_text(&f, path), .maj = 8, .min = 1, .ino = 7};
	uint32_t object = funcsnap_add_object(&f, &o);

	for (size_t i = 0; i < n; i++) {
		struct funcsnap_func fn = {.start = named[i].start,
					   .size = sizeof(code),
					   .name = funcsnap_add_text(&f, named[i].name),
					   .object = object};
		if (funcsnap_add_code(&f, &fn, code, sizeof(code)) < 0 ||
		    funcsnap_add_func(&f, &fn) < 0)
			abort();
	}
	funcsnap_sort(&f);
	size_t len = funcsnap_size(&f);
	char *body = mem_calloc(1, sizeof(head) + len);
	if (!body)
		abort();
	memcpy(body, &head, sizeof(head));
	funcsnap_encode(&f, body + sizeof(head));
	synth_record(s, RECORD_SNAPSHOT, 0, body, sizeof(head) + len);
	mem_free(body);
	funcsnap_deinit(&f);
}

/* Another event beside the profile, and notes: as recordings from elsewhere have them. */
static void state_foreign(struct synth *s)
{
	static const struct {
		struct record_note is;
		const char *text;
	} notes[] = {
		{{.kind = NOTE_NAMES, .offset = NOTE_NOWHERE},
		 "No kernel symbols: it was made on Linux 5.10.0 (aarch64), here runs another"},
		{{.kind = NOTE_DAMAGE, .offset = 7112, .bad = 1},
		 "The recording is readable up to byte 7112: it ends within a record"},
	};

	synth_profile_second(s);
	for (int i = 0; i < 12; i++)
		synth_sample_second(s, 0, synth_addr(SYNTH_DOWN_WRITE_KILLABLE));
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		char body[200 + sizeof(notes[i].is)];
		size_t len = strlen(notes[i].text) + 1;
		memcpy(body, notes[i].text, len);
		memcpy(body + len, &notes[i].is, sizeof(notes[i].is));
		synth_record(s, RECORD_NOTE, 0, body, len + sizeof(notes[i].is));
	}
}

static struct synth *play_hot(bool named, bool foreign)
{
	struct chains c;
	struct stage st;
	struct actor actors[16];
	size_t i = 0;

	chains_init(&c);
	stage_open(&st, 2, 6, synth_kallsyms);
	synth_profile(st.synth);
	synth_mmap(st.synth, 0, START_NS, 5214, CODE, 0x10000, 0x1000, "/opt/storm/bin/mm");
	synth_mmap(st.synth, 0, START_NS, 5214, SLOTS, 0x1000, 0, "[uprobes]");
	if (named)
		streams_state_names(st.synth, "/opt/storm/bin/mm",
				    &(struct stated_function){0x4300, "storm_fill"}, 1);
	if (foreign)
		state_foreign(st.synth);
	size_t n = stage_storm(actors, &c);
	for (size_t k = 0; k < n; k++)
		stage_act(&st, &actors[k]);
	stage_sort(&st);
	for (uint32_t s = 1; s <= st.seconds; s++) {
		uint64_t t = START_NS + (uint64_t)s * SECOND;
		emit_profile(st.synth, t - SECOND + 1);
		if (named)
			emit_place(st.synth, &in_slot, t - SECOND + 1);
		i = stage_second(&st, i, t);
	}
	mem_free(st.list);
	return st.synth;
}

struct synth *stream_hot(void)
{
	return play_hot(false, false);
}

struct synth *stream_hot_named(void)
{
	return play_hot(true, false);
}

struct synth *stream_hot_foreign(void)
{
	return play_hot(false, true);
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

/* Page faults of a kernel where each of them tries to get the mmap_lock. */
struct synth *stream_trylock(void)
{
	static const char kallsyms[] = "ffffffff81001000 t down_read_trylock\n"
				       "ffffffff81002000 t handle_mm_fault\n"
				       "ffffffff81003000 t up_read\n"
				       "ffffffff81004000 t clear_page_erms\n"
				       "ffffffff81005000 T _etext\n";
	static const struct {
		uint64_t ip;
		uint64_t weight;
	} places[] = {{0xffffffff81001014, 26},
		      {0xffffffff81002010, 15},
		      {0xffffffff81003010, 13},
		      {0xffffffff81004010, 9}};
	struct stage st;

	stage_open(&st, 1, 1, kallsyms);
	synth_profile(st.synth);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct place p = {5215, 0, (uint32_t)places[i].weight, {places[i].ip}, {0}};
		emit_place(st.synth, &p, START_NS + 1 + i);
	}
	stage_second(&st, 0, START_NS + SECOND);
	mem_free(st.list);
	return st.synth;
}
