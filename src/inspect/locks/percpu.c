// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of variables in the per-CPU section. /proc/kallsyms may lack data symbols, but BTF lists
 * the variables of that section with their offsets and sizes.
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

static int add_variable(struct percpu *p, const struct btf *btf, const struct btf_var_secinfo *v)
{
	const struct btf_type *t = btf__type_by_id(btf, v->type);
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	if (!name)
		return 0;
	if (mem_grow(&p->vars, &p->cap, p->n, sizeof(*p->vars)) < 0)
		return -ENOMEM;
	struct percpu_var var = {v->offset, v->size, mem_strdup(name)};
	if (!var.name)
		return -ENOMEM;
	p->vars[p->n++] = var;
	return 0;
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
		code = add_variable(ret, btf, btf_var_secinfos(t) + i);
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
	const struct percpu_var *v = after ? &p->vars[after - 1] : NULL;
	return v && offset - v->offset < v->size ? v : NULL;
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
