// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF links that have placed uprobes (uprobe-multi, kernel 6.6), read by an iterator over all
 * links; links of single uprobes are of perf events, which the walk through the tasks finds. The
 * run counts of a link's program are not read: hits are not known of these probes.
 */
#include "bpf-run.h"
#include "bpf.h"
#include "btf/types.h"
#include "kontend/mem.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

extern const char uplinks_object[], uplinks_object_end[];

struct up_links {
	struct bpf_object *object;
	struct bpf_link *iterator;
	struct up_links_state *state;
	struct bpf_run_part links; /* struct up_link_raw */
};

/* The id of the type; 0: this kernel has no such links. */
static uint32_t type_multi(struct kerntypes *types)
{
	return (uint32_t)kerntypes_enumerator(types, "BPF_LINK_TYPE_UPROBE_MULTI");
}

static int load(struct up_links *l, uint32_t type, struct kerntypes *types, struct error *err)
{
	struct up_links_config c = {.type_multi = type};
	struct bpf_run_file f = {
		.bytes = uplinks_object,
		.len = (size_t)(uplinks_object_end - uplinks_object),
		.config = &c,
		.config_size = sizeof(c),
		.types = types,
	};
	int code = ns_own(&c.ns, types, err);

	code = code < 0 ? code : bpf_run_load(&l->object, &f, err);

	if (code < 0)
		return code;
	l->state = bpf_run_map(l->object, ".bss", sizeof(*l->state), PROT_READ | PROT_WRITE, err);
	l->iterator = bpf_run_iterator(l->object, "read_links", err);
	if (!l->state || !l->iterator)
		return err->code;
	return bpf_run_part_open(&l->links, l->object, "links", sizeof(struct up_link_raw),
				 UP_LINKS, err);
}

static int open_with(struct up_links **ret, struct kerntypes *types, struct error *err)
{
	uint32_t type = type_multi(types);
	struct up_links *l = type ? mem_calloc(1, sizeof(*l)) : NULL;

	if (!type)
		return 0;
	if (!l)
		return error_enomem(err, "BPF links");
	int code = load(l, type, types, err);
	if (code < 0) {
		up_links_close(l);
		return code;
	}
	*ret = l;
	return 0;
}

int up_links_open(struct up_links **ret, struct kerntypes *shared, struct error *err)
{
	struct kerntypes *own, *types = kerntypes_or(shared, &own, err);
	int code = -ENOMEM;

	*ret = NULL;
	if (types)
		code = open_with(ret, types, err);
	kerntypes_free(own);
	return code;
}

void up_links_close(struct up_links *l)
{
	if (!l)
		return;
	bpf_run_unmap(l->state, sizeof(*l->state));
	bpf_run_part_close(&l->links);
	bpf_link__destroy(l->iterator);
	bpf_object__close(l->object);
	mem_free(l);
}

/* The parts of a path are from the last one to the first. */
static void join(const struct up_link_raw *r, char *ret, size_t size)
{
	size_t at = 0;

	*ret = '\0';
	for (uint32_t i = r->n_parts < UP_PARTS ? r->n_parts : UP_PARTS; i-- > 0 && at < size;) {
		int n = snprintf(ret + at, size - at, "/%.*s", UP_PART, r->parts[i]);
		at += n > 0 ? (size_t)n : 0;
	}
}

int up_links_walk(struct up_links *l, int (*found)(void *arg, const struct up_link *l), void *arg)
{
	char path[UP_PATH];

	if (!l)
		return 0;
	l->state->n_links = l->state->dropped = 0;
	int code = bpf_run_iterate(l->iterator);
	if (code < 0)
		return code;
	uint32_t n = l->state->n_links < UP_LINKS ? l->state->n_links : UP_LINKS;
	const struct up_link_raw *links = bpf_run_part_read(&l->links, n);
	if (!links)
		return -errno;
	for (uint32_t i = 0; code == 0 && i < n; i++) {
		const struct up_link_raw *r = &links[i];
		join(r, path, sizeof(path));
		struct up_link k = {.offset = r->offset,
				    .ref_ctr = r->ref_ctr,
				    .ino = r->ino,
				    .dev = r->dev,
				    .id = r->id,
				    .pid = r->pid,
				    .is_return = r->is_return != 0,
				    .path = path,
				    .program = r->program};
		code = found(arg, &k);
	}
	return code;
}
