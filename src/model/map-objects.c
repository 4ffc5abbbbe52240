// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that code is mapped from, each once: by name, device and inode. Memory that is no file
 * has a name that says nothing ("//anon", "/memfd:jit"), so it is separated by process. Every
 * process maps the same few libraries, so a file is looked for first where its inode was lately:
 * to hash its name would take most of the time that a mapping takes. A number that is free again is
 * reused as late as possible: a view may still show the object that had it.
 */
#include "kontend/hash.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

/* Versions of spaces differ from those of the table before, for models that use it on. */
static const uint64_t EPOCH_VERSIONS = 1ull << 40;

struct map_objects *map_objects_new(void)
{
	struct map_objects *o = mem_calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->refs = 1;
	if (mem_grow(&o->items, &o->cap, 0, sizeof(*o->items))) {
		mem_free(o);
		return NULL;
	}
	o->items[o->n++] = (struct map_object){.path = ""};
	o->in_use = o->next = 1;
	return o;
}

void map_objects_ref(struct map_objects *o)
{
	o->refs++;
}

void map_objects_unref(struct map_objects *o)
{
	if (!o || --o->refs)
		return;
	strpool_deinit(&o->names);
	map64_deinit(&o->index);
	mem_free(o->items);
	mem_free(o);
}

bool map_is_memory(const char *path)
{
	static const char *const names[] = {"//anon", "/memfd:", "/dev/zero", "/anon_hugepage",
					    "/SYSV",  "[heap]",	 "[stack",    "[anon"};

	if (!path[0])
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (path[0] == names[i][0] && path[1] == names[i][1] &&
		    !strncmp(path, names[i], strlen(names[i])))
			return true;
	return false;
}

/* But for the name, and whose it is. */
static bool is_same_file(const struct map_object *o, const struct event *ev)
{
	return o->ino == ev->mmap.ino && o->maj == ev->mmap.maj && o->min == ev->mmap.min &&
	       o->id_len == ev->mmap.id_len &&
	       (!o->id_len || !memcmp(o->id, ev->mmap.id, o->id_len));
}

static uint32_t *recent_of(struct map_objects *o, const struct event *ev)
{
	return &o->recent[(ev->mmap.ino ^ ev->mmap.ino >> 6) % MAP_RECENT];
}

static uint64_t key_of(const struct event *ev, const char *path, bool memory)
{
	uint64_t key = hash_bytes(hash_u64((uintptr_t)path), ev->mmap.id, ev->mmap.id_len);

	key ^= ev->mmap.ino + ((uint64_t)ev->mmap.maj << 44) + ((uint64_t)ev->mmap.min << 32);
	return memory ? key ^ ((uint64_t)(uint32_t)ev->pid << 20) : key;
}

/* 0: there is none. */
static uint32_t free_number(struct map_objects *o)
{
	if (o->in_use < o->n && o->n >= MAP_NUMBERS) {
		while (o->items[o->next].path)
			o->next = o->next + 1 < o->n ? o->next + 1 : 1;
		o->again++;
		return (uint32_t)o->next;
	}
	if (o->n >= MAP_OBJECTS || mem_grow(&o->items, &o->cap, o->n, sizeof(*o->items)))
		return 0;
	o->items[o->n] = (struct map_object){0};
	return (uint32_t)o->n++;
}

static uint32_t find_object(struct map_objects *o, const struct event *ev, bool memory)
{
	const char *path = strpool_intern(&o->names, ev->mmap.path);
	const uint32_t *known;
	uint64_t key;

	if (!path)
		return 0;
	/* Keys that collide are tried one after the other. */
	for (key = key_of(ev, path, memory); (known = map64_get(&o->index, key)); key++) {
		const struct map_object *at = &o->items[*known];

		if (at->path == path && is_same_file(at, ev) && (!memory || at->pid == ev->pid))
			return *known;
	}
	uint32_t number = free_number(o);
	if (!number || map64_put(&o->index, key, number))
		return 0;
	struct map_object *new = &o->items[number];
	*new = (struct map_object){.path = path,
				   .maj = ev->mmap.maj,
				   .min = ev->mmap.min,
				   .ino = ev->mmap.ino,
				   .pid = ev->pid,
				   .id_len = ev->mmap.id_len,
				   .mapped_ns = ev->time};
	if (ev->mmap.id_len)
		memcpy(new->id, ev->mmap.id, ev->mmap.id_len);
	o->in_use++;
	return number;
}

uint32_t map_objects_find(struct map_objects *o, const struct event *ev, bool memory)
{
	uint32_t *recent = recent_of(o, ev), number;
	const struct map_object *at = &o->items[*recent];

	if (memory)
		number = find_object(o, ev, true);
	else if (*recent && is_same_file(at, ev) && strcmp(at->path, ev->mmap.path) == 0)
		number = *recent;
	else
		number = *recent = find_object(o, ev, false);
	o->items[number].reported = ++o->clock;
	return number;
}

/* Into the same number; the name moves to the table's own. */
static int take_object(struct map_objects *to, const struct map_object *from, uint32_t number)
{
	struct map_object item = *from;
	const struct event like = {.pid = item.pid,
				   .mmap = {.maj = item.maj,
					    .min = item.min,
					    .ino = item.ino,
					    .id_len = item.id_len,
					    .id = item.id}};

	item.path = strpool_intern(&to->names, item.path);
	if (!item.path)
		return -ENOMEM;
	uint64_t key = key_of(&like, item.path, map_is_memory(item.path));
	while (map64_get(&to->index, key))
		key++;
	to->items[number] = item;
	to->in_use++;
	return map64_put(&to->index, key, number);
}

struct map_objects *map_objects_some(const struct map_objects *o, const uint8_t *keep)
{
	struct map_objects *some = map_objects_new();
	struct map_object *items = some ? mem_calloc(o->n, sizeof(*items)) : NULL;
	int code = items ? 0 : -ENOMEM;

	if (items) {
		items[0] = some->items[0];
		mem_free(some->items);
		some->items = items;
		some->n = some->cap = o->n;
		some->next = o->next < o->n ? o->next : 1;
		some->version = o->version + EPOCH_VERSIONS;
		some->clock = o->clock;
		some->epoch = o->epoch + 1;
		some->again = o->again;
	}
	for (uint32_t i = 1; !code && i < o->n; i++)
		if (o->items[i].path && (!keep || keep[i]))
			code = take_object(some, &o->items[i], i);
	if (!code)
		return some;
	map_objects_unref(some);
	return NULL;
}

const struct map_object *map_object_get(const struct map_objects *o, uint32_t index)
{
	return index && index < o->n && o->items[index].path ? &o->items[index] : NULL;
}
