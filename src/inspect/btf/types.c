// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's BTF is 5 MB with 130,000 types, and libbpf walks through all of them for each
 * structure of each object that it relocates: that took most of the start. So objects are relocated
 * to an excerpt of a few thousand types. libbpf compares members by kind and follows structures
 * within structures, but never a pointer: so pointers in the excerpt point to nothing. The excerpt
 * has all types of a name, since libbpf must see an ambiguity.
 */
#include "types.h"
#include "index.h"
#include "kontend/mem.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Threads share it: they read the types when `reading` shows that these are there. */
struct kerntypes {
	atomic_uint users;
	pthread_mutex_t reading;
	struct btf *btf;
	struct btf_index index;
	struct error why; /* code 0: not read yet, or read */
};

struct excerpt {
	const struct kerntypes *from;
	struct btf *to;
	uint32_t *ids; /* of @from -> of @to; MARKED until it is there */
	uint32_t n_types;
	uint32_t *list; /* marked types; those below `done` have their members marked, too */
	size_t n, cap, done;
};

#define MARKED UINT32_MAX

void bpf_types_quiet(void)
{
	libbpf_set_print(NULL);
}

int kerntypes_new(struct kerntypes **ret, struct error *err)
{
	struct kerntypes *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return error_enomem(err, "the kernel's types");
	atomic_init(&t->users, 1);
	pthread_mutex_init(&t->reading, NULL);
	*ret = t;
	return 0;
}

struct kerntypes *kerntypes_share(struct kerntypes *t)
{
	atomic_fetch_add(&t->users, 1);
	return t;
}

struct kerntypes *kerntypes_or(struct kerntypes *shared, struct kerntypes **ret_own,
			       struct error *err)
{
	*ret_own = NULL;
	if (!shared)
		kerntypes_new(ret_own, err);
	return shared ? shared : *ret_own;
}

void kerntypes_free(struct kerntypes *t)
{
	if (!t || atomic_fetch_sub(&t->users, 1) > 1)
		return;
	btf__free(t->btf);
	btf_index_deinit(&t->index);
	pthread_mutex_destroy(&t->reading);
	mem_free(t);
}

/* By one mapping, which kernels have since 6.16; NULL: libbpf has to read it, a page at a time. */
static struct btf *map_types(void)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct stat st = {0};

	if (fd < 0)
		return NULL;
	size_t size = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 1;
	void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	struct btf *btf = btf__new(p, (uint32_t)size);
	munmap(p, size);
	return btf;
}

static void read_types(struct kerntypes *t)
{
	bpf_types_quiet();
	struct btf *btf = map_types();

	btf = btf ? btf : btf__load_vmlinux_btf();

	if (!btf) {
		error_errno(&t->why, -errno,
			    "Cannot read the kernel's BTF "
			    "(/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)");
		return;
	}
	if (btf_index_make(&t->index, btf) < 0) {
		error_enomem(&t->why, "the kernel's types");
		btf__free(btf);
		return;
	}
	t->btf = btf;
}

const struct btf *kerntypes_btf(struct kerntypes *t, struct error *err)
{
	pthread_mutex_lock(&t->reading);
	if (!t->btf && !t->why.code)
		read_types(t);
	pthread_mutex_unlock(&t->reading);
	if (!t->btf && err)
		*err = t->why;
	return t->btf;
}

int kerntypes_find(struct kerntypes *t, const char *name, uint32_t kind)
{
	return kerntypes_btf(t, NULL) ? btf_index_find(&t->index, t->btf, name, kind) : t->why.code;
}

/* A struct or union without a name has members of the one around it. */
enum { MEMBER_DEPTH = 8 };

static bool has_member(const struct btf *btf, uint32_t id, const char *name, unsigned depth)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const struct btf_member *m = type && btf_is_composite(type) ? btf_members(type) : NULL;

	for (uint32_t i = 0; m && i < btf_vlen(type); i++) {
		if (m[i].name_off && !strcmp(btf__name_by_offset(btf, m[i].name_off), name))
			return true;
		if (!m[i].name_off && depth && has_member(btf, m[i].type, name, depth - 1))
			return true;
	}
	return false;
}

int kerntypes_has(struct kerntypes *t, const char *name, const char *member)
{
	int id = kerntypes_find(t, name, BTF_KIND_STRUCT);

	if (id == -ENOENT && kerntypes_btf(t, NULL))
		return 0;
	if (id < 0)
		return id;
	return !member || has_member(t->btf, (uint32_t)id, member, MEMBER_DEPTH);
}

static int mark_type(struct excerpt *x, uint32_t id)
{
	if (!id || id >= x->n_types || x->ids[id])
		return 0;
	if (mem_grow(&x->list, &x->cap, x->n, sizeof(*x->list)) < 0)
		return -ENOMEM;
	x->ids[id] = MARKED;
	x->list[x->n++] = id;
	return 0;
}

