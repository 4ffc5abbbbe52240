// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel and its modules as files, by their build ids: those in the recording, or, if it has
 * none and was made here since this machine booted, of the running kernel and the loaded modules.
 * The kernel runs at another address than it was linked at; functions with the same name in both
 * give the difference, and all of those that are asked must agree. Each section of a module is
 * loaded somewhere, so that a function is looked for by its name; an answer is kept with its
 * address as long as the kernel's symbols are the same.
 */
#include "names.h"

#include "kontend/buildids.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "kontend/thisboot.h"
#include "kontend/vmlinux.h"

#include <errno.h>
#include <string.h>

enum { ASKED = 16, AGREE_LEAST = 2 };

struct kernel_file {
	char *module;	 /* its name; NULL: the kernel itself */
	const char *why; /* it cannot be used; NULL: it can, or that is not known yet */
	uint32_t file;
};

struct query_vmlinux {
	struct kernel_file of;
	bool is_placed;
	uint64_t slide;
};

struct kmodule_function {
	uint32_t file;
	uint64_t addr;	 /* in the file */
	const char *why; /* it is not known; NULL: it is */
};

struct query_kmodules {
	struct kernel_file *modules;
	size_t n_modules, cap_modules;
	struct kmodule_function *functions;
	size_t n_functions, cap_functions;
	struct map64 by_addr; /* index in functions */
	uint32_t n_loads;     /* they are of the table that was loaded then */
};

/* The build id in the recording comes first, wherever it was made. */
static bool recorded_id(const struct query *q, const char *module, struct vmlinux *ret)
{
	const struct snapshot *ids = snapshot_set_get(q->model->snapshots, SNAPSHOT_BUILD_IDS);
	bool found = ids && !module;
	struct buildid id;
	size_t at = 0;

	*ret = (struct vmlinux){0};
	if (found)
		found = buildids_kernel(ids->bytes, ids->len, &id);
	while (module && ids && !found && (at = buildids_next(ids->bytes, ids->len, at, &id)))
		found = id.kernel && id.len && vmlinux_is_module(id.path, module);
	if (!found)
		return false;
	memcpy(ret->build_id, id.id, id.len);
	ret->build_id_len = id.len;
	return true;
}

/* Names of "modules" that the kernel itself makes while it runs. */
static bool is_made(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11);
}

/* @module: NULL: of the kernel. False: not known. */
static bool find_id(const struct query *q, const char *module, struct vmlinux *ret)
{
	const struct record_host *h = q->model->host;
	const char *root = q->engine->lines ? q->engine->lines->root : NULL;

	root = root ? root : "";
	if (recorded_id(q, module, ret))
		return true;
	if (!thisboot_saw(h->release, h->wall_ns, h->clock_ns))
		return false;
	(void)(module ? vmlinux_running_module(ret, root, module) : vmlinux_running(ret, root));
	return true;
}

bool query_kernel_build_id(const struct query *q, const char *object, struct vmlinux *ret)
{
	char name[64];

	if (!object)
		return find_id(q, NULL, ret) && ret->build_id_len;
	size_t len = strlen(object);
	if (len < 3 || len - 2 >= sizeof(name))
		return false;
	memcpy(name, object + 1, len - 2);
	name[len - 2] = '\0';
	return !is_made(name) && find_id(q, name, ret) && ret->build_id_len;
}

/* Fills in the file, or why there is none. */
static int find_file(struct query *q, struct kernel_file *k)
{
	const struct record_host *h = q->model->host;
	const char *root = q->engine->lines->root, *m = k->module;
	struct vmlinux v;

	root = root ? root : "";
	if (!find_id(q, m, &v)) {
		k->why = m ? "the recording does not say the build id of the module"
			   : "the recording does not say the build id of its kernel";
		return 0;
	}
	enum vmlinux_answer a = m ? vmlinux_find_module(&v, root, h->release, m)
				  : vmlinux_find(&v, root, h->release);
	if (a != VMLINUX_OK) {
		k->why = m ? vmlinux_module_reason(a) : vmlinux_reason(a);
		return 0;
	}
	return usersyms_object(q->users, v.path, v.build_id, v.build_id_len, 0, &k->file);
}

/* NULL: no memory. */
static struct kernel_file *module_of(struct query *q, const char *name)
{
	struct query_kmodules *k = q->kmodules;

