// SPDX-License-Identifier: GPL-2.0-only
/* Asks registers.bpf.c for the registers of some tasks. */
#include "registers.h"
#include "bpf-run.h"
#include "kontend/mem.h"
#include "registers-shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>
#include <sys/mman.h>

extern const char registers_object[], registers_object_end[];

_Static_assert((int)RAW_REGISTERS == SNAPSHOT_REGISTERS, "as many");

struct registers {
	struct bpf_object *object;
	struct bpf_link *see;
	struct bpf_map *by_thread;
	struct raw_registers *all;
};

static int load(struct registers *r, struct kerntypes *types, struct error *err)
{
	const size_t size = RAW_REGISTERS_TASKS * sizeof(*r->all);
	struct raw_registers_config config = {0};
	struct bpf_run_file f = {
		.bytes = registers_object,
		.len = (size_t)(registers_object_end - registers_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};
	int code = ns_own(&config.ns, types, err);

	code = code < 0 ? code : bpf_run_load(&r->object, &f, err);
	if (code < 0)
		return code;
	r->all = bpf_run_map(r->object, "registers", size, PROT_READ | PROT_WRITE, err);
	r->by_thread = bpf_object__find_map_by_name(r->object, "registers_by_thread");
	r->see = r->all && r->by_thread ? bpf_run_iterator(r->object, "see_registers", err) : NULL;
	return r->see ? 0 : err->code;
}

int registers_new(struct registers **ret, struct kerntypes *types, struct error *err)
{
	struct registers *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_enomem(err, "reading registers of tasks");
	int code = load(r, types, err);
	if (code < 0) {
		registers_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

static size_t ask(struct registers *r, const struct snapshot_registers *v, size_t n)
{
	n = n < RAW_REGISTERS_TASKS ? n : RAW_REGISTERS_TASKS;
	for (size_t i = 0; i < n; i++) {
		const uint32_t at = (uint32_t)i + 1;
		r->all[i] = (struct raw_registers){.tid = v[i].tid};
		(void)bpf_map__update_elem(r->by_thread, &v[i].tid, sizeof(v[i].tid), &at,
					   sizeof(at), BPF_ANY);
	}
	return n;
}

static void take(const struct raw_registers *from, struct snapshot_registers *to)
{
	if (!from->seen)
		return;
	to->mask = from->mask;
	for (size_t i = 0; i < SNAPSHOT_REGISTERS; i++)
		to->of[i] = from->of[i];
}

int registers_read(struct registers *r, struct snapshot_registers *v, size_t n)
{
	size_t asked = ask(r, v, n);
	int code = asked ? bpf_run_iterate(r->see) : 0;

	for (size_t i = 0; i < asked; i++) {
		if (code == 0)
			take(&r->all[i], &v[i]);
		bpf_map__delete_elem(r->by_thread, &v[i].tid, sizeof(v[i].tid), 0);
	}
	return code;
}

void registers_free(struct registers *r)
{
	if (!r)
		return;
	bpf_run_unmap(r->all, RAW_REGISTERS_TASKS * sizeof(*r->all));
	bpf_link__destroy(r->see);
	bpf_object__close(r->object);
	mem_free(r);
}
