// SPDX-License-Identifier: GPL-2.0-only
/*
 * The locks in a type of the kernel, by their offsets. Each has a name of as few of the members
 * that lead to it as say which lock it is: "i_rwsem", "i_mmap_rwsem.wait_lock",
 * "s_writers.rw_sem[0]". "zone->lock" is the way to write that of a member that has a common name.
 */
#include "index.h"
#include "kontend/mem.h"
#include "types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 10, ARRAY_MOST = 128, LOCKS_MOST = 1024 };

struct walk {
	const struct btf *btf;
	const char *short_name;
	struct kerntypes_lock *locks;
	size_t n, cap;
	struct part {
		const char *name; /* "": without one */
		int index;	  /* of an array; -1: it is none */
	} parts[DEPTH];
	unsigned depth;
};

static bool is_one_of(const char *name, const char *const *list)
{
	while (*list && strcmp(*list, name))
		list++;
	return *list;
}

/* Locks in which there is no other one, and those that have one within. */
static const char *const plain[] = {
	"spinlock", "raw_spinlock",    "qspinlock",  "spinlock_t",   "rwlock_t",
	"qrwlock",  "arch_spinlock_t", "rqspinlock", "rqspinlock_t", NULL};
static const char *const compound[] = {
	"mutex",    "rw_semaphore",  "semaphore", "percpu_rw_semaphore",
	"rt_mutex", "rt_mutex_base", NULL};

static bool is_common(const struct part *p, const struct part *before)
{
	static const char *const names[] = {
		"lock", "mutex",  "mtx",  "sem",     "rwsem", "wait_lock", "slock",   "wait", "wq",
		"base", "rw_sem", "root", "waiters", "list",  "seqlock",   "gp_wait", "rss",  NULL};

	if (strcmp(p->name, "xa_lock") == 0)
		return before && strcmp(before->name, "i_pages");
	return is_one_of(p->name, names);
}

static int add_text(char *ret, size_t size, int at, const struct part *p)
{
	if (at < 0 || (size_t)at >= size)
		return at;
	const char *dot = at ? "." : "";
	return at + (p->index < 0 ? snprintf(ret + at, size - (size_t)at, "%s%s", dot, p->name)
				  : snprintf(ret + at, size - (size_t)at, "%s%s[%d]", dot, p->name,
					     p->index));
}

/* The last parts, from the last one on that is no common name. */
static void name_lock(const struct walk *w, char *ret, size_t size)
{
	const struct part *named[DEPTH];
	unsigned n = 0, from;
	int at = 0;

	for (unsigned i = 0; i < w->depth; i++)
		if (*w->parts[i].name)
			named[n++] = &w->parts[i];
	/* The lock within an rwsem of PREEMPT_RT, for which its writers wait, is the rwsem. */
	if (n > 2 && !strcmp(named[n - 1]->name, "rtmutex") &&
	    !strcmp(named[n - 2]->name, "rwbase"))
		n -= 2;
	for (from = n; from > 0; from--)
		if (!is_common(named[from - 1], from > 1 ? named[from - 2] : NULL))
			break;
	*ret = 0;
	/* As the kernel's own macro calls it. */
	if (n > 1 && !strcmp(named[n - 2]->name, "d_lockref")) {
		snprintf(ret, size, "d_lock");
		return;
	}
	if (!from && w->short_name)
		at = snprintf(ret, size, "%s->", w->short_name);
	for (unsigned i = from ? from - 1 : 0; i < n; i++) {
		/* How sockets and sequence locks call the spinlock in them. */
		if (i && i + 1 == n && !strcmp(named[i]->name, "slock"))
			break;
		int dot = !from && i == 0;
		at = dot ? at + snprintf(ret + at, size - (size_t)at, "%s", named[i]->name)
			 : add_text(ret, size, at, named[i]);
		if (at < 0 || (size_t)at >= size)
			break;
	}
}

static int add_lock(struct walk *w, uint32_t offset)
{
	if (w->n && w->locks[w->n - 1].offset == offset)
		return 0;
	if (w->n >= LOCKS_MOST)
		return 0;
	if (mem_grow(&w->locks, &w->cap, w->n, sizeof(*w->locks)) < 0)
		return -ENOMEM;
	w->locks[w->n].offset = offset;
	name_lock(w, w->locks[w->n].name, sizeof(w->locks[w->n].name));
	w->n++;
	return 0;
}

