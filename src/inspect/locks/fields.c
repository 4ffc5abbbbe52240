// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the objects that contain locks. For a lock that is new user space makes candidates by the
 * types of the kernel (fields-types.c), and a BPF program has each of them prove what it is. Those
 * that were found are proved again in each snapshot: the memory of a freed object is soon that of
 * another one. A lock that was searched in vain is searched again with all others, now and then.
 */
#include "fields.h"
#include "bpf-run.h"
#include "btf/types.h"
#include "fields-shared.h"
#include "internal.h"
#include "kontend/mem.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char fields_object[], fields_object_end[];

enum { KNOWN_MOST = 1024 };

struct fields {
	struct bpf_object *object;
	struct raw_fields_state *state;
	struct raw_candidate *candidates;
	struct bpf_run_part found_part;
	struct field_members members;
	struct bpf_map *by_base;
	int read_fields, find_tasks, find_files;
	bool knows_slabs;
	struct field_names names;
	struct raw_candidate known[KNOWN_MOST]; /* with what they were when they were found */
	size_t n_known;
	struct map64 at; /* lock -> index of `known` */
	uint64_t ended[KNOWN_MOST];
	struct found {
		struct raw_candidate candidate;
		struct raw_field field;
	} * found; /* by the last search */
	size_t n_found, cap_found;
};

static int open_parts(struct fields *f, struct error *err)
{
	const int rw = PROT_READ | PROT_WRITE;

	f->state = bpf_run_map(f->object, ".bss", sizeof(*f->state), rw, err);
	f->candidates = bpf_run_map(f->object, "candidates",
				    RAW_CANDIDATES * sizeof(*f->candidates), rw, err);
	if (!f->state || !f->candidates)
		return err->code;
	f->by_base = bpf_object__find_map_by_name(f->object, "by_base");
	f->read_fields = bpf_run_program(f->object, "read_fields", err);
	f->find_tasks = f->read_fields < 0 ? -1 : bpf_run_program(f->object, "find_tasks", err);
	f->find_files = f->find_tasks < 0 ? -1 : bpf_run_program(f->object, "find_files", err);
	if (f->find_files < 0)
		return err->code;
	return bpf_run_part_open(&f->found_part, f->object, "fields", sizeof(struct raw_field),
				 RAW_FIELDS, err);
}

int fields_new(struct fields **ret, struct kerntypes *types, bool slabs, struct error *err)
{
	struct fields *f = mem_calloc(1, sizeof(*f));
	struct raw_fields_config config = {.self = (unsigned int)getpid()};
	struct bpf_run_file file = {
		.bytes = fields_object,
		.len = (size_t)(fields_object_end - fields_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};

	if (!f)
		return error_enomem(err, "finding the objects of locks");
	f->knows_slabs = slabs;
	f->names.mountinfo = "/proc/self/mountinfo";
	f->names.sys = "/sys";
	int code = ns_own(&config.ns, types, err);
	code = code < 0 ? code : bpf_run_load(&f->object, &file, err);
	code = code < 0 ? code : open_parts(f, err);
	if (code == 0 && field_members_read(&f->members, types) < 0)
		code = error_enomem(err, "the locks in the kernel's types");
	if (code < 0) {
		fields_free(f);
		return code;
	}
	*ret = f;
	return 0;
}

static int run(struct fields *f, size_t n, bool brief)
{
	f->state->n = (unsigned int)n;
	f->state->found = 0;
	f->state->brief = brief;
	return n ? bpf_run_once(f->read_fields, -1) : 0;
}

static bool is_same(const struct raw_lock_file *a, const struct raw_lock_file *b)
{
	return a->ino == b->ino && a->generation == b->generation && a->dev == b->dev;
}

/* Moves the last one into its place. */
static void forget(struct fields *f, size_t i)
{
	map64_del(&f->at, f->known[i].addr);
	f->known[i] = f->known[--f->n_known];
	if (i < f->n_known)
		/* The key exists, so no memory is needed. */
		(void)map64_put(&f->at, f->known[i].addr, (uint32_t)i);
}

int fields_check(struct fields *f, const uint64_t **ret)
{
	int n = 0;

	memcpy(f->candidates, f->known, f->n_known * sizeof(*f->known));
	int code = run(f, f->n_known, true);
	*ret = f->ended;
	for (size_t i = code < 0 ? 0 : f->n_known; i-- > 0;) {
		if (is_same(&f->candidates[i].id, &f->known[i].id))
			continue;
		f->ended[n++] = f->known[i].addr;
		forget(f, i);
	}
	return code < 0 ? code : n;
}

static void keep(struct fields *f, const struct raw_candidate *c)
{
	const uint32_t *at = map64_get(&f->at, c->addr);
	size_t i = at ? *at : f->n_known;

	/* Names are searched again now and then, and are added again. */
	if (i == KNOWN_MOST) {
		map64_clear(&f->at);
		f->n_known = i = 0;
	}
	if (!at && map64_put(&f->at, c->addr, (uint32_t)i) < 0)
		return;
	f->known[i] = *c;
	f->n_known += i == f->n_known;
}

/* The program that finds the owner of an object that does not lead to it; -1: the object does. */
static int finder_of(const struct fields *f, uint32_t type)
{
	if (type == RAW_F_SIGHAND || type == RAW_F_FILES)
		return f->find_tasks;
	return field_is_walked(type) ? f->find_files : -1;
}

/* Candidates of several types may be at one address: the map has the first of them. */
static void take_via(struct fields *f, struct raw_candidate *c, size_t n)
{
	uint32_t i;

	if (bpf_map__lookup_elem(f->by_base, &c->base, sizeof(c->base), &i, sizeof(i), 0) < 0 ||
	    i >= n)
		return;
	c->via = f->candidates[i].via;
	c->who = f->candidates[i].who;
}

/* One walk for all candidates that it may find. */
static int find_those(struct fields *f, size_t n, int finder)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		const struct raw_candidate *c = &f->candidates[i];
		if (finder_of(f, c->type) == finder)
			any |= bpf_map__update_elem(f->by_base, &c->base, sizeof(c->base), &i,
						    sizeof(i), BPF_NOEXIST) == 0;
	}
	int code = any ? bpf_run_once(finder, -1) : 0;
	for (uint32_t i = 0; any && i < n; i++)
		if (finder_of(f, f->candidates[i].type) == finder)
			take_via(f, &f->candidates[i], n);
	for (uint32_t i = 0; any && i < n; i++)
		if (finder_of(f, f->candidates[i].type) == finder)
			bpf_map__delete_elem(f->by_base, &f->candidates[i].base,
					     sizeof(f->candidates[i].base), 0);
	return code;
}

