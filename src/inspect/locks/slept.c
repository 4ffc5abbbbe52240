// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches the programs that sum up sleeps in state D (slept.bpf.c) at the first snapshot, and
 * copies their sums into each. Tasks that exist get their storage before the programs at the
 * switches are there; new ones from then on.
 */
#include "slept.h"
#include "asked.h"
#include "bpf-run.h"
#include "btf/types.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/snapshot-slept.h"
#include "kontend/text.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char slept_object[], slept_object_end[];

enum { LINKS = 3, BATCH = 256, COMM = 16 };

/* In the order in which they are attached. */
static const char *const names[LINKS] = {"new_task", "sleep_ends", "sleep_begins"};

struct snapshot_slept {
	struct bpf_object *object;
	struct bpf_link *old_tasks;
	const struct raw_slept_state *state;
	struct asked asked;
	int slept, more, chains; /* descriptors of maps */
	int links[LINKS];	 /* -1: not attached */
	const struct target *target;
	atomic_int child;
	uint64_t from_ns; /* 0: not attached */
	struct map64 rows;
	struct raw_slept_key keys[BATCH];
	struct raw_slept_sum sums[BATCH];
};

static int find_maps(struct snapshot_slept *s, struct error *err)
{
	s->slept = bpf_object__find_map_fd_by_name(s->object, "slept");
	s->more = bpf_object__find_map_fd_by_name(s->object, "slept_more");
	s->chains = bpf_object__find_map_fd_by_name(s->object, "chains");
	if (s->slept < 0 || s->more < 0 || s->chains < 0)
		return error_set(err, -ENOENT, "The BPF object lacks a map of sleeps");
	s->state = bpf_run_map(s->object, ".bss", sizeof(*s->state), PROT_READ, err);
	return s->state ? asked_open(&s->asked, s->object, err) : err->code;
}

