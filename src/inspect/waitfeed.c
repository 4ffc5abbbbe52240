// SPDX-License-Identifier: GPL-2.0-only
/* Loads and attaches the programs of waits: raw tracepoints, gone with their descriptors. */
#include "kontend/waitfeed.h"
#include "bpf-kit.h"
#include "kontend/cgroup.h"
#include "kontend/mem.h"
#include "kontend/waitrec.h"
#include "waits-shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char waits_object[], waits_object_end[];

enum { LINKS = 4 };

struct waitfeed {
	struct feed feed;
	struct bpf_object *object;
	int rings; /* descriptor of the map of events */
	enum waits_whose whose;
	int links[LINKS]; /* attached programs */
	size_t n_links;
};

static int set(struct feed *feed, uint32_t cpu, int fd)
{
	struct waitfeed *f = (struct waitfeed *)feed;

	return bpf_map_update_elem(f->rings, &cpu, &fd, BPF_ANY) < 0 ? -errno : 0;
}

/* BPF sees threads by their number outside of all containers, which in one of them is not ours. */
static bool has_true_tids(void)
{
	const ino_t outermost = 0xeffffffc; /* include/linux/proc_ns.h: PROC_PID_INIT_INO */
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == outermost;
}

static bool has_told_cpus(const struct target *t)
{
	for (size_t i = 0; i < t->n_cpus; i++)
		if (t->cpus[i] >= WAITS_CPUS)
			return false;
	return true;
}

/* False: the program would have to tell of all. */
static bool whose(const struct target *t, enum waits_whose *ret)
{
	switch (t->kind) {
	case TARGET_SYSTEM:
		*ret = WAITS_ALL;
		return true;
	case TARGET_CGROUP:
		*ret = WAITS_CGROUP;
		return true;
	case TARGET_TIDS:
		*ret = WAITS_TIDS;
		break;
	case TARGET_PIDS:
	case TARGET_COMMAND:
		*ret = WAITS_PIDS;
		break;
	}
	return t->n_ids < WAITS_IDS && has_true_tids();
}

bool waitfeed_covers(const struct target *t, uint32_t max_stack)
{
	enum waits_whose w;

	return max_stack <= WAITREC_FRAMES && has_told_cpus(t) && whose(t, &w);
}

static struct waits_config config_of(const struct waitfeed_options *o)
{
	const struct target *t = o->target;
	struct waits_config c = {
		.waits = o->waits,
		.owners = o->owners,
		.frames = o->max_stack,
	};
	enum waits_whose w;

	if (!t)
		return c;
	if (whose(t, &w))
		c.whose = w;
	c.by_cpu = t->n_cpus > 0 && has_told_cpus(t);
	for (size_t i = 0; c.by_cpu && i < t->n_cpus; i++)
		c.cpus[t->cpus[i] / 64] |= 1ull << t->cpus[i] % 64;
	return c;
}

static int map_of(const struct waitfeed *f, const char *name, struct error *err)
{
	int map = bpf_object__find_map_fd_by_name(f->object, name);

	return map < 0 ? error_set(err, -ENOENT, "The BPF object has no map %s", name) : map;
}

static int tell_id(const struct waitfeed *f, uint32_t id, struct error *err)
{
	int map = map_of(f, "ids", err);
	const uint8_t is_one = 1;

	if (map < 0)
		return map;
	return bpf_map_update_elem(map, &id, &is_one, BPF_ANY) < 0
		       ? error_errno(err, -errno, "Cannot tell BPF of task %u", id)
		       : 0;
}

static int tell_cgroup(const struct waitfeed *f, const char *path, struct error *err)
{
	int map = map_of(f, "cgroups", err), fd = map < 0 ? map : cgroup_open(path, err);
	const uint32_t first = 0;
	int code = 0;

	if (fd < 0)
		return fd;
	if (bpf_map_update_elem(map, &first, &fd, BPF_ANY) < 0)
		code = error_errno(err, -errno, "Cannot tell BPF of cgroup %s", path);
	close(fd);
	return code;
}

static int tell_target(const struct waitfeed *f, const struct target *t, struct error *err)
{
	int code = 0;

	if (f->whose == WAITS_CGROUP)
		return tell_cgroup(f, t->cgroup, err);
	for (size_t i = 0; f->whose != WAITS_ALL && code == 0 && i < t->n_ids; i++)
		code = tell_id(f, (uint32_t)t->ids[i], err);
	return code;
}

static int load(struct waitfeed *f, const struct waitfeed_options *o, struct kerntypes *types,
		struct error *err)
{
	const struct waits_config config = config_of(o);
	struct kit_file file = {.bytes = waits_object,
				.len = (size_t)(waits_object_end - waits_object),
				.config = &config,
				.config_size = sizeof(config),
				.types = types};
	int code = kit_load(&f->object, &file, err);

	f->whose = (enum waits_whose)config.whose;
	if (code == 0)
		code = tell_target(f, o->target, err);
	if (code < 0)
		return code;
	f->rings = bpf_object__find_map_fd_by_name(f->object, "rings");
	return f->rings < 0 ? error_set(err, -ENOENT, "The BPF object has no map rings") : 0;
}

int waitfeed_new(struct waitfeed **ret, const struct waitfeed_options *o, struct kerntypes *types,
		 struct error *err)
{
	struct waitfeed *f = mem_calloc(1, sizeof(*f));

	if (!f)
		return error_set(err, -ENOMEM, "No memory for the program of waits");
	f->feed.set = set;
	f->feed.waits = o->waits;
	int code = load(f, o, types, err);
	if (code < 0) {
		waitfeed_free(f);
		return code;
	}
	*ret = f;
	return 0;
}

struct feed *waitfeed_feed(struct waitfeed *f)
{
	return f ? &f->feed : NULL;
}

static int attach(struct waitfeed *f, const char *tracepoint, const char *program,
		  struct error *err)
{
	int prog = kit_program(f->object, program, err);

	if (prog < 0)
		return prog;
	int link = bpf_raw_tracepoint_open(tracepoint, prog);
	if (link < 0)
		return error_errno(err, -errno, "Cannot attach to the tracepoint %s", tracepoint);
	f->links[f->n_links++] = link;
	return 0;
}

int waitfeed_start(struct waitfeed *f, pid_t command, struct error *err)
{
	int code = command ? tell_id(f, (uint32_t)command, err) : 0;

	/* Whoever is started meanwhile is not to be missed, nor who has his number later. */
	if (code == 0 && f->whose == WAITS_PIDS)
		code = attach(f, "sched_process_free", "see_gone", err);
	if (code == 0 && f->whose == WAITS_PIDS)
		code = attach(f, "sched_process_fork", "see_fork", err);
	if (code == 0)
		code = attach(f, "contention_begin", "see_begin", err);
	return code == 0 && f->feed.waits ? attach(f, "contention_end", "see_end", err) : code;
}

void waitfeed_free(struct waitfeed *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_links; i++)
		close(f->links[i]);
	bpf_object__close(f->object);
	mem_free(f);
}
