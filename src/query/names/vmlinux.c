// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel as a file, by its build id: that which the recording says, or, if it says none and
 * was made here since this machine booted, of the kernel that runs. The kernel runs elsewhere
 * than it was linked at; how far is told by functions that are known here and there by the same
 * name, and all of those that are asked must agree.
 */
#include "vmlinux.h"

#include "kmodule.h"
#include "kontend/buildids.h"
#include "kontend/mem.h"
#include "kontend/thisboot.h"
#include "kontend/vmlinux.h"
#include "user.h"

#include <string.h>

enum { ASKED = 16, AGREE_LEAST = 2 };

struct query_vmlinux {
	const char *why; /* it is of no use; NULL: it is, or is not known yet */
	uint32_t file;
	bool is_placed;
	uint64_t slide;
};

/* What the recording says counts, wherever it was made. */
static bool recorded_id(const struct query *q, struct vmlinux *ret)
{
	const struct snapshot *ids = snapshot_set_get(&q->model->snapshots, SNAPSHOT_BUILD_IDS);
	struct buildid id;

	*ret = (struct vmlinux){0};
	if (!ids || !buildids_kernel(ids->bytes, ids->len, &id))
		return false;
	memcpy(ret->build_id, id.id, id.len);
	ret->build_id_len = id.len;
	return true;
}

static int find_file(struct query *q, struct query_vmlinux *k)
{
	const struct record_host *h = &q->model->host;
	const char *root = q->engine->lines->root;
	struct vmlinux v;

	root = root ? root : "";
	if (!recorded_id(q, &v)) {
		if (!thisboot_saw(h->release, h->wall_ns, h->clock_ns)) {
			k->why = "the recording does not say the build id of its kernel";
			return 0;
		}
		vmlinux_running(&v, root);
	}
	enum vmlinux_answer a = vmlinux_find(&v, root, h->release);
	if (a != VMLINUX_OK) {
		k->why = vmlinux_reason(a);
		return 0;
	}
	return usersyms_object(q->users, v.path, v.build_id, v.build_id_len, 0, &k->file);
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
	enum usersym_answer a = usersyms_functions(q->users, k->file, wanted, n);

	if (a == USERSYM_PENDING || a == USERSYM_NO_MEMORY)
		return a;
	if (a != USERSYM_OK)
		k->why = usersym_reason(a);
	else if (!agree(wanted, n, &k->slide))
		k->why = "vmlinux and the kernel's symbols do not agree on where it runs";
	k->is_placed = !k->why;
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
		return query_kmodule(q, e, addr, ret_file, ret_addr, ret_why);
	if (!k) {
		k = mem_calloc(1, sizeof(*k));
		if (!k || query_open_names(q) < 0 || find_file(q, k) < 0) {
			mem_free(k);
			return SRCLINES_NO_MEMORY;
		}
		q->vmlinux = k;
	}
	enum usersym_answer a = k->is_placed || k->why ? USERSYM_OK : place(q, k);
	*ret_why = k->why;
	if (a != USERSYM_OK)
		return a == USERSYM_PENDING ? SRCLINES_PENDING : SRCLINES_NO_MEMORY;
	*ret_file = k->file;
	*ret_addr = addr - k->slide;
	return k->why ? SRCLINES_KERNEL : SRCLINES_OK;
}

void query_vmlinux_deinit(struct query *q)
{
	query_kmodules_deinit(q);
	mem_free(q->vmlinux);
	q->vmlinux = NULL;
}
