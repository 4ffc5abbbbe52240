// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of variables in the per-CPU section. /proc/kallsyms may lack data symbols, but BTF lists
 * the variables of that section with their offsets and sizes. A lock within a variable has a name
 * of its own, after that of the variable.
 */
#include "btf/types.h"
#include "internal.h"
#include "kontend/bisect.h"
#include "kontend/mem.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_offset(const void *a, const void *b)
{
	const struct percpu_var *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int add(struct percpu *p, uint64_t offset, uint64_t size, const char *name)
{
	if (mem_grow(&p->vars, &p->cap, p->n, sizeof(*p->vars)) < 0)
		return -ENOMEM;
	struct percpu_var var = {offset, size, mem_strdup(name)};
	if (!var.name)
		return -ENOMEM;
	p->vars[p->n++] = var;
	return 0;
}

/* That at its begin has the variable's name. */
static int add_locks(struct percpu *p, struct kerntypes *types, const struct btf_var_secinfo *v,
		     uint32_t type, const char *variable)
{
	struct kerntypes_lock *locks;
	size_t n;
	int code = kerntypes_locks_of(types, type, variable, &locks, &n);

	for (size_t i = 0; code == 0 && i < n; i++)
		if (locks[i].offset)
			code = add(p, v->offset + locks[i].offset, 1, locks[i].name);
	mem_free(locks);
	return code;
}

static int add_variable(struct percpu *p, struct kerntypes *types, const struct btf *btf,
			const struct btf_var_secinfo *v)
{
	const struct btf_type *t = btf__type_by_id(btf, v->type);
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	if (!name)
		return 0;
	int code = add(p, v->offset, v->size, name);
	return code < 0 ? code : add_locks(p, types, v, t->type, name);
}

int percpu_read(struct percpu *ret, struct kerntypes *types, struct error *err)
{
	const struct btf *btf = kerntypes_btf(types, err);
	int code = 0;

	*ret = (struct percpu){0};
	if (!btf)
		return err->code;
	int id = kerntypes_find(types, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	for (uint32_t i = 0; t && !code && i < btf_vlen(t); i++)
		code = add_variable(ret, types, btf, btf_var_secinfos(t) + i);
	if (code) {
		percpu_deinit(ret);
		return error_enomem(err, "the per-CPU variables");
	}
	if (ret->n)
		qsort(ret->vars, ret->n, sizeof(*ret->vars), by_offset);
	return 0;
}

const struct percpu_var *percpu_find(const struct percpu *p, uint64_t offset)
{
	size_t after = BISECT(p->vars, p->n, offset, offset);

	/* Locks follow the variable that they are in. */
	for (size_t i = 0; i < PERCPU_LOCKS && after > i; i++) {
		const struct percpu_var *v = &p->vars[after - 1 - i];
		if (offset - v->offset < v->size)
			return v;
	}
	return NULL;
}

const struct percpu_var *percpu_named(const struct percpu *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->vars[i].name, name) == 0)
			return &p->vars[i];
	return NULL;
}

void percpu_deinit(struct percpu *p)
{
	for (size_t i = 0; i < p->n; i++)
		mem_free(p->vars[i].name);
	mem_free(p->vars);
	*p = (struct percpu){0};
}
