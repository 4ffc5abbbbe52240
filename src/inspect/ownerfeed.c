// SPDX-License-Identifier: GPL-2.0-only
/* Loads and attaches the program that writes owners: a raw tracepoint, gone with its descriptor. */
#include "kontend/ownerfeed.h"
#include "bpf-kit.h"
#include "kontend/mem.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
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

static int load(struct ownerfeed *f, struct kerntypes *types, struct error *err)
{
	struct kit_file file = {.bytes = owner_object,
				.len = (size_t)(owner_object_end - owner_object),
				.types = types};
	int code = kit_load(&f->object, &file, err);

	if (code < 0)
		return code;
	f->rings = bpf_object__find_map_fd_by_name(f->object, "rings");
	return f->rings < 0 ? error_set(err, -ENOENT, "The BPF object has no map rings") : 0;
}

int ownerfeed_new(struct ownerfeed **ret, struct kerntypes *types, struct error *err)
{
	struct ownerfeed *f = mem_calloc(1, sizeof(*f));

	if (!f)
		return error_set(err, -ENOMEM, "No memory for asking about owners");
	f->feed.set = set;
	f->link = -1;
	int code = load(f, types, err);
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
