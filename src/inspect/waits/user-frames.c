// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers how the callers of pieces of code are found, from the exception tables of programs: each
 * place once, when frames.bpf.c first comes there. Most programs have few places from which they
 * wait, so after a moment there is nothing left to answer. A process may have ended by then.
 */
#include "bpf-run.h"
#include "frames-shared.h"
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/patience.h"
#include "kontend/sleepstack.h"
#include "kontend/unwind.h"
#include "locks/users-process.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <time.h>

enum { SOON_MS = 5, IDLE_MS = 50, AT_ONCE = 256, WORD = 8 };

/* Mappings that were read so long ago are read again. */
static const uint64_t STALE_NS = 100000000;
/* Those that could not be read are tried again so much later. */
static const uint64_t STUCK_NS = 1000000000;

struct user_frames {
	int rules, asks;
	struct sleepstack *stacks; /* NULL: this build has no unwinder */
	struct sleepstack_map *maps;
	size_t n_maps, cap_maps;
	struct users_process process; /* whose mappings these are; pid 0: of none */
	uint64_t read_ns;
	int32_t stuck_pid; /* whose mappings could not be read, at `stuck_ns` */
	uint64_t stuck_ns;
	struct bpf_thread thread;
};

static int open_maps(struct user_frames *u, struct bpf_object *o, struct error *err)
{
	u->rules = bpf_object__find_map_fd_by_name(o, "frames_rules");
	u->asks = bpf_object__find_map_fd_by_name(o, "frames_asks");
	return u->rules < 0 || u->asks < 0
		       ? error_set(err, -ENOENT, "The BPF object lacks the maps of call chains")
		       : 0;
}

int user_frames_new(struct user_frames **ret, struct bpf_object *o, struct error *err)
{
	struct user_frames *u = mem_calloc(1, sizeof(*u));

	if (!u)
		return error_enomem(err, "call chains of programs");
	int code = bpf_thread_init(&u->thread, err);
	code = code < 0 ? code : open_maps(u, o, err);
	if (code == 0 && sleepstack_new(&u->stacks, "/proc", false) == -ENOMEM)
		code = error_enomem(err, "call chains of programs");
	if (code < 0) {
		user_frames_free(u);
		return code;
	}
	*ret = u;
	return 0;
}

static void forget_process(struct user_frames *u)
{
	if (u->process.pid)
		users_process_close(&u->process);
	u->process.pid = 0;
	u->n_maps = 0;
}

static bool add_map(struct user_frames *u, const struct users_mapping *m)
{
	if (mem_grow(&u->maps, &u->cap_maps, u->n_maps, sizeof(*u->maps)) < 0)
		return false;
	u->maps[u->n_maps++] = (struct sleepstack_map){.start = m->from,
						       .end = m->to,
						       .file_offset = m->offset,
						       .path = m->path,
						       .maj = (uint32_t)m->major,
						       .min = (uint32_t)m->minor,
						       .ino = m->ino,
						       .executable = m->executable};
	return true;
}

static void read_maps(void *arg)
{
	size_t len;

	(void)users_process_maps(arg, &len);
}

static void drop_process(void *arg)
{
	users_process_close(arg);
	mem_free(arg);
}

/*
 * Reads the mappings of process @pid. The task that holds its mmap_lock may sleep for long, and
 * kontend waits for this thread at its end. False: not now.
 */
static bool take_process(struct user_frames *u, int32_t pid, uint64_t now_ns)
{
	struct users_process *p;

	if (pid == u->stuck_pid && now_ns - u->stuck_ns < STUCK_NS)
		return false;
	p = mem_calloc(1, sizeof(*p));
	if (!p)
		return false;
	users_process_open(p, "/proc", pid);
	int code = patience_run(read_maps, drop_process, p);
	if (code == 0) {
		u->process = *p;
		mem_free(p);
	} else if (code == -ETIMEDOUT) {
		u->stuck_pid = pid;
		u->stuck_ns = now_ns;
	} else {
		drop_process(p);
	}
	return code == 0;
}

