// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads and attaches the programs that report what chosen tasks do (why.bpf.c), and has what lasts
 * reported before its end by a thread. The programs are an object of their own: where nothing was
 * asked, the kernel has none of them.
 */
#include "bpf-run.h"
#include "internal.h"
#include "kontend/mem.h"
#include "locks/calls-on.h"
#include "shared.h"
#include "why-shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

extern const char why_object[], why_object_end[];

enum { PROGRAMS = 4, LOOK_MS = 20 };

static const uint64_t WAKER_NS = 5000000000, LEAST_NS = 20000, OPEN_NS = 10000000;

/* In the order in which they are attached: where a task falls asleep its wakeup is seen. */
static const char *const programs[PROGRAMS] = {"why_gone", "why_new", "why_waking", "why_switch"};

struct why {
	struct bpf_object *object;
	struct bpf_link *walk;
	int ids, look; /* descriptors */
	int links[PROGRAMS], n_links;
	struct bpf_thread thread;
};

/* These maps are those of @arg, the object of waits.bpf.c. */
static int share(struct bpf_object *o, const void *arg)
{
	static const char *const names[] = {"rings", "frames_rooms", "frames_rules", "frames_asks"};
	int code = 0;

	for (size_t i = 0; code == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(o, names[i]);
		int fd = bpf_object__find_map_fd_by_name(arg, names[i]);
		code = m && fd >= 0 ? bpf_map__reuse_fd(m, fd) : -ENOENT;
	}
	return code;
}

static int load(struct why *w, struct bpf_object *waits, const struct why_options *o,
		struct kerntypes *types, struct error *err)
{
	struct raw_why_config config = {.threads = o->scope == WAITS_TIDS,
					.self = getpid(),
					.user_frames = o->user_frames,
					.frames_ns = o->frames_ns,
					.waker_ns = WAKER_NS,
					.least_ns = LEAST_NS,
					.open_ns = OPEN_NS};
	const struct bpf_run_file file = {.bytes = why_object,
					  .len = (size_t)(why_object_end - why_object),
					  .config = &config,
					  .config_size = sizeof(config),
					  .types = types,
					  .prepare = share,
					  .prepare_arg = waits};
	int code = ns_own(&config.ns, types, err);

	calls_on_codes(config.on_calls);
	code = code < 0 ? code : bpf_run_load(&w->object, &file, err);
	if (code < 0)
		return code;
	w->walk = bpf_run_iterator(w->object, "why_walk", err);
	w->look = w->walk ? bpf_run_program(w->object, "why_look", err) : err->code;
	w->ids = bpf_object__find_map_fd_by_name(w->object, "ids");
	if (w->look < 0)
		return w->look;
	return w->ids < 0 ? error_set(err, -ENOENT, "The BPF object has no map ids") : 0;
}

int why_new(struct why **ret, struct bpf_object *waits, const struct why_options *o,
	    struct kerntypes *types, struct error *err)
{
	if (o->scope != WAITS_TIDS && o->scope != WAITS_PIDS)
		return error_set(err, -EINVAL,
				 "only chosen tasks are followed: give --pid, --tid or a command");
	struct why *w = mem_calloc(1, sizeof(*w));
	if (!w)
		return error_enomem(err, "following chosen tasks");
	int code = bpf_thread_init(&w->thread, err);
	code = code < 0 ? code : load(w, waits, o, types, err);
	if (code < 0) {
		why_free(w);
		return code;
	}
	*ret = w;
	return 0;
}

int why_choose(struct why *w, uint32_t id)
{
	const uint8_t is_one = 1;

	return bpf_map_update_elem(w->ids, &id, &is_one, BPF_ANY) < 0 ? -errno : 0;
}

int why_attach(struct why *w, struct error *err)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		int program = bpf_run_program(w->object, programs[i], err);
		int link = program < 0 ? program : bpf_raw_tracepoint_open(NULL, program);

		if (program < 0)
			return program;
		if (link < 0)
			return error_errno(err, -errno, "Cannot attach the BPF program %s",
					   programs[i]);
		w->links[w->n_links++] = link;
	}
	int code = bpf_run_iterate(w->walk);
	return code < 0 ? error_errno(err, code, "Cannot walk all tasks by BPF") : 0;
}

/* If it fails, what lasts is known at its end only. @all: also what has begun just now. */
static void look(struct why *w, uint64_t all)
{
	struct bpf_test_run_opts how = {
		.sz = sizeof(how), .ctx_in = &all, .ctx_size_in = sizeof(all)};

	(void)bpf_prog_test_run_opts(w->look, &how);
}

static void *run(void *arg)
{
	struct why *w = arg;

	bpf_thread_begin();
	while (bpf_thread_goes_on(&w->thread)) {
		look(w, 0);
		bpf_thread_sleep(&w->thread, LOOK_MS);
	}
	look(w, 1);
	return NULL;
}

int why_start(struct why *w, struct error *err)
{
	return bpf_thread_start(&w->thread, run, w, "the thread that follows chosen tasks", err);
}

void why_stop(struct why *w)
{
	if (w)
		bpf_thread_stop(&w->thread);
}

void why_free(struct why *w)
{
	if (!w)
		return;
	bpf_thread_deinit(&w->thread);
	while (w->n_links)
		close(w->links[--w->n_links]);
	bpf_link__destroy(w->walk);
	bpf_object__close(w->object);
	mem_free(w);
}
