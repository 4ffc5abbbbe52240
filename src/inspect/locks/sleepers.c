// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the program that counts the sleeping tasks among the measured ones (asked.c), and records
 * those that are blocked.
 */
#include "asked.h"
#include "bpf-run.h"
#include "internal.h"
#include "kontend/cgroup.h"
#include "kontend/mem.h"
#include "sleepers-shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const char sleepers_object[], sleepers_object_end[];

/* A task that has slept in a futex for longer is idle; with a timeout, as in a loop that polls. */
#define LONG_NS 10000000000ull
#define TIMED_NS 10000000ull

/* Numbers that older headers lack; they are the same on all architectures. */
enum { FUTEX_WAITV = 449, FUTEX_WAIT = 455 };

struct sleepers {
	struct bpf_object *object;
	struct bpf_link *find, *find_keepers;
	struct raw_sleepers_state *state;
	const struct raw_sleepers *rows;
	const struct raw_vfork *vforks;
	const struct raw_keeper *keepers;
	const struct raw_preempted *preempted;
	struct bpf_run_part blocked;
	struct asked asked;
	struct because *because; /* NULL: see no_objects */
	struct error no_objects;
	const struct raw_because *found;
	size_t n_found;
	struct because_names names;
	struct cgroup_names cgroups;
	struct error why; /* of the last pass; code 0: it was read */
};

static int map_arrays(struct sleepers *s, struct error *err)
{
	const int rw = PROT_READ | PROT_WRITE;

	s->state = bpf_run_map(s->object, ".bss", sizeof(*s->state), rw, err);
	s->rows =
		bpf_run_map(s->object, "sleepers", RAW_SLEEPERS * sizeof(*s->rows), PROT_READ, err);
	s->vforks =
		bpf_run_map(s->object, "vforks", RAW_VFORKS * sizeof(*s->vforks), PROT_READ, err);
	s->keepers = bpf_run_map(s->object, "keepers", RAW_KEEPERS * sizeof(*s->keepers), PROT_READ,
				 err);
	s->preempted = bpf_run_map(s->object, "preempted", RAW_PREEMPTED * sizeof(*s->preempted),
				   PROT_READ, err);
	if (!s->state || !s->rows || !s->vforks || !s->keepers || !s->preempted ||
	    asked_open(&s->asked, s->object, err) < 0)
		return err->code;
	return bpf_run_part_open(&s->blocked, s->object, "blocked", sizeof(struct raw_blocked),
				 RAW_BLOCKED, err);
}

