// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures holds: places the programs, governs what they cost, and reads their sums.
 *
 * Which of a mutex and an rwsem an address is of is known when one of the functions has been called
 * with it; then the programs at the others are removed. The kernel measures what programs take only
 * while it is asked to, which costs all programs of the machine: so a thread asks for it once a
 * second for a short time. That takes CAP_SYS_ADMIN, which this thread keeps.
 */
#include "holds.h"
#include "../btf/types.h"
#include "../waits/internal.h"
#include "bpf-run.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/privs.h"
#include "kontend/sysinfo.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char holds_object[], holds_object_end[];

enum { LOOK_MS = 50, REST_MS = 950, SOON_MS = 100 };
enum { ALL_KINDS = (1 << RAW_HOLDS_KINDS) - 1, MUTEX_KIND = 1 << RAW_HOLDS_MUTEX };

static void apply(struct snapshot_holds *h, unsigned step)
{
	h->step = step;
	h->state->every = holds_price_every(step);
	h->state->chains = step == HOLDS_STEP_ALL && !h->no_chains;
	if (step != HOLDS_STEP_OFF)
		return;
	h->state->lock = 0;
	h->state->kinds = 0;
	h->off_ns = clock_now_ns();
	(void)holds_programs_attach(&h->programs, 0);
}

/* Returns whether it is to be repeated soon. */
static bool look(struct snapshot_holds *h)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);

	if (stats < 0) {
		pthread_mutex_lock(&h->lock);
		h->no_price = errno;
		pthread_mutex_unlock(&h->lock);
		return false;
	}
	struct holds_runs before = holds_programs_runs(&h->programs);
	uint64_t from_ns = clock_now_ns();
	bpf_thread_sleep(&h->thread, LOOK_MS);
	struct holds_runs now = holds_programs_runs(&h->programs);
	uint64_t span_ns = clock_now_ns() - from_ns;
	close(stats);
	pthread_mutex_lock(&h->lock);
	h->price_ns = span_ns;
	h->runs = now.runs - before.runs;
	h->run_ns = now.run_ns - before.run_ns;
	unsigned step = holds_price_look(&h->price, span_ns, h->run_ns);
	if (step != h->step)
		apply(h, step);
	bool soon = h->price.dear;
	pthread_mutex_unlock(&h->lock);
	return soon;
}

static void *govern(void *arg)
{
	struct snapshot_holds *h = arg;
	bool soon = true;

	bpf_thread_begin();
	(void)privs_drop_but(privs_now() & 1ull << CAP_SYS_ADMIN, NULL);
	while (bpf_thread_goes_on(&h->thread) && !h->no_price && h->step != HOLDS_STEP_OFF) {
		bpf_thread_sleep(&h->thread, soon ? SOON_MS : REST_MS);
		if (bpf_thread_goes_on(&h->thread))
			soon = look(h);
	}
	return NULL;
}

static int explain_refused(int code, struct error *err)
{
	return error_set(err, code,
			 "This kernel refuses BPF programs at its functions (fentry: %s), so holds "
			 "are measured only while other tasks wait for the lock (--view held)",
			 error_words(code));
}

/* EPERM is the answer also to those who may load all other programs. */
static int explain_load(int code, const struct error *why, struct error *err)
{
	if (code == -EPERM && sysinfo_capable(CAP_BPF) && sysinfo_capable(CAP_PERFMON))
		return explain_refused(code, err);
	return error_set(err, code, "%s", why->text);
}

static int load(struct snapshot_holds *h, struct kerntypes *types, struct error *err)
{
	const struct bpf_run_file f = {
		.bytes = holds_object,
		.len = (size_t)(holds_object_end - holds_object),
		.types = types,
		.prepare = holds_leave_out,
		.prepare_arg = &types,
	};
	struct error why = {0};
	int code = bpf_run_load(&h->object, &f, &why);

	if (code < 0)
		return explain_load(code, &why, err);
	holds_programs_init(&h->programs, h->object);
	h->symbols.n_code = holds_programs_code(&h->programs, h->symbols.code);
	h->has_words = kerntypes_has(types, "rwbase_rt", NULL) == 0;
	h->word = bpf_run_program(h->object, "read_word", err);
	h->state = bpf_run_map(h->object, ".bss", sizeof(*h->state), PROT_READ | PROT_WRITE, err);
	h->chains = bpf_run_map(h->object, "holds_chains", HOLDS_CHAIN_BYTES, PROT_READ, err);
	h->callers = bpf_run_map(h->object, "holds_callers", HOLDS_CALLER_BYTES, PROT_READ, err);
	return h->word >= 0 && h->state && h->chains && h->callers ? 0 : err->code;
}

static const char *const map_names[HOLDS_MAPS] = {
	[HOLDS_SUMS] = "holds_sums",	       [HOLDS_LOCK_ROWS] = "holds_locks",
	[HOLDS_READER_ROWS] = "holds_readers", [HOLDS_TASK_ROWS] = "holds_tasks",
	[HOLDS_STACK_ROWS] = "holds_stacks",
};