/* False: it has ended, it is stuck, or there is no memory. */
static bool read_process(struct user_frames *u, int32_t pid, uint64_t now_ns)
{
	size_t len = 0;

	forget_process(u);
	u->read_ns = now_ns;
	if (sleepstack_is_worn(u->stacks))
		(void)sleepstack_renew(u->stacks);
	if (!take_process(u, pid, now_ns))
		return false;
	const char *maps = users_process_maps(&u->process, &len);
	for (size_t at = 0; maps && at < len; at += strlen(maps + at) + 1) {
		struct users_mapping m;
		if (users_mapping_take(maps + at, &m) && m.executable && !add_map(u, &m))
			return false;
	}
	return u->n_maps && sleepstack_process(u->stacks, pid, u->maps, u->n_maps) == 0;
}

/* A distance in words, if it is one. */
static bool to_words(int32_t bytes, signed char *ret)
{
	*ret = (signed char)(bytes / WORD);
	return bytes % WORD == 0 && *ret == bytes / WORD;
}

static struct frames_rule pack(const struct unwind_rule *r)
{
	static const unsigned char kinds[] = {[UNWIND_RULE_SP] = FRAMES_BY_SP,
					      [UNWIND_RULE_FP] = FRAMES_BY_FP,
					      [UNWIND_RULE_LAST] = FRAMES_LAST};
	struct frames_rule ret = {.kind = kinds[r->kind], .cfa = r->frame, .in_link = r->in_link};

	if (r->kind == UNWIND_RULE_LAST)
		return ret;
	if ((!r->in_link && !to_words(r->ret, &ret.ra)) ||
	    (!r->fp_unchanged && !to_words(r->fp, &ret.fp)))
		ret.kind = FRAMES_STOP;
	return ret;
}

static struct frames_rule rule_of(int code, const struct unwind_rule *r)
{
	/* Compilers that write no tables keep the frame pointer. */
	const struct frames_rule by_fp = {
		.kind = FRAMES_BY_FP, .cfa = 2 * WORD, .ra = -1, .fp = -2};
	const struct frames_rule stop = {.kind = FRAMES_STOP};

	switch (code) {
	case 0:
		return pack(r);
	case -ENOENT:
		return by_fp;
	default:
		return stop;
	}
}

static void answer(struct user_frames *u, const struct frames_ask *a, uint64_t now_ns)
{
	bool is_same = u->process.pid == a->pid, is_fresh = is_same && u->read_ns == now_ns;
	bool is_read = is_same && now_ns - u->read_ns <= STALE_NS;
	struct unwind_rule r;
	int code = is_read ? sleepstack_rule(u->stacks, a->pc, &r) : -ENXIO;

	/* The process may have executed another program since its mappings were read. */
	if (code == -ENXIO && !is_fresh) {
		if (!read_process(u, a->pid, now_ns)) {
			forget_process(u);
			/* It is asked for again. */
			(void)bpf_map_delete_elem(u->rules, &a->key);
			return;
		}
		code = sleepstack_rule(u->stacks, a->pc, &r);
	}
	const struct frames_rule rule = rule_of(code, &r);
	/* Without room the oldest rule gives way. */
	(void)bpf_map_update_elem(u->rules, &a->key, &rule, BPF_ANY);
}

/* Are there any? */
static bool answer_all(struct user_frames *u)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct frames_ask a;
	unsigned n = 0;

	for (; n < AT_ONCE && bpf_map_lookup_and_delete_elem(u->asks, NULL, &a) == 0; n++)
		answer(u, &a, now_ns);
	return n != 0;
}

static void *run(void *arg)
{
	struct user_frames *u = arg;

	bpf_thread_begin();
	while (bpf_thread_goes_on(&u->thread))
		bpf_thread_sleep(&u->thread, answer_all(u) ? SOON_MS : IDLE_MS);
	return NULL;
}

int user_frames_start(struct user_frames *u, struct error *err)
{
	return u->stacks ? bpf_thread_start(&u->thread, run, u,
					    "the thread of call chains of programs", err)
			 : 0;
}

void user_frames_stop(struct user_frames *u)
{
	if (u)
		bpf_thread_stop(&u->thread);
}

void user_frames_free(struct user_frames *u)
{
	if (!u)
		return;
	bpf_thread_deinit(&u->thread);
	forget_process(u);
	sleepstack_free(u->stacks);
	mem_free(u->maps);
	mem_free(u);
}