static int load(struct snapshot_slept *s, struct kerntypes *types, struct error *err)
{
	struct raw_slept_config config = {0};
	struct bpf_run_file f = {
		.bytes = slept_object,
		.len = (size_t)(slept_object_end - slept_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};
	int code = ns_own(&config.ns, types, err);

	code = code < 0 ? code : bpf_run_load(&s->object, &f, err);
	code = code < 0 ? code : find_maps(s, err);
	if (code < 0)
		return code;
	s->old_tasks = bpf_run_iterator(s->object, "old_tasks", err);
	return s->old_tasks ? 0 : err->code;
}

int snapshot_slept_new(struct snapshot_slept **ret, const struct target *target,
		       struct kerntypes *shared, struct error *err)
{
	struct snapshot_slept *s = mem_calloc(1, sizeof(*s));
	struct kerntypes *own;

	*ret = NULL;
	if (!s)
		return error_enomem(err, "sums of sleeps");
	for (int i = 0; i < LINKS; i++)
		s->links[i] = -1;
	s->target = target;
	struct kerntypes *types = kerntypes_or(shared, &own, err);
	int code = types ? load(s, types, err) : err->code;
	kerntypes_free(own);
	if (code < 0) {
		snapshot_slept_free(s);
		return code;
	}
	*ret = s;
	return 0;
}

void snapshot_slept_child(struct snapshot_slept *s, int pid)
{
	s->child = pid;
}

static void detach(struct snapshot_slept *s)
{
	for (int i = 0; i < LINKS; i++) {
		if (s->links[i] >= 0)
			close(s->links[i]);
		s->links[i] = -1;
	}
}

static int attach(struct snapshot_slept *s, struct error *err)
{
	int code = asked_report(&s->asked, s->target, s->child, err);

	for (int i = 0; code == 0 && i < LINKS; i++) {
		int prog = bpf_run_program(s->object, names[i], err);
		if (prog < 0)
			return prog;
		s->links[i] = bpf_raw_tracepoint_open(NULL, prog);
		if (s->links[i] < 0)
			return error_errno(err, -errno,
					   "Cannot attach the BPF program %s, which sums up sleeps",
					   names[i]);
		code = i ? 0 : bpf_run_iterate(s->old_tasks);
		if (code < 0)
			error_errno(err, code, "Cannot give tasks the storage for their sleeps");
	}
	return code;
}

static int find_chain(void *arg, uint64_t hash, struct raw_slept_chain *ret)
{
	const struct snapshot_slept *s = arg;

	return bpf_map_lookup_elem(s->chains, &hash, ret) < 0 ? -errno : 0;
}

static uint32_t add_comm(struct sleptsnap *ret, const char *comm)
{
	char text[COMM + 1] = {0}, clean[COMM + 1];

	memcpy(text, comm, COMM);
	return sleptsnap_add_text(ret, text_clean(clean, sizeof(clean), text));
}

static int add_frames(struct slept_fill *f, uint64_t hash, struct sleptsnap_row *row)
{
	const uint32_t *known = hash ? map64_get(&f->rows, hash) : NULL;
	struct raw_slept_chain chain;
	int code = 0;

	if (known) {
		row->frame = f->ret->rows[*known].frame;
		row->n_frames = f->ret->rows[*known].n_frames;
		return 0;
	}
	if (!hash || f->chain(f->arg, hash, &chain) < 0)
		return 0;
	row->frame = (uint32_t)f->ret->n_frames;
	for (uint32_t i = 0; code == 0 && i < chain.n && i < RAW_SLEPT_FRAMES; i++)
		code = sleptsnap_add_frame(f->ret, chain.frames[i]);
	row->n_frames = (uint32_t)f->ret->n_frames - row->frame;
	return code < 0 ? code : map64_put(&f->rows, hash, (uint32_t)f->ret->n_rows);
}

int slept_fill(struct slept_fill *f, const struct raw_slept_key *key,
	       const struct raw_slept_sum *sum)
{
	struct sleptsnap_row row = {
		.pid = key->pid,
		.comm = add_comm(f->ret, sum->comm),
		.kind = key->kind == RAW_SLEPT_IO ? LOCKSNAP_IO : LOCKSNAP_DISK,
		.waker = sum->waker,
		.waker_comm = add_comm(f->ret, sum->waker_comm),
		.sleeps = sum->sleeps,
		.total_ns = sum->total_ns,
		.max_ns = sum->max_ns,
	};
	/* It is being made on another CPU. */
	int code = sum->sleeps ? add_frames(f, key->chain, &row) : 0;

	return code < 0 || !sum->sleeps ? code : sleptsnap_add_row(f->ret, &row);
}

static int read_sums(struct snapshot_slept *s, int map, struct slept_fill *f)
{
	uint32_t at, *before = NULL;
	int code = 0, last = 0;

	while (code == 0 && !last) {
		uint32_t n = BATCH;
		last = bpf_map_lookup_batch(map, before, &at, s->keys, s->sums, &n, NULL) < 0
			       ? errno
			       : 0;
		if (last && last != ENOENT) /* the end */
			return -last;
		for (uint32_t i = 0; code == 0 && i < n; i++)
			code = slept_fill(f, &s->keys[i], &s->sums[i]);
		before = &at;
	}
	return code;
}

int snapshot_slept_take(struct snapshot_slept *s, struct sleptsnap *ret)
{
	struct slept_fill f = {.ret = ret, .rows = s->rows, .chain = find_chain, .arg = s};
	struct error err = {0};
	int code = 0;

	sleptsnap_clear(ret);
	if (!s->from_ns && attach(s, &err) < 0) {
		detach(s);
		ret->head.time_ns = clock_now_ns();
		ret->head.reason = sleptsnap_add_text(ret, err.text);
		return 0;
	}
	if (!s->from_ns)
		s->from_ns = clock_now_ns();
	map64_clear(&f.rows);
	code = read_sums(s, s->slept, &f);
	code = code < 0 ? code : read_sums(s, s->more, &f);
	s->rows = f.rows;
	ret->head.time_ns = clock_now_ns();
	ret->head.from_ns = s->from_ns;
	ret->head.dropped = *(const volatile unsigned long long *)&s->state->dropped;
	return code;
}

void snapshot_slept_free(struct snapshot_slept *s)
{
	if (!s)
		return;
	detach(s);
	map64_deinit(&s->rows);
	asked_close(&s->asked);
	bpf_run_unmap(s->state, sizeof(*s->state));
	bpf_link__destroy(s->old_tasks);
	bpf_object__close(s->object);
	mem_free(s);
}