/* Marks all types with the names of the programs' types. */
static int mark_named(struct excerpt *x, const char *name)
{
	const struct btf_index *in = &x->from->index;
	const struct btf_index_entry *e = btf_index_first(in, name);
	int code = 0;

	for (; !code && e; e = btf_index_next(in, e))
		if (btf_index_is_type(btf__type_by_id(x->from->btf, e->id)))
			code = mark_type(x, e->id);
	return code;
}

static int mark_all_named(struct excerpt *x, const struct btf *programs)
{
	int code = 0;

	for (uint32_t id = 1; !code && id < btf__type_cnt(programs); id++) {
		const struct btf_type *t = btf__type_by_id(programs, id);
		if (btf_index_is_type(t))
			code = mark_named(x, btf__name_by_offset(programs, t->name_off));
	}
	return code;
}

/* Marks the types of the members of @t, but not the targets of pointers. */
static int mark_parts(struct excerpt *x, const struct btf_type *t)
{
	int code = 0;

	if (btf_is_composite(t)) {
		for (uint32_t i = 0; !code && i < btf_vlen(t); i++)
			code = mark_type(x, btf_members(t)[i].type);
	} else if (btf_is_array(t)) {
		code = mark_type(x, btf_array(t)->type);
		code = code ? code : mark_type(x, btf_array(t)->index_type);
	} else if (btf_is_mod(t) || btf_is_typedef(t)) {
		code = mark_type(x, t->type);
	}
	return code;
}

static int copy_types(struct excerpt *x)
{
	for (size_t i = 0; i < x->n; i++) {
		int to = btf__add_type(x->to, x->from->btf,
				       btf__type_by_id(x->from->btf, x->list[i]));
		if (to < 0)
			return to;
		x->ids[x->list[i]] = (uint32_t)to;
	}
	return 0;
}

static uint32_t new_id(const struct excerpt *x, uint32_t id)
{
	return id < x->n_types ? x->ids[id] : 0;
}

/* A copied type still has the old ids of other types. */
static void renumber(const struct excerpt *x, struct btf_type *t)
{
	if (btf_is_composite(t)) {
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			btf_members(t)[i].type = new_id(x, btf_members(t)[i].type);
	} else if (btf_is_array(t)) {
		btf_array(t)->type = new_id(x, btf_array(t)->type);
		btf_array(t)->index_type = new_id(x, btf_array(t)->index_type);
	} else if (btf_is_ptr(t)) {
		t->type = 0;
	} else if (btf_is_mod(t) || btf_is_typedef(t)) {
		t->type = new_id(x, t->type);
	}
}

static int write_out(const struct btf *btf, int fd)
{
	uint32_t size;
	const char *p = btf__raw_data(btf, &size);

	if (!p)
		return -ENOMEM;
	while (size) {
		ssize_t n = write(fd, p, size);
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		size -= (uint32_t)n;
	}
	return 0;
}

static int make_excerpt(struct excerpt *x, const struct btf *programs, int fd)
{
	int code = mark_all_named(x, programs);

	while (!code && x->done < x->n)
		code = mark_parts(x, btf__type_by_id(x->from->btf, x->list[x->done++]));
	code = code ? code : copy_types(x);
	for (uint32_t id = 1; !code && id < btf__type_cnt(x->to); id++)
		renumber(x, (struct btf_type *)(uintptr_t)btf__type_by_id(x->to, id));
	return code ? code : write_out(x->to, fd);
}

int kerntypes_excerpt(struct kerntypes *t, const struct btf *programs, int fd)
{
	struct excerpt x = {.from = t};

	if (!kerntypes_btf(t, NULL))
		return t->why.code;
	x.n_types = btf__type_cnt(t->btf);
	x.ids = mem_calloc(x.n_types, sizeof(*x.ids));
	x.to = btf__new_empty();
	int code = x.ids && x.to ? make_excerpt(&x, programs, fd) : -ENOMEM;
	btf__free(x.to);
	mem_free(x.ids);
	mem_free(x.list);
	return code;
}

int kerntypes_enumerator(struct kerntypes *t, const char *name)
{
	for (size_t i = 0; kerntypes_btf(t, NULL) && i < t->index.n_enums; i++) {
		const struct btf_type *type = btf__type_by_id(t->btf, t->index.enums[i]);
		const struct btf_enum *e = btf_enum(type);
		for (uint32_t k = 0; k < btf_vlen(type); k++)
			if (strcmp(btf__name_by_offset(t->btf, e[k].name_off), name) == 0)
				return e[k].val;
	}
	return 0;
}
