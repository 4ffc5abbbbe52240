// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the kernel's accounting of breakpoints. /proc/kallsyms may lack data symbols, but BTF lists
 * the variables of the per-CPU section with their offsets, and their types. The number of pools
 * (one if data and execution share the debug registers, else two) is the size of the array
 * bp_cpuinfo[], the number of registers that of bp_per_reg[] (x86) or bp_on_reg[] and wp_on_reg[]
 * (arm64).
 */
#include "bpf-int.h"
#include "bpf-run.h"
#include "btf/types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

struct variables {
	const struct btf *btf;
	const struct btf_type *section; /* NULL: there is none */
};

static const struct btf_type *resolved(const struct btf *btf, uint32_t id)
{
	return btf__type_by_id(btf, (uint32_t)btf__resolve_type(btf, id));
}

/* The variable @name of the section; NULL: there is none. */
static const struct btf_var_secinfo *find_variable(const struct variables *in, const char *name)
{
	const struct btf_type *t = in->section;

	for (uint32_t i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(t) + i;
		const struct btf_type *var = btf__type_by_id(in->btf, v->type);
		if (strcmp(btf__name_by_offset(in->btf, var->name_off), name) == 0)
			return v;
	}
	return NULL;
}

/* Type of the variable @v. */
static const struct btf_type *type_of(const struct btf *btf, const struct btf_var_secinfo *v)
{
	return resolved(btf, btf__type_by_id(btf, v->type)->type);
}

static uint64_t offset_of(const struct variables *in, const char *name)
{
	const struct btf_var_secinfo *v = find_variable(in, name);

	return v ? v->offset : RAW_NO_OFFSET;
}

/* Offset of the member @name of the structure @t; -1: it has none. */
static int64_t member_offset(const struct btf *btf, const struct btf_type *t, const char *name)
{
	if (!t || !btf_is_struct(t))
		return -1;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		if (strcmp(btf__name_by_offset(btf, m->name_off), name) == 0)
			return btf_member_bit_offset(t, i) / 8;
	}
	return -1;
}

/* struct bp_cpuinfo bp_cpuinfo[TYPE_MAX] */
static void read_info(const struct variables *in, struct layout *l)
{
	const struct btf_var_secinfo *v = find_variable(in, "bp_cpuinfo");
	const struct btf_type *t = v ? type_of(in->btf, v) : NULL;

	if (!t || !btf_is_array(t) || v->size > sizeof(((struct raw_cpu *)0)->info))
		return;
	uint32_t n = btf_array(t)->nelems;
	const struct btf_type *item = resolved(in->btf, btf_array(t)->type);
	int64_t at = member_offset(in->btf, item, "cpu_pinned");
	if (at < 0 || !n || n > RAW_POOLS)
		return;
	l->config.off_info = v->offset;
	l->config.info_size = v->size;
	l->pools = n;
	l->info_stride = item->size;
	l->info_cpu_pinned = (uint32_t)at;
}

static void read_registers(const struct variables *in, struct layout *l, int pool, const char *name)
{
	const struct btf_var_secinfo *v = find_variable(in, name);

	if (!v || v->size > sizeof(((struct raw_cpu *)0)->regs[0]))
		return;
	l->config.off_regs[pool] = v->offset;
	l->config.regs_size[pool] = v->size;
	l->regs[pool] = v->size / sizeof(unsigned long long);
}

int layout_read(struct layout *ret, struct kerntypes *types, struct error *err)
{
	const struct btf *btf = kerntypes_btf(types, err);
	struct variables in = {.btf = btf};
	struct layout l = {0};

	if (!btf)
		return err->code;
	int id = kerntypes_find(types, ".data..percpu", BTF_KIND_DATASEC);
	if (id > 0)
		in.section = btf__type_by_id(btf, (uint32_t)id);
	l.config.off_runqueues = offset_of(&in, "runqueues");
	l.config.off_dr7 = offset_of(&in, "cpu_dr7");
	l.config.off_info = l.config.off_regs[0] = l.config.off_regs[1] = RAW_NO_OFFSET;
	l.config.tracepoint_flag = kerntypes_enumerator(types, "TRACE_EVENT_FL_TRACEPOINT");
	l.has_revoked = kerntypes_enumerator(types, "PERF_EVENT_STATE_REVOKED") != 0;
	read_info(&in, &l);
	read_registers(&in, &l, 0, l.pools == 2 ? "bp_on_reg" : "bp_per_reg");
	if (l.pools == 2)
		read_registers(&in, &l, 1, "wp_on_reg");
	*ret = l;
	return 0;
}
