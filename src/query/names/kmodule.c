// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules of the kernel as files, by their build ids: those that the recording says, or, if it was
 * made here since this machine booted, of the modules that are loaded. Each section of a module is
 * loaded somewhere, so that a function is looked for by its name; what was found is kept with its
 * address as long as the kernel's symbols are the same.
 */
#include "kmodule.h"

#include "kontend/buildids.h"
#include "kontend/kmodule.h"
#include "kontend/mem.h"
#include "kontend/thisboot.h"
#include "user.h"

#include <errno.h>
#include <string.h>

struct kmodule {
	char *name;
	const char *why; /* its file is of no use; NULL: it is */
	uint32_t file;
};

struct kmodule_function {
	uint32_t file;
	uint64_t addr;	 /* in the file */
	const char *why; /* it is not known; NULL: it is */
};

struct query_kmodules {
	struct kmodule *modules;
	size_t n_modules, cap_modules;
	struct kmodule_function *functions;
	size_t n_functions, cap_functions;
	struct map64 by_addr; /* index in functions */
	uint32_t n_loads;     /* they are of the table that was loaded then */
};

static bool recorded_id(const struct query *q, const char *name, struct vmlinux *ret)
{
	const struct snapshot *ids = snapshot_set_get(&q->model->snapshots, SNAPSHOT_BUILD_IDS);
	struct buildid id;
	size_t at = 0;

	*ret = (struct vmlinux){0};
	while (ids && (at = buildids_next(ids->bytes, ids->len, at, &id))) {
		if (!id.kernel || !id.len || !kmodule_is(id.path, name))
			continue;
		memcpy(ret->build_id, id.id, id.len);
		ret->build_id_len = id.len;
		return true;
	}
	return false;
}

static int find_file(struct query *q, struct kmodule *m)
{
	const struct record_host *h = &q->model->host;
	const char *root = q->engine->lines->root;
	struct vmlinux v;

	root = root ? root : "";
	if (!recorded_id(q, m->name, &v)) {
		if (!thisboot_saw(h->release, h->wall_ns, h->clock_ns)) {
			m->why = "the recording does not say the build id of the module";
			return 0;
		}
		kmodule_loaded(&v, root, m->name);
	}
	enum vmlinux_answer a = kmodule_find(&v, root, h->release, m->name);
	if (a != VMLINUX_OK) {
		m->why = kmodule_reason(a);
		return 0;
	}
	return usersyms_object(q->users, v.path, v.build_id, v.build_id_len, 0, &m->file);
}

/* NULL: no memory. */
static struct kmodule *module_of(struct query *q, const char *name)
{
	struct query_kmodules *k = q->kmodules;

	for (size_t i = 0; i < k->n_modules; i++)
		if (!strcmp(k->modules[i].name, name))
			return &k->modules[i];
	if (mem_grow(&k->modules, &k->cap_modules, k->n_modules, sizeof(*k->modules)) < 0)
		return NULL;
	struct kmodule *m = &k->modules[k->n_modules];
	*m = (struct kmodule){.name = mem_strdup(name)};
	if (!m->name || find_file(q, m) < 0) {
		mem_free(m->name);
		return NULL;
	}
	k->n_modules++;
	return m;
}

static enum usersym_answer find_function(struct query *q, const struct kmodule *m, const char *name,
					 struct kmodule_function *ret)
{
	struct usersym_wanted w = {.name = name};
	enum usersym_answer a = m->why ? USERSYM_OK : usersyms_functions(q->users, m->file, &w, 1);

	*ret = (struct kmodule_function){.file = m->file, .addr = w.addr, .why = m->why};
	if (a != USERSYM_OK)
		ret->why = usersym_reason(a);
	else if (!ret->why && w.n != 1)
		ret->why = w.n ? "several functions of the module are called so"
			       : "the file of the module has no function that is called so";
	return a;
}

static int keep(struct query_kmodules *k, uint64_t addr, const struct kmodule_function *f)
{
	if (mem_grow(&k->functions, &k->cap_functions, k->n_functions, sizeof(*f)) < 0 ||
	    map64_put(&k->by_addr, addr, (uint32_t)k->n_functions) < 0)
		return -ENOMEM;
	k->functions[k->n_functions++] = *f;
	return 0;
}

/* Modules come, go, and are loaded elsewhere: then the table of symbols is another. */
static int begin(struct query *q)
{
	struct query_kmodules *k = q->kmodules;

	if (!k && !(k = mem_calloc(1, sizeof(*k))))
		return -ENOMEM;
	q->kmodules = k;
	if (k->n_loads != q->sym->n_loads) {
		map64_clear(&k->by_addr);
		k->n_functions = 0;
		k->n_loads = q->sym->n_loads;
	}
	return query_open_names(q);
}

/* What is called a module, but is what the kernel makes while it runs. */
static bool is_made(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11);
}

enum srclines_answer query_kmodule(struct query *q, const struct sym_entry *e, uint64_t addr,
				   uint32_t *ret_file, uint64_t *ret_addr, const char **ret_why)
{
	const char *name = q->sym->text + e->module;
	struct kmodule_function f;

	*ret_why = "there are no lines of code that the kernel made itself";
	if (is_made(name))
		return SRCLINES_KERNEL;
	if (begin(q) < 0)
		return SRCLINES_NO_MEMORY;
	const uint32_t *known = map64_get(&q->kmodules->by_addr, e->addr);
	if (known) {
		f = q->kmodules->functions[*known];
	} else {
		const struct kmodule *m = module_of(q, name);
		enum usersym_answer a =
			m ? find_function(q, m, sym_text(q->sym, e), &f) : USERSYM_NO_MEMORY;
		if (a == USERSYM_PENDING)
			return SRCLINES_PENDING;
		if (a == USERSYM_NO_MEMORY || keep(q->kmodules, e->addr, &f) < 0)
			return SRCLINES_NO_MEMORY;
	}
	*ret_why = f.why;
	*ret_file = f.file;
	*ret_addr = f.addr + (addr - e->addr);
	return f.why ? SRCLINES_KERNEL : SRCLINES_OK;
}

void query_kmodules_deinit(struct query *q)
{
	struct query_kmodules *k = q->kmodules;

	if (!k)
		return;
	for (size_t i = 0; i < k->n_modules; i++)
		mem_free(k->modules[i].name);
	mem_free(k->modules);
	mem_free(k->functions);
	map64_deinit(&k->by_addr);
	mem_free(k);
	q->kmodules = NULL;
}
