// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of functions in programs. Their files are loaded in steps, between which a screen is drawn:
 * until then all functions of a file are one, "(loading)"; when names have come, those that were
 * cached are forgotten. Where a file is not there, or is another one, the recording may have the
 * name. If neither has a name, each address is a function, "object+0xoffset", as in perf.
 */
#include "names.h"

#include "kontend/asked.h"
#include "kontend/buildids.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/snapshot.h"
#include "kontend/text.h"
#include "kontend/unwind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Time for which names are loaded before checking whether the user wants to quit. */
static const uint64_t SLICE_NS = 100000000;

static int open_names(struct query *q)
{
	struct usersyms_config c = engine_files(q->engine, q->model);
	struct error err;

	c.keep = q->engine->keep_symbols;
	c.tables_most = q->engine->symbols_most;
	return usersyms_new(&q->users, &c, &err);
}

int query_open_names(struct query *q)
{
	return q->users ? 0 : open_names(q);
}

/* "jit-123.dump": a compiler maps it only to be seen here. */
static bool is_jitdump(const char *path)
{
	const char *name = strrchr(path, '/');
	int end = 0;

	if (!name || strncmp(name, "/jit-", 5) != 0)
		return false;
	return sscanf(name, "/jit-%*u.dump%n", &end) == 0 && end && !name[end];
}

/* The numbers of the objects that there are now. */
static struct map_numbers *files_now(struct query *q)
{
	const struct snapshot *ids = snapshot_set_get(q->model->snapshots, SNAPSHOT_BUILD_IDS);
	bool renewed = map_numbers_renew(&q->files, q->model->profile->spaces.objects);

	if (!renewed && q->file_ids == ids)
		return &q->files;
	map_numbers_forget(&q->files);
	q->file_ids = ids;
	q->jitdumps_seen = 0;
	return &q->files;
}

static enum usersym_answer ask_jit(struct query *q, const struct map_object *o, uint64_t addr,
				   struct usersym *ret)
{
	const struct map_objects *all = q->model->profile->spaces.objects;

	files_now(q);
	for (; q->jitdumps_seen < all->n; q->jitdumps_seen++) {
		const struct map_object *x = map_object_get(all, (uint32_t)q->jitdumps_seen);
		if (x && is_jitdump(x->path) && usersyms_jitdump(q->users, x->pid, x->path) < 0)
			return USERSYM_NO_MEMORY;
	}
	return usersyms_lookup_jit(q->users, o->pid, addr, ret);
}

/* The recorded build id, if there is one, shows whether a file is the right one. 0 or -ENOMEM. */
static int file_of(struct query *q, uint32_t index, const struct map_object *o, uint32_t *ret)
{
	const struct map_objects *objects = q->model->profile->spaces.objects;
	uint32_t *number = map_numbers_at(files_now(q), objects, index);

	if (!number)
		return -ENOMEM;
	if (!*number) {
		if (engine_file(q->model, o, q->users, ret) < 0)
			return -ENOMEM;
		*number = *ret + 1;
	}
	*ret = *number - 1;
	return 0;
}

int query_user_file(struct query *q, uint64_t frame, uint32_t *ret)
{
	const struct map_objects *objects = q->model->profile->spaces.objects;
	const struct map_object *o = map_object_get(objects, map_frame_object(frame));

	if (map_frame_is_kernel(frame) || !o || map_is_memory(o->path))
		return -ENOENT;
	return query_open_names(q) < 0 ? -ENOMEM : file_of(q, map_frame_object(frame), o, ret);
}

/*
 * For files that only export names, or have none, a debug file that the user asks for knows more.
 */
static void want_debug(struct query *q, uint64_t frame, uint32_t file)
{
	const struct srclines_place *p;
	const char *why;

	if (q->engine->lines && q->engine->lines->fetch_argv && usersyms_is_poor(q->users, file))
		query_place(q, frame, false, &p, &why);
}

enum usersym_answer query_user_symbol(struct query *q, uint64_t frame, struct usersym *ret)
{
	const struct map_objects *objects = q->model->profile->spaces.objects;
	const struct map_object *o = map_object_get(objects, map_frame_object(frame));
	uint32_t file;

	if (!o)
		return USERSYM_NO_FILE;
	if (query_open_names(q) < 0)
		return USERSYM_NO_MEMORY;
	if (map_is_memory(o->path))
		return ask_jit(q, o, map_frame_offset(frame), ret);
	if (file_of(q, map_frame_object(frame), o, &file) < 0)
		return USERSYM_NO_MEMORY;
	want_debug(q, frame, file);
	return usersyms_lookup(q->users, file, map_frame_offset(frame), ret);
}