static int walk_type(struct walk *w, uint32_t id, uint32_t offset);

static int walk_members(struct walk *w, const struct btf_type *t, uint32_t offset)
{
	const struct btf_member *m = btf_members(t);
	int code = 0;

	if (w->depth == DEPTH)
		return 0;
	for (uint32_t i = 0; code == 0 && i < btf_vlen(t); i++) {
		w->parts[w->depth++] =
			(struct part){btf__name_by_offset(w->btf, m[i].name_off), -1};
		code = walk_type(w, m[i].type, offset + btf_member_bit_offset(t, i) / 8);
		w->depth--;
	}
	return code;
}

static int walk_array(struct walk *w, const struct btf_array *a, uint32_t offset)
{
	int64_t size = btf__resolve_size(w->btf, a->type);
	struct part *p = &w->parts[w->depth - 1];
	int before = p->index, code = 0;

	for (uint32_t i = 0; code == 0 && size > 0 && i < a->nelems && i < ARRAY_MOST; i++) {
		p->index = (int)i;
		code = walk_type(w, a->type, offset + i * (uint32_t)size);
	}
	p->index = before;
	return code;
}

static int walk_type(struct walk *w, uint32_t id, uint32_t offset)
{
	const struct btf_type *t = btf__type_by_id(w->btf, id);

	for (; t && (btf_is_mod(t) || btf_is_typedef(t)); t = btf__type_by_id(w->btf, t->type))
		if (btf_is_typedef(t) && is_one_of(btf__name_by_offset(w->btf, t->name_off), plain))
			return add_lock(w, offset);
	if (!t)
		return 0;
	if (btf_is_array(t))
		return w->depth ? walk_array(w, btf_array(t), offset) : 0;
	if (!btf_is_composite(t))
		return 0;
	const char *name = btf__name_by_offset(w->btf, t->name_off);
	if (is_one_of(name, plain))
		return add_lock(w, offset);
	int code = is_one_of(name, compound) ? add_lock(w, offset) : 0;
	return code < 0 ? code : walk_members(w, t, offset);
}

static int walk_from(struct walk *w, struct kerntypes *t, uint32_t id, struct kerntypes_lock **ret,
		     size_t *ret_n)
{
	w->btf = kerntypes_btf(t, NULL);
	int code = w->btf ? walk_type(w, id, 0) : 0;

	if (code < 0) {
		mem_free(w->locks);
		return code;
	}
	*ret = w->locks;
	*ret_n = w->n;
	return 0;
}

int kerntypes_locks(struct kerntypes *t, const char *type, const char *short_name,
		    struct kerntypes_lock **ret, size_t *ret_n)
{
	struct walk w = {.short_name = short_name};
	int id = kerntypes_find(t, type, BTF_KIND_STRUCT);

	*ret = NULL;
	*ret_n = 0;
	return id < 0 ? 0 : walk_from(&w, t, (uint32_t)id, ret, ret_n);
}

int kerntypes_locks_of(struct kerntypes *t, uint32_t id, const char *variable,
		       struct kerntypes_lock **ret, size_t *ret_n)
{
	struct walk w = {.parts = {{variable, -1}}, .depth = 1};

	*ret = NULL;
	*ret_n = 0;
	return walk_from(&w, t, id, ret, ret_n);
}

int kerntypes_offset(struct kerntypes *t, const char *type, const char *member)
{
	const struct btf *btf = kerntypes_btf(t, NULL);
	int id = kerntypes_find(t, type, BTF_KIND_STRUCT);
	const struct btf_type *s = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	for (uint32_t i = 0; s && i < btf_vlen(s); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(s)[i].name_off), member))
			return (int)(btf_member_bit_offset(s, i) / 8);
	return -ENOENT;
}

int kerntypes_size(struct kerntypes *t, const char *type)
{
	int id = kerntypes_find(t, type, BTF_KIND_STRUCT);

	return id < 0 ? id : (int)btf__type_by_id(kerntypes_btf(t, NULL), (uint32_t)id)->size;
}