static int find_maps(struct snapshot_holds *h, struct error *err)
{
	const struct raw_holds_task others = {0};
	const int32_t none = 0;

	for (int i = 0; i < HOLDS_MAPS; i++) {
		h->maps[i] = bpf_object__find_map_fd_by_name(h->object, map_names[i]);
		if (h->maps[i] < 0)
			return error_set(err, -ENOENT, "The BPF object lacks the map %s",
					 map_names[i]);
	}
	h->n_cpus = libbpf_num_possible_cpus();
	h->sums = h->n_cpus > 0 ? mem_calloc((size_t)h->n_cpus, sizeof(*h->sums)) : NULL;
	if (!h->sums)
		return error_enomem(err, "sums of holds");
	/* The row of those that find none. */
	if (bpf_map_update_elem(h->maps[HOLDS_TASK_ROWS], &none, &others, BPF_ANY) < 0)
		return error_errno(err, -errno, "Cannot fill the BPF map %s",
				   map_names[HOLDS_TASK_ROWS]);
	return 0;
}

static int find_lock(struct snapshot_holds *h, struct error *err)
{
	struct holdsnap_asked a;
	int code = holdsnap_parse(h->asked, &a, err);

	if (code < 0)
		return code;
	code = holds_symbols_read("/proc/kallsyms", h->asked, &h->symbols);
	h->kinds = a.kinds;
	h->addr = a.lock || a.kinds ? a.lock : h->symbols.lock;
	if (h->kinds || h->addr)
		return 0;
	return error_set(err, -ENOENT,
			 "--holds '%s': /proc/kallsyms has no variable of that name%s; give the "
			 "address of the lock, which the locks view has, or mutex, rwsem:R or "
			 "rwsem:W",
			 h->asked, code < 0 ? " (it cannot be read)" : "");
}

static int place(struct snapshot_holds *h, struct error *err)
{
	h->placed = h->addr ? ALL_KINDS : h->kinds;
	int code = holds_programs_attach(&h->programs, h->placed);

	if (code < 0) {
		(void)holds_programs_attach(&h->programs, 0);
		return explain_refused(code, err);
	}
	h->from_ns = clock_now_ns();
	apply(h, HOLDS_STEP_ALL);
	h->state->callers = h->symbols.by_frames;
	h->state->kinds = h->kinds;
	__atomic_store_n(&h->state->lock, h->addr, __ATOMIC_RELEASE);
	return 0;
}

/* Its numbers of tasks are those of the programs. */
static bool is_initial_namespace(void)
{
	static const ino_t initial = 0xeffffffc;
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == initial;
}

int snapshot_holds_new(struct snapshot_holds **ret, const struct snapshot_holds_options *o,
		       struct error *err)
{
	struct snapshot_holds *h = mem_calloc(1, sizeof(*h));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct kerntypes *own;

	*ret = NULL;
	if (!h)
		return error_enomem(err, "holds of locks");
	pthread_mutex_init(&h->lock, NULL);
	h->thread.wake_fd = -1;
	holds_programs_init(&h->programs, NULL);
	h->asked = o->lock;
	h->no_chains = o->no_chains;
	h->sees_tasks = is_initial_namespace();
	h->price = (struct holds_price){.target_ppm = o->target_ppm,
					.cpus = cpus > 0 ? (uint32_t)cpus : 1};
	int code = find_lock(h, err);
	struct kerntypes *types = code < 0 ? NULL : kerntypes_or(o->types, &own, err);
	if (code == 0)
		code = types ? load(h, types, err) : err->code;
	if (types)
		kerntypes_free(own);
	code = code < 0 ? code : find_maps(h, err);
	code = code < 0 ? code : place(h, err);
	code = code < 0 ? code : bpf_thread_init(&h->thread, err);
	if (code == 0)
		code = bpf_thread_start(&h->thread, govern, h, "the thread that governs holds",
					err);
	if (code < 0) {
		snapshot_holds_free(h);
		return code;
	}
	*ret = h;
	return 0;
}

void snapshot_holds_free(struct snapshot_holds *h)
{
	if (!h)
		return;
	bpf_thread_deinit(&h->thread);
	(void)holds_programs_attach(&h->programs, 0);
	bpf_run_unmap(h->state, sizeof(*h->state));
	bpf_run_unmap(h->chains, HOLDS_CHAIN_BYTES);
	bpf_run_unmap(h->callers, HOLDS_CALLER_BYTES);
	if (h->object)
		bpf_object__close(h->object);
	pthread_mutex_destroy(&h->lock);
	mem_free(h->sums);
	mem_free(h);
}

/* Of an address whose functions are known by now the others are not needed. */
void holds_narrow(struct snapshot_holds *h, const struct holdsnap *s)
{
	bool seen[RAW_HOLDS_KINDS] = {0};

	if (h->placed != ALL_KINDS || !h->addr || h->step == HOLDS_STEP_OFF)
		return;
	for (size_t i = 0; i < s->n_sums; i++)
		seen[s->sums[i].kind] = s->sums[i].acquired || s->sums[i].unbegun;
	if (seen[RAW_HOLDS_MUTEX])
		h->placed = MUTEX_KIND;
	else if (seen[RAW_HOLDS_WRITE] || seen[RAW_HOLDS_READ])
		h->placed = ALL_KINDS & ~MUTEX_KIND;
	if (h->placed != ALL_KINDS)
		(void)holds_programs_attach(&h->programs, h->placed);
}