size_t query_user_build_id(struct query *q, uint32_t object, uint8_t ret[20])
{
	const struct map_object *o = map_object_get(q->model->profile->spaces.objects, object);
	uint32_t file;

	if (!o || map_is_memory(o->path) || !q->users || file_of(q, object, o, &file) < 0)
		return 0;
	return usersyms_build_id(q->users, file, ret);
}

static uint32_t func_of(struct query *q, uint64_t start, const char *name, const char *object)
{
	const uint32_t *known = map64_get(&q->cache->by_addr, start);

	return known ? *known : query_func_add(q, start, name, object);
}

/* These answers are about all of an object: one function, at the last byte of the object. */
static bool is_of_object(enum usersym_answer a)
{
	return a == USERSYM_PENDING || a == USERSYM_SLOTS || a == USERSYM_NO_MEMORY;
}

/* Functions without a name are looked up each time, as a name may come. */
static uint32_t without_name(struct query *q, uint64_t frame, enum usersym_answer a,
			     const char *object)
{
	uint64_t start = frame | ((1ull << MAP_OFFSET_BITS) - 1);

	q->cache->asked |= a == USERSYM_PENDING;
	if (!is_of_object(a))
		return query_func_unnamed(q, frame, object, usersym_reason(a));
	start -= (uint64_t)a;
	const uint32_t *known = map64_get(&q->cache->by_addr, start);
	if (known)
		return *known;
	const char *name = arena_printf(&q->cache->text, "(%s)",
					a == USERSYM_PENDING ? "loading" : usersym_reason(a));
	uint32_t func = name ? query_func_add(q, start, name, object) : 0;
	if (func)
		q->cache->funcs[func].unnamed = usersym_reason(a);
	return func;
}

/* "[stack dump ends]": a frame like others, of no object. */
static uint32_t mark_func(struct query *q, uint64_t frame)
{
	const uint32_t *known = map64_get(&q->cache->by_addr, frame);
	enum unwind_end why = (enum unwind_end)map_frame_offset(frame);

	if (known)
		return *known;
	if (map_frame_offset(frame) == MAP_MARK_ENDED)
		return query_func_add(q, frame, "[not kept]", "[ended programs]");
	if (map_frame_offset(frame) == MAP_MARK_DEFERRED)
		return query_func_add(q, frame, "[user part missing]", "[unknown]");
	if (map_frame_offset(frame) == MAP_MARK_SAVED)
		return query_func_add(q, frame, "[user part not taken]", "[unknown]");
	if (map_frame_offset(frame) == MAP_MARK_SOON)
		return query_func_add(q, frame, "[caller not read yet]", "[unknown]");
	if (map_frame_offset(frame) == MAP_MARK_MOST)
		return query_func_add(q, frame, "[more callers]", "[unknown]");
	if (map_frame_offset(frame) == MAP_MARK_UNMAPPED)
		return query_func_add(q, frame, "[caller not known]", "[unknown]");
	const char *name = arena_printf(&q->cache->text, "[%s]", unwind_reason(why));

	return name ? query_func_add(q, frame, name, "[unknown]") : 0;
}

/* All lines of it are one function. */
static uint32_t code_func(struct query *q, uint64_t frame)
{
	const struct code *c = codes_get(q->model->profile->codes, frame);
	uint64_t start = frame & ~(uint64_t)MAP_LINES;
	const uint32_t *known = map64_get(&q->cache->by_addr, start);
	size_t name_room = c ? strlen(c->function) + 1 : 0, file_room = c ? strlen(c->file) + 1 : 0;
	char *name = c && !known ? arena_alloc(&q->cache->text, name_room) : NULL;
	char *file = name ? arena_alloc(&q->cache->text, file_room) : NULL;

	if (known)
		return *known;
	q->cache->failed |= c && !file;
	return file ? query_func_add(q, start, text_clean(name, name_room, c->function),
				     text_clean(file, file_room, c->file))
		    : 0;
}

static uint32_t recorded(struct query *q, uint64_t base, const struct funcsnap_func *f,
			 const char *object)
{
	const char *name = arena_printf(&q->cache->text, "%s", recorded_name(q, f));
	uint32_t func = name ? func_of(q, base | f->start, name, object) : 0;

	q->cache->failed |= !name;
	if (func)
		q->cache->funcs[func].recorded = true;
	return func;
}

static bool is_trusted(struct query *q, uint64_t frame, const struct map_object *o)
{
	uint32_t file;

	return !map_is_memory(o->path) && file_of(q, map_frame_object(frame), o, &file) == 0 &&
	       usersyms_is_trusted(q->users, file);
}