static int find_vias(struct fields *f, size_t n)
{
	int code = find_those(f, n, f->find_tasks);

	return code < 0 ? code : find_those(f, n, f->find_files);
}

static int take_found(struct fields *f, size_t n, struct raw_lock *locks)
{
	const struct raw_field *fields = bpf_run_part_read(&f->found_part, f->state->found);

	if (!fields)
		return -errno;
	for (size_t i = 0; i < n; i++) {
		const struct raw_candidate *c = &f->candidates[i];
		if (!c->field || c->field > RAW_FIELDS || !c->id.ino || locks[c->lock].named ||
		    !field_fits(&f->members.members[c->member], &fields[c->field - 1]))
			continue;
		if (mem_grow(&f->found, &f->cap_found, f->n_found, sizeof(*f->found)) < 0)
			return -ENOMEM;
		f->found[f->n_found++] = (struct found){*c, fields[c->field - 1]};
		locks[c->lock].named = 1;
		keep(f, c);
	}
	return 0;
}

static int search(struct fields *f, size_t n, bool walked, struct raw_lock *locks)
{
	int code = walked ? find_vias(f, n) : 0;

	code = code < 0 ? code : run(f, n, false);
	return code < 0 ? code : take_found(f, n, locks);
}

/* In objects that are found by a walk, or in others. */
static int find_in(struct fields *f, bool walked, struct raw_lock *locks, size_t n)
{
	size_t candidates = 0;
	int code = 0;

	for (size_t i = 0; code == 0 && i < n; i++) {
		struct raw_lock *l = &locks[i];
		if (l->named || l->map_id || l->searched)
			continue;
		/* There is room for those of any lock. */
		if (candidates + f->members.n > RAW_CANDIDATES) {
			code = search(f, candidates, walked, locks);
			candidates = 0;
		}
		size_t from = candidates;
		candidates += field_candidates(&f->members, l, f->knows_slabs, walked,
					       f->candidates + from, RAW_CANDIDATES - from);
		for (size_t k = from; k < candidates; k++)
			f->candidates[k].lock = (uint32_t)i;
	}
	return code < 0 ? code : search(f, candidates, walked, locks);
}

/* Walks take long, and so are made for the locks that are left. */
int fields_find(struct fields *f, struct raw_lock *locks, size_t n)
{
	f->n_found = 0;
	f->names.mounts_known = false;
	int code = find_in(f, false, locks, n);
	return code < 0 ? code : find_in(f, true, locks, n);
}

int fields_put(struct fields *f, struct locksnap *s)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < f->n_found; i++) {
		const struct raw_candidate *c = &f->found[i].candidate;
		code = field_fill(&f->members.members[c->member], c, &f->found[i].field, &f->names,
				  s);
	}
	return code;
}

bool fields_by_cache(const struct fields *f, const struct raw_lock *l, struct locksnap *s,
		     struct locksnap_name *ret)
{
	const struct field_member *m = field_by_cache(&f->members, l);

	if (!m)
		return false;
	ret->kind = LOCKSNAP_OBJECT;
	ret->what = snapshot_locks_add_text(s, m->name, sizeof(m->name));
	ret->site = snapshot_locks_add_text(s, m->type->type, strlen(m->type->type));
	return true;
}

void fields_free(struct fields *f)
{
	if (!f)
		return;
	bpf_run_unmap(f->state, sizeof(*f->state));
	bpf_run_unmap(f->candidates, RAW_CANDIDATES * sizeof(*f->candidates));
	bpf_run_part_close(&f->found_part);
	bpf_object__close(f->object);
	field_members_deinit(&f->members);
	mounts_deinit(&f->names.mounts);
	map64_deinit(&f->at);
	mem_free(f->found);
	mem_free(f);
}