	for (size_t i = 0; i < k->n_modules; i++)
		if (!strcmp(k->modules[i].module, name))
			return &k->modules[i];
	if (mem_grow(&k->modules, &k->cap_modules, k->n_modules, sizeof(*k->modules)) < 0)
		return NULL;
	struct kernel_file *m = &k->modules[k->n_modules];
	*m = (struct kernel_file){.module = mem_strdup(name)};
	if (!m->module || find_file(q, m) < 0) {
		mem_free(m->module);
		return NULL;
	}
	k->n_modules++;
	return m;
}

static enum usersym_answer find_function(struct query *q, const struct kernel_file *m,
					 const char *name, struct kmodule_function *ret)
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

/* Like query_vmlinux(), for @addr in @e, a function of a module. */
static enum srclines_answer find_in_module(struct query *q, const struct sym_entry *e,
					   uint64_t addr, uint32_t *ret_file, uint64_t *ret_addr,
					   const char **ret_why)
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
		const struct kernel_file *m = module_of(q, name);
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

static bool is_function(const struct sym_entry *e)
{
	return !e->label && e->type && strchr("tTwW", e->type);
}

/* From all over the kernel. */
static size_t choose(const struct sym *s, struct usersym_wanted *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n && n < ASKED; i++) {
		const struct sym_entry *e = &s->entries[i];
		if (is_function(e) && !e->module && i * ASKED / s->n >= n)
			ret[n++] = (struct usersym_wanted){.name = sym_text(s, e), .arg = e->addr};
	}
	return n;
}

/* One that has its name alone says how far; the others must say the same. */
static bool agree(const struct usersym_wanted *w, size_t n, uint64_t *ret_slide)
{
	unsigned votes = 0;

	for (size_t i = 0; i < n; i++) {
		if (w[i].n != 1)
			continue;
		if (votes && w[i].arg - w[i].addr != *ret_slide)
			return false;
		*ret_slide = w[i].arg - w[i].addr;
		votes++;
	}
	return votes >= AGREE_LEAST;
}

static enum usersym_answer place(struct query *q, struct query_vmlinux *k)
{
	struct usersym_wanted wanted[ASKED];
	const struct sym *s = sym_whole(q->sym);

	if (!s)
		return USERSYM_NO_MEMORY;
	size_t n = choose(s, wanted);
	enum usersym_answer a = usersyms_functions(q->users, k->of.file, wanted, n);

	if (a == USERSYM_PENDING || a == USERSYM_NO_MEMORY)
		return a;
	if (a != USERSYM_OK)
		k->of.why = usersym_reason(a);
	else if (!agree(wanted, n, &k->slide))
		k->of.why = "vmlinux and the kernel's symbols do not agree on where it runs";
	k->is_placed = !k->of.why;
	return USERSYM_OK;
}

enum srclines_answer query_vmlinux(struct query *q, uint64_t addr, uint32_t *ret_file,
				   uint64_t *ret_addr, const char **ret_why)
{
	const struct sym_entry *e = sym_find(q->sym, addr);
	struct query_vmlinux *k = q->vmlinux;

	*ret_why = "lines of what is no function of the kernel are not looked for";
	if (!e || !is_function(e))
		return SRCLINES_KERNEL;
	if (e->module)
		return find_in_module(q, e, addr, ret_file, ret_addr, ret_why);
	if (!k) {
		k = mem_calloc(1, sizeof(*k));
		if (!k || query_open_names(q) < 0 || find_file(q, &k->of) < 0) {
			mem_free(k);
			return SRCLINES_NO_MEMORY;
		}
		q->vmlinux = k;
	}
	enum usersym_answer a = k->is_placed || k->of.why ? USERSYM_OK : place(q, k);
	*ret_why = k->of.why;
	if (a != USERSYM_OK)
		return a == USERSYM_PENDING ? SRCLINES_PENDING : SRCLINES_NO_MEMORY;
	*ret_file = k->of.file;
	*ret_addr = addr - k->slide;
	return k->of.why ? SRCLINES_KERNEL : SRCLINES_OK;
}

static void forget_modules(struct query *q)
{
	struct query_kmodules *k = q->kmodules;

	if (!k)
		return;
	for (size_t i = 0; i < k->n_modules; i++)
		mem_free(k->modules[i].module);
	mem_free(k->modules);
	mem_free(k->functions);
	map64_deinit(&k->by_addr);
	mem_free(k);
	q->kmodules = NULL;
}

void query_vmlinux_deinit(struct query *q)
{
	forget_modules(q);
	mem_free(q->vmlinux);
	q->vmlinux = NULL;
}