uint32_t query_user_func(struct query *q, uint64_t frame)
{
	const struct map_objects *objects = q->model->profile->spaces.objects;
	const struct map_object *o = map_object_get(objects, map_frame_object(frame));
	uint64_t base = frame & ~((1ull << MAP_OFFSET_BITS) - 1);
	struct usersym sym;

	if (map_frame_is_mark(frame))
		return mark_func(q, frame);
	if (map_frame_is_code(frame))
		return code_func(q, frame);
	if (!o)
		return func_of(q, base, "(no mapping)", "[unknown]");
	enum usersym_answer a = query_user_symbol(q, frame, &sym);
	if (a == USERSYM_NO_MEMORY)
		q->cache->failed = true;
	const struct funcsnap_func *f =
		a == USERSYM_OK || a == USERSYM_PENDING ? NULL : recorded_func(q, frame);
	if (a != USERSYM_OK && !f)
		return without_name(q, frame, a, o->path);
	uint32_t func =
		f ? recorded(q, base, f, o->path) : func_of(q, base | sym.start, sym.name, o->path);
	if (func && map64_put(&q->cache->by_addr, frame, func) < 0)
		q->cache->failed = true;
	if (func && !f)
		q->cache->funcs[func].trusted = is_trusted(q, frame, o);
	return func;
}

enum usersym_answer query_user_bytes(struct query *q, uint64_t start, void *ret, size_t n,
				     size_t *ret_n, const char **ret_path)
{
	const struct map_objects *objects = q->model->profile->spaces.objects;
	const struct map_object *o = map_object_get(objects, map_frame_object(start));
	struct usersym sym;
	uint32_t file;

	if (!o)
		return USERSYM_NO_FILE;
	enum usersym_answer a = query_user_symbol(q, start, &sym);
	if (a != USERSYM_OK)
		return a;
	if (map_is_memory(o->path))
		return usersyms_bytes_jit(q->users, o->pid, sym.start, ret,
					  sym.size < n ? sym.size : n, ret_n, ret_path);
	if (file_of(q, map_frame_object(start), o, &file) < 0)
		return USERSYM_NO_MEMORY;
	*ret_path = o->path;
	return usersyms_bytes(q->users, file, sym.start, ret, sym.size < n ? sym.size : n, ret_n);
}

/* All begins again: no answer is valid any more, and numbers of files are asked for again. */
static void renew_users(struct query *q)
{
	uint64_t dropped = usersyms_dropped(q->users);

	query_users_deinit(q);
	map_numbers_forget(&q->files);
	q->symbols_dropped += dropped + 1;
	q->cache->valid = false;
}

void query_users_tidy(struct query *q)
{
	if (q->users && usersyms_is_worn(q->users))
		renew_users(q);
	if (q->users)
		usersyms_tidy(q->users);
	if (q->lines)
		srclines_tidy(q->lines);
}

/* True: there is more to do at once. */
static bool load_some(struct query *q, uint64_t budget_ns, bool *ret_changed)
{
	bool names = false, lines = false, more = false;

	if (q->users)
		more = usersyms_load_some(q->users, budget_ns, &names);
	if (q->lines)
		more |= srclines_pump(q->lines, budget_ns, &lines);
	if (names)
		q->cache->valid = false;
	q->n_lines += lines;
	*ret_changed |= names || lines;
	return more;
}

bool query_load_names(struct query *q, uint64_t budget_ns)
{
	bool changed = false, more = load_some(q, budget_ns, &changed);

	return more || changed;
}

bool query_load_asked(struct query *q)
{
	bool asked = q->cache->asked;

	q->cache->asked = false;
	return asked;
}

int query_load_fd(const struct query *q)
{
	return q->lines ? srclines_fd(q->lines) : -1;
}

bool query_load_wait(struct query *q, uint64_t most_ns)
{
	bool changed = false;

	while (!asked_to_end() && load_some(q, SLICE_NS, &changed))
		;
	if (q->lines)
		changed |= srclines_wait(q->lines, most_ns);
	return changed && !asked_to_end();
}

bool query_load_again(struct query *q)
{
	return query_load_asked(q) && query_load_wait(q, QUERY_WAIT_NS);
}

const char *query_load_note(struct query *q)
{
	return q->users ? usersyms_note(q->users) : NULL;
}

const char *query_load_trusted(const struct query *q, size_t *at)
{
	return q->users ? usersyms_trusted(q->users, at) : NULL;
}

uint64_t query_load_dropped(const struct query *q)
{
	return q->symbols_dropped + (q->users ? usersyms_dropped(q->users) : 0);
}

size_t query_load_n_trusted(const struct query *q)
{
	size_t at = 0, n = 0;

	while (query_load_trusted(q, &at))
		n++;
	return n;
}

void query_users_deinit(struct query *q)
{
	query_lines_deinit(q);
	usersyms_free(q->users);
	q->users = NULL;
	map_numbers_deinit(&q->files);
	map64_deinit(&q->ends.by_end);
	query_steady_deinit(q);
	q->ends.n = 0;
	q->jitdumps_seen = 0;
}
