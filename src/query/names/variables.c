// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of the variables that locks of programs are in: the symbol, and from debug information the
 * way from it to the lock, "pool[3].lock". Where the file is not there, or is another one, the
 * recording may have the name, which is stored with its functions.
 */
#include "kontend/asked.h"
#include "kontend/clock.h"
#include "kontend/hash.h"
#include "kontend/locksnap.h"
#include "kontend/maps.h"
#include "kontend/query-load.h"
#include "names.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>

enum { LOOK_MS = 20 };

/* For all names of a report: of locks that are shown later only the place is known. */
static const uint64_t WAIT_NS = 10000000000, SLICE_NS = 100000000;

/* A screen is drawn again when the file has been read; a report waits. True: ask again. */
static bool waits(struct query *q)
{
	uint64_t begun = clock_now_ns(), now = begun;
	bool more = !q->keeps;

	while (more && q->names_waited_ns + (now - begun) < WAIT_NS && !asked_to_end()) {
		struct pollfd p = {.events = POLLIN};

		more = query_load_names(q, SLICE_NS);
		p.fd = query_load_fd(q);
		if (!more && p.fd >= 0) {
			poll(&p, 1, LOOK_MS);
			more = true;
		}
		now = clock_now_ns();
	}
	q->names_waited_ns += now - begun;
	return !q->keeps;
}

static bool file_of(struct query *q, const struct lockname *n, uint32_t *ret)
{
	const struct map_object o = {.path = n->text,
				     .maj = n->dev >> 20,
				     .min = n->dev & 0xfffff,
				     .ino = n->ino,
				     .pid = n->pid};

	/* A file of shared memory has no symbols, and may be on a disk that does not answer. */
	return n->kind == LOCKSNAP_USER && *n->text == '/' && !n->offset &&
	       query_open_names(q) == 0 && engine_file(q->model, &o, q->users, ret) == 0;
}

static bool find_symbol(struct query *q, uint32_t file, uint64_t at, struct usersym *ret)
{
	enum usersym_answer a = usersyms_variable(q->users, file, at, ret);

	if (a == USERSYM_PENDING && waits(q))
		a = usersyms_variable(q->users, file, at, ret);
	q->cache->asked |= a == USERSYM_PENDING;
	return a == USERSYM_OK;
}

/* False: debug information says nothing of it. */
static bool find_member(struct query *q, uint32_t file, uint64_t at, const struct usersym *s,
			struct srclines_member *ret)
{
	enum srclines_answer a = query_member(q, file, at, ret);

	if (a == SRCLINES_PENDING && waits(q))
		a = query_member(q, file, at, ret);
	q->cache->asked |= a == SRCLINES_PENDING;
	/* A symbol that begins elsewhere is another variable. */
	return a == SRCLINES_OK && ret->into == at - s->start;
}

/* "work()::cache.lock" for the symbol "cache.3" of C, a variable within a function. */
static const char *with_function(struct query *q, const char *name, const struct srclines_member *m)
{
	const char *dot = strrchr(name, '.');

	if (!*m->function || !dot || dot == name || !dot[1] ||
	    dot[1 + strspn(dot + 1, "0123456789")])
		return arena_printf(&q->arena, "%s%s", name, m->way);
	return arena_printf(&q->arena, "%s()::%.*s%s", m->function, (int)(dot - name), name,
			    m->way);
}

const char *query_variable(struct query *q, const struct lockname *n, uint32_t *ret_file)
{
	struct srclines_member m;
	struct usersym s;
	uint32_t file;

	if (!file_of(q, n, &file) || !find_symbol(q, file, n->start, &s))
		return recorded_variable(q, n);
	if (ret_file)
		*ret_file = file;
	if (find_member(q, file, n->start, &s, &m))
		return with_function(q, s.name, &m);
	if (n->start == s.start)
		return s.name;
	return arena_printf(&q->arena, "%s+0x%" PRIx64, s.name, n->start - s.start);
}

/* The object as the lock's name has it. Index + 1; 0: no memory. */
static uint32_t object_of(struct query *q, const struct lockname *n, uint32_t file,
			  struct funcsnap *to)
{
	struct funcsnap_object item = {.maj = n->dev >> 20, .min = n->dev & 0xfffff, .ino = n->ino};

	for (size_t i = 0; i < to->n_objects; i++) {
		const struct funcsnap_object *o = &to->objects[i];
		if (o->ino == item.ino && o->maj == item.maj && o->min == item.min &&
		    !strcmp(funcsnap_text(to, o->path), n->text))
			return (uint32_t)i + 1;
	}
	item.id_len = (uint8_t)usersyms_build_id(q->users, file, item.id);
	item.path = funcsnap_add_text(to, n->text);
	return item.path ? funcsnap_add_object(to, &item) : 0;
}

static int add_variable(struct query *q, const struct lockname *n,
			const struct query_functions_limits *l, struct funcsnap *to)
{
	uint64_t key = FUNCSNAP_DATA | hash_u64(n->addr) >> 2;
	uint32_t file = UINT32_MAX;
	struct funcsnap_func f = {.start = FUNCSNAP_DATA | n->start};

	if (l->reported && map64_get(l->reported, key))
		return 0;
	const char *name = query_variable(q, n, &file);
	if (!name || file == UINT32_MAX)
		return 0;
	if (to->n_funcs >= l->functions || to->n_strings >= l->names) {
		to->head.left_names++;
		return 0;
	}
	f.name = funcsnap_add_text(to, name);
	f.object = f.name ? object_of(q, n, file, to) : 0;
	if (!f.object || (l->reported && map64_put(l->reported, key, 1) < 0))
		return -ENOMEM;
	return funcsnap_add_func(to, &f);
}

int query_variables(struct query *q, const struct query_functions_limits *l, struct funcsnap *ret)
{
	const struct lockname_set *s = q->model->lock_names;
	int code = 0;

	for (size_t i = 0; s && code == 0 && i < s->n && !asked_to_end(); i++)
		code = add_variable(q, &s->names[i], l, ret);
	return code;
}
