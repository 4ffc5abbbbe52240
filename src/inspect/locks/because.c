// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the program that finds for what blocked tasks wait, after sleepers.c has found these. The
 * FUSE daemon, or the reader of a userfaultfd, is known by descriptors: all are looked at when a
 * task waits for one whose user is not known, and again from time to time.
 */
#include "because-shared.h"
#include "bpf-run.h"
#include "internal.h"
#include "kontend/mem.h"
#include "sleepers-shared.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char because_object[], because_object_end[];

enum { SEEK_AGAIN = 16 }; /* passes */

struct because {
	struct bpf_object *object;
	struct bpf_link *users;
	struct raw_because_state *state;
	struct bpf_run_part found;
	unsigned passes;
	int objects; /* the program */
};

static int open_parts(struct because *b, struct error *err)
{
	b->state = bpf_run_map(b->object, ".bss", sizeof(*b->state), PROT_READ | PROT_WRITE, err);
	if (!b->state)
		return err->code;
	b->objects = bpf_run_program(b->object, "find_objects", err);
	b->users = b->objects < 0 ? NULL : bpf_run_iterator(b->object, "find_users", err);
	if (!b->users)
		return err->code;
	return bpf_run_part_open(&b->found, b->object, "because", sizeof(struct raw_because),
				 RAW_BECAUSE, err);
}

int because_new(struct because **ret, const struct bpf_map *blocked, struct kerntypes *types,
		struct error *err)
{
	struct because *b = mem_calloc(1, sizeof(*b));
	struct raw_because_config config = {.self = (unsigned int)getpid()};
	struct bpf_run_file f = {
		.bytes = because_object,
		.len = (size_t)(because_object_end - because_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
		.shared = "blocked",
		.shared_map = blocked,
	};

	if (!b)
		return error_enomem(err, "finding for what tasks wait");
	int code = ns_own(&config.ns, types, err);
	code = code < 0 ? code : bpf_run_load(&b->object, &f, err);
	code = code < 0 ? code : open_parts(b, err);
	if (code < 0) {
		because_free(b);
		return code;
	}
	*ret = b;
	return 0;
}

/* Again after it has found the users of all that is sought. */
static int find_objects(struct because *b)
{
	struct raw_because_state *s = b->state;
	int code = bpf_run_once(b->objects, -1);

	if (code < 0 || !*(volatile uint32_t *)&s->unsearched)
		return code;
	code = bpf_run_iterate(b->users);
	for (uint32_t i = 0; i < s->n_sought && i < RAW_SOUGHT; i++)
		s->sought[i].searched = 1;
	return code < 0 ? code : bpf_run_once(b->objects, -1);
}

const struct raw_because *because_find(struct because *b, size_t n, size_t *ret_n,
				       struct error *err)
{
	*ret_n = n < RAW_BECAUSE ? n : RAW_BECAUSE;
	b->state->n = (uint32_t)*ret_n;
	if (b->passes++ % SEEK_AGAIN == 0)
		b->state->n_sought = 0;
	int code = n ? find_objects(b) : 0;
	const void *found = n && code == 0 ? bpf_run_part_read(&b->found, *ret_n) : NULL;
	if (n && !found)
		error_errno(err, code < 0 ? code : -errno,
			    "Cannot run the BPF program that finds for what tasks wait");
	return found;
}

void because_free(struct because *b)
{
	if (!b)
		return;
	bpf_run_unmap(b->state, sizeof(*b->state));
	bpf_run_part_close(&b->found);
	bpf_link__destroy(b->users);
	bpf_object__close(b->object);
	mem_free(b);
}
