// SPDX-License-Identifier: GPL-2.0-only
/* Loads and attaches the program that writes owners: a raw tracepoint, gone with its descriptor. */
#include "kontend/ownerfeed.h"
#include "bpf-kit.h"
#include "kontend/mem.h"
#include "owner-shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char owner_object[], owner_object_end[];

struct ownerfeed {
	struct feed feed;
	struct bpf_object *object;
	int rings; /* descriptor of the map of events */
	int link;  /* -1: not attached */
};

static int set(struct feed *feed, uint32_t cpu, int fd)
{
	struct ownerfeed *f = (struct ownerfeed *)feed;

	return bpf_map_update_elem(f->rings, &cpu, &fd, BPF_ANY) < 0 ? -errno : 0;
}

/* BPF sees threads by their number outside of all containers, which in one of them is not ours. */
static bool has_true_tids(void)
{
	const ino_t outermost = 0xeffffffc; /* include/linux/proc_ns.h: PROC_PID_INIT_INO */
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == outermost;
}

static struct owner_config config_of(const struct target *t)
{
	struct owner_config c = {0};

	if (!t)
		return c;
	c.by_tid = t->kind == TARGET_TIDS && t->n_ids <= OWNER_TIDS && has_true_tids();
	c.by_cpu = t->n_cpus > 0;
	for (size_t i = 0; i < t->n_cpus; i++) {
		if (t->cpus[i] >= OWNER_CPUS)
			c.by_cpu = 0;
		else
			c.cpus[t->cpus[i] / 64] |= 1ull << t->cpus[i] % 64;
	}
	return c;
}

static int tell_tids(const struct ownerfeed *f, const struct target *t, struct error *err)
{
	int map = bpf_object__find_map_fd_by_name(f->object, "tids");
	const uint8_t is_one = 1;

	if (map < 0)
		return error_set(err, -ENOENT, "The BPF object has no map tids");
	for (size_t i = 0; i < t->n_ids; i++) {
		const uint32_t tid = (uint32_t)t->ids[i];
		if (bpf_map_update_elem(map, &tid, &is_one, BPF_ANY) < 0)
			return error_errno(err, -errno, "Cannot tell BPF of thread %u", tid);
	}
	return 0;
}

static int load(struct ownerfeed *f, const struct target *target, struct kerntypes *types,
		struct error *err)
{
	const struct owner_config config = config_of(target);
	struct kit_file file = {.bytes = owner_object,
				.len = (size_t)(owner_object_end - owner_object),
				.config = &config,
				.config_size = sizeof(config),
				.types = types};
	int code = kit_load(&f->object, &file, err);

	if (code == 0 && config.by_tid)
		code = tell_tids(f, target, err);
	if (code < 0)
		return code;
	f->rings = bpf_object__find_map_fd_by_name(f->object, "rings");
	return f->rings < 0 ? error_set(err, -ENOENT, "The BPF object has no map rings") : 0;
}

int ownerfeed_new(struct ownerfeed **ret, const struct target *target, struct kerntypes *types,
		  struct error *err)
{
	struct ownerfeed *f = mem_calloc(1, sizeof(*f));

	if (!f)
		return error_set(err, -ENOMEM, "No memory for asking about owners");
	f->feed.set = set;
	f->link = -1;
	int code = load(f, target, types, err);
	if (code < 0) {
		ownerfeed_free(f);
		return code;
	}
	*ret = f;
	return 0;
}

struct feed *ownerfeed_feed(struct ownerfeed *f)
{
	return f ? &f->feed : NULL;
}

int ownerfeed_start(struct ownerfeed *f, struct error *err)
{
	int prog = kit_program(f->object, "see_owner", err);

	if (prog < 0)
		return prog;
	f->link = bpf_raw_tracepoint_open("contention_begin", prog);
	return f->link < 0 ? error_errno(err, -errno,
					 "Cannot attach to the tracepoint lock:contention_begin")
			   : 0;
}

void ownerfeed_free(struct ownerfeed *f)
{
	if (!f)
		return;
	if (f->link >= 0)
		close(f->link);
	bpf_object__close(f->object);
	mem_free(f);
}