static int load(struct sleepers *s, struct kerntypes *types, struct error *err)
{
	struct raw_sleepers_config config = {
		.futex = SYS_futex,
		.futex_wait = FUTEX_WAIT,
		.futex_waitv = FUTEX_WAITV,
		.flock = SYS_flock,
		.fcntl = SYS_fcntl,
		.self = (unsigned int)getpid(),
	};
	struct bpf_run_file f = {
		.bytes = sleepers_object,
		.len = (size_t)(sleepers_object_end - sleepers_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};
	int code = ns_own(&config.ns, types, err);

	for (long i = 0; i < 64 * RAW_CALL_WORDS; i++)
		config.idle_calls[i / 64] |= (uint64_t)calls_is_idle(i) << i % 64;
	code = code < 0 ? code : bpf_run_load(&s->object, &f, err);
	code = code < 0 ? code : map_arrays(s, err);
	if (code < 0)
		return code;
	s->state->long_ns = LONG_NS;
	s->state->timed_ns = TIMED_NS;
	s->names.mountinfo = "/proc/self/mountinfo";
	s->names.sys = "/sys";
	s->find = bpf_run_iterator(s->object, "find_sleepers", err);
	s->find_keepers = s->find ? bpf_run_iterator(s->object, "find_keepers", err) : NULL;
	/* Without it causes have no objects. */
	if (s->find_keepers)
		(void)because_new(&s->because, bpf_object__find_map_by_name(s->object, "blocked"),
				  types, &s->no_objects);
	return s->find_keepers ? 0 : err->code;
}

int sleepers_new(struct sleepers **ret, struct kerntypes *types, struct error *err)
{
	struct sleepers *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return error_enomem(err, "counting sleeping tasks");
	int code = load(s, types, err);
	if (code < 0) {
		sleepers_free(s);
		return code;
	}
	*ret = s;
	return 0;
}

size_t sleepers_read(struct sleepers *s, const struct target *target, int child)
{
	int code = asked_report(&s->asked, target, child, &s->why);

	s->state->n = s->state->dropped = s->state->n_blocked = s->state->blocked_dropped = 0;
	s->state->watched = s->state->unwatched = s->state->n_vforks = 0;
	s->state->searched = s->state->unsearched = s->state->n_vmas = s->state->n_keepers = 0;
	s->state->n_preempted = 0;
	if (code < 0)
		return 0;
	s->why = (struct error){0};
	code = bpf_run_iterate(s->find);
	if (code == 0 && *(volatile uint32_t *)&s->state->n_vmas)
		code = bpf_run_iterate(s->find_keepers);
	if (code < 0) {
		error_errno(&s->why, code, "Cannot run the BPF program that counts sleepers");
		return 0;
	}
	size_t n = *(volatile uint32_t *)&s->state->n_blocked;
	s->found = NULL;
	if (s->because)
		s->found = because_find(s->because, n, &s->n_found, &s->no_objects);
	return n;
}

int sleepers_put(struct sleepers *s, struct locks_readers *functions, const int64_t *ahead_ns,
		 struct locksnap *ret)
{
	const struct raw_sleepers_state *state = s->state;
	uint32_t n = state->n, n_blocked = state->n_blocked, n_keepers = state->n_keepers;
	uint32_t n_preempted = state->n_preempted;

	if (s->why.code < 0) {
		ret->head.no_sleepers = locksnap_add_text(ret, s->why.text);
		return 0;
	}
	struct raw_blocked_pass pass = {
		.blocked = bpf_run_part_read(&s->blocked, n_blocked),
		.n = n_blocked < RAW_BLOCKED ? n_blocked : RAW_BLOCKED,
		.vforks = s->vforks,
		.n_vforks = state->n_vforks < RAW_VFORKS ? state->n_vforks : RAW_VFORKS,
		.proc = "/proc",
		.ahead_ns = ahead_ns,
		.because = s->found,
		.n_because = s->found ? s->n_found : 0,
		.names = &s->names,
		.cgroups = &s->cgroups,
	};
	s->names.mounts_known = false;
	if (!pass.blocked)
		return -errno;
	ret->head.counts_sleepers = ret->head.knows_blocked = 1;
	if (n_blocked && !s->found)
		ret->head.no_objects = locksnap_add_text(ret, s->no_objects.text);
	ret->head.sleepers_dropped = state->dropped;
	ret->head.blocked_dropped = state->blocked_dropped;
	ret->head.blocked_unwatched = state->unwatched;
	const struct raw_silent_pass silent = {
		&pass, s->keepers, n_keepers < RAW_KEEPERS ? n_keepers : RAW_KEEPERS, functions};
	int code = sleepers_fill(s->rows, n < RAW_SLEEPERS ? n : RAW_SLEEPERS, ret);
	code = code < 0 ? code : sleepers_fill_blocked(&pass, ret);
	n_preempted = n_preempted < RAW_PREEMPTED ? n_preempted : RAW_PREEMPTED;
	code = code < 0 ? code : sleepers_fill_preempted(s->preempted, n_preempted, ret);
	return code < 0 ? code : silent_fill(&silent, ret);
}

void sleepers_free(struct sleepers *s)
{
	if (!s)
		return;
	bpf_run_unmap(s->state, sizeof(*s->state));
	bpf_run_unmap(s->rows, RAW_SLEEPERS * sizeof(*s->rows));
	bpf_run_part_close(&s->blocked);
	bpf_run_unmap(s->vforks, RAW_VFORKS * sizeof(*s->vforks));
	bpf_run_unmap(s->keepers, RAW_KEEPERS * sizeof(*s->keepers));
	bpf_run_unmap(s->preempted, RAW_PREEMPTED * sizeof(*s->preempted));
	because_free(s->because);
	mounts_deinit(&s->names.mounts);
	cgroup_names_deinit(&s->cgroups);
	asked_close(&s->asked);
	bpf_link__destroy(s->find);
	bpf_link__destroy(s->find_keepers);
	bpf_object__close(s->object);
	mem_free(s);
}
