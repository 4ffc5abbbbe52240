// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cache of symbols: objects (a path, a build id) by hash, each with an image once it is loaded.
 * Images are files by device and inode, so a library that containers know by several paths is read
 * once. A first lookup puts the object into a queue; names are demangled and cleaned at their first
 * lookup.
 */
#include "internal.h"

#include "kontend/clock.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Processes with JIT code that has names, or whose names were searched. */
enum { JITS_MOST = 1 << 15 };

static const char *const reasons[USERSYM_ANSWERS] = {
	[USERSYM_OK] = "known",
	[USERSYM_PENDING] = "not loaded yet",
	[USERSYM_NO_FILE] = "no such file",
	[USERSYM_NO_RIGHT] = "no right to read the file",
	[USERSYM_OTHER_FILE] = "the build id differs from the one recorded",
	[USERSYM_UNSURE] = "recorded elsewhere, without a build id",
	[USERSYM_CHANGED] = "the file has changed since it was recorded",
	[USERSYM_NOT_ELF] = "not an ELF file, or damaged",
	[USERSYM_NO_TABLE] = "stripped, and no separate symbols",
	[USERSYM_NO_SYMBOL] = "no symbol covers it",
	[USERSYM_SLOTS] = "slots of uprobes",
	[USERSYM_MEMORY_GONE] = "not in a file, and no longer in the memory of its process",
	[USERSYM_MEMORY_DENIED] = "not in a file, and no right to read the memory of its process",
	[USERSYM_NO_DESCRIPTOR] = "too many files are open: see ulimit -n",
	[USERSYM_NOT_BELIEVED] = "the file with its names belongs to another user, or is a link",
	[USERSYM_NO_MEMORY] = "out of memory",
};

const char usersym_trusted_note[] = "from the file at that path, trusted by the path alone";

const char *usersym_reason(enum usersym_answer a)
{
	return (unsigned)a < USERSYM_ANSWERS ? reasons[a] : "unknown";
}

int usersyms_new(struct usersyms **ret, const struct usersyms_config *c, struct error *err)
{
	struct usersyms *u = mem_calloc(1, sizeof(*u));

	if (!u)
		return error_enomem(err, "symbols");
	u->config = *c;
	u->config.proc = c->proc ? c->proc : "/proc";
	u->config.debug_root = c->debug_root ? c->debug_root : "/usr/lib/debug";
	u->load.root_fd = -1;
	*ret = u;
	return 0;
}

static void free_image(struct usersym_image *i)
{
	symtab_deinit(&i->table);
	mem_free(i->segments);
	if (i->given >= 0)
		close(i->given);
	mem_free(i);
}

static void forget_jit(struct usersym_jit *j)
{
	symtab_deinit(&j->table);
	jitdump_deinit(&j->dump);
}

void usersyms_free(struct usersyms *u)
{
	if (!u)
		return;
	usersym_load_end(&u->load);
	cachefile_write_end(&u->keeping);
	for (size_t i = 0; i < u->n_objects; i++)
		mem_free(u->objects[i]);
	for (size_t i = 0; i < u->n_images; i++)
		free_image(u->images[i]);
	for (size_t i = 0; i < u->n_jits; i++) {
		forget_jit(u->jits[i]);
		mem_free(u->jits[i]);
	}
	map64_deinit(&u->jit_by_pid);
	mem_free(u->objects);
	mem_free(u->images);
	mem_free(u->jits);
	mem_free(u->queue);
	map64_deinit(&u->by_key);
	strpool_deinit(&u->names);
	mem_free(u);
}

static uint64_t key_of(const struct usersym_object *o)
{
	uint64_t key = hash_bytes(hash_u64((uintptr_t)o->path), o->id, o->id_len);

	return hash_bytes(key, &o->inode, sizeof(o->inode));
}

static struct usersym_object *find_object(struct usersyms *u, const struct usersym_object *like,
					  uint64_t key, uint32_t *ret)
{
	const uint32_t *at = map64_get(&u->by_key, key);

	for (uint32_t i = at ? *at : 0; i; i = u->objects[i - 1]->next) {
		struct usersym_object *o = u->objects[i - 1];
		if (o->path == like->path && o->id_len == like->id_len &&
		    memcmp(o->id, like->id, o->id_len) == 0 &&
		    memcmp(&o->inode, &like->inode, sizeof(o->inode)) == 0) {
			*ret = i - 1;
			return o;
		}
	}
	return NULL;
}

static int add_object(struct usersyms *u, const struct usersym_object *like, uint64_t key)
{
	const uint32_t *at = map64_get(&u->by_key, key);
	struct usersym_object *o = mem_dup(like, 1, sizeof(*like));

	if (!o)
		return -ENOMEM;
	o->next = at ? *at : 0;
	o->answer = USERSYM_PENDING;
	if (mem_grow(&u->objects, &u->cap_objects, u->n_objects, sizeof(struct usersym_object *)) ||
	    map64_put(&u->by_key, key, (uint32_t)u->n_objects + 1)) {
		mem_free(o);
		return -ENOMEM;
	}
	u->objects[u->n_objects++] = o;
	u->fixed_bytes += sizeof(*o);
	return 0;
}

static int object_like(struct usersyms *u, const struct usersym_object *like, uint32_t *ret)
{
	uint64_t key = key_of(like);
	pid_t pid = like->pid;
	uint32_t found;

	struct usersym_object *o = find_object(u, like, key, &found);
	if (!o) {
		int code = add_object(u, like, key);
		*ret = code ? *ret : (uint32_t)u->n_objects - 1;
		return code;
	}
	/* Another process may have the file when the first one has ended. */
	if (pid && pid != o->pid) {
		o->pid = pid;
		if (o->answer == USERSYM_NO_FILE || o->answer == USERSYM_OTHER_FILE ||
		    o->answer == USERSYM_CHANGED || o->answer == USERSYM_NO_DESCRIPTOR) {
			o->answer = USERSYM_PENDING;
			o->asked = false;
		}
	}
	*ret = found;
	return 0;
}

int usersyms_object(struct usersyms *u, const char *path, const uint8_t *build_id,
		    size_t build_id_len, pid_t pid, uint32_t *ret)
{
	struct usersym_object like = {.path = strpool_intern(&u->names, path), .pid = pid};

	if (!like.path)
		return -ENOMEM;
	like.id_len = build_id_len < USERSYM_ID_MAX ? (uint8_t)build_id_len : USERSYM_ID_MAX;
	if (like.id_len)
		memcpy(like.id, build_id, like.id_len);
	return object_like(u, &like, ret);
}

int usersyms_object_at(struct usersyms *u, const char *path, const struct usersym_inode *inode,
		       pid_t pid, uint32_t *ret)
{
	struct usersym_object like = {
		.path = strpool_intern(&u->names, path), .pid = pid, .inode = *inode};

	return like.path ? object_like(u, &like, ret) : -ENOMEM;
}

enum usersym_answer usersym_ask(struct usersyms *u, uint32_t object)
{
	struct usersym_object *o = u->objects[object];

	if (o->asked)
		return USERSYM_PENDING;
	if (mem_grow(&u->queue, &u->cap_queue, u->n_queue, sizeof(*u->queue)) < 0)
		return USERSYM_NO_MEMORY;
	u->queue[u->n_queue++] = object;
	o->asked = true;
	return USERSYM_PENDING;
}

/* Is the image of that object loaded? */
static enum usersym_answer is_loaded(struct usersyms *u, uint32_t object)
{
	struct usersym_object *o = u->objects[object];

	if (o->answer == USERSYM_PENDING)
		return usersym_ask(u, object);
	if (o->answer != USERSYM_OK)
		return o->answer;
	if (o->image->answer == USERSYM_PENDING)
		return usersym_ask(u, object);
	if (o->image->answer != USERSYM_OK)
		return o->image->answer;
	o->image->used = ++u->clock;
	return USERSYM_OK;
}

/* The symbol at virtual address @addr; its start is one, too. */
static enum usersym_answer symbol_at(struct usersyms *u, uint32_t object, uint64_t addr,
				     bool variable, struct usersym *ret)
{
	struct usersym_image *i = u->objects[object]->image;
	const struct symtab_entry *e = symtab_find(&i->table, addr);
	const char *name = e ? symtab_show(&i->table, e, &u->names) : NULL;

	if (symtab_is_damaged(&i->table))
		return symbol_cache_lost(u, object);
	if (!e || e->variable != variable)
		return USERSYM_NO_SYMBOL;
	if (!name)
		return USERSYM_NO_MEMORY;
	*ret = (struct usersym){name, e->addr, e->size};
	return USERSYM_OK;
}

enum usersym_answer usersyms_lookup(struct usersyms *u, uint32_t object, uint64_t file_offset,
				    struct usersym *ret)
{
	enum usersym_answer a = is_loaded(u, object);
	uint64_t addr;

	if (a != USERSYM_OK)
		return a;
	const struct usersym_image *i = u->objects[object]->image;
	if (!elfimg_to_addr(i->segments, i->n_segments, file_offset, &addr))
		return USERSYM_NO_SYMBOL;
	a = symbol_at(u, object, addr, false, ret);
	if (a == USERSYM_OK)
		ret->start = file_offset - (addr - ret->start);
	return a;
}

enum usersym_answer usersyms_data(struct usersyms *u, uint32_t object, uint64_t at, uint64_t *ret)
{
	enum usersym_answer a = is_loaded(u, object);
	uint64_t first;

	if (a != USERSYM_OK)
		return a;
	const struct usersym_image *i = u->objects[object]->image;
	if (!elfimg_to_addr(i->segments, i->n_segments, 0, &first))
		return USERSYM_NO_SYMBOL;
	*ret = at + first;
	return USERSYM_OK;
}

enum usersym_answer usersyms_variable(struct usersyms *u, uint32_t object, uint64_t at,
				      struct usersym *ret)
{
	uint64_t addr;
	enum usersym_answer a = usersyms_data(u, object, at, &addr);

	if (a == USERSYM_OK)
		a = symbol_at(u, object, addr, true, ret);
	if (a == USERSYM_OK)
		ret->start -= addr - at;
	return a;
}

bool usersyms_is_trusted(const struct usersyms *u, uint32_t object)
{
	return u->objects[object]->is_trusted;
}

const char *usersyms_trusted(const struct usersyms *u, size_t *at)
{
	for (; *at < u->n_objects; ++*at)
		if (u->objects[*at]->is_trusted)
			return u->objects[(*at)++]->path;
	return NULL;
}

enum usersym_answer usersyms_address(struct usersyms *u, uint32_t object, uint64_t file_offset,
				     uint64_t *ret)
{
	struct usersym_object *o = u->objects[object];

	if (o->answer == USERSYM_PENDING)
		return usersym_ask(u, object);
	if (o->answer != USERSYM_OK)
		return o->answer;
	return elfimg_to_addr(o->image->segments, o->image->n_segments, file_offset, ret)
		       ? USERSYM_OK
		       : USERSYM_NO_SYMBOL;
}

static void count(struct usersym_wanted *wanted, size_t n, const char *name, uint64_t addr)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(wanted[i].name, name) != 0)
			continue;
		wanted[i].addr = addr;
		wanted[i].n++;
	}
}

enum usersym_answer usersyms_functions(struct usersyms *u, uint32_t object,
				       struct usersym_wanted *wanted, size_t n)
{
	struct usersym_object *o = u->objects[object];

	if (o->answer == USERSYM_PENDING)
		return usersym_ask(u, object);
	if (o->answer != USERSYM_OK || o->image->answer != USERSYM_OK)
		return o->answer != USERSYM_OK ? o->answer : o->image->answer;
	const struct symtab *t = &o->image->table;
	for (size_t i = 0; i < n; i++)
		wanted[i].n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct symtab_entry *e = &t->entries[i];
		const char *name = symtab_name(t, e);
		if (!name)
			return symbol_cache_lost(u, object);
		if (e->variable)
			continue;
		count(wanted, n, name, e->addr);
	}
	return USERSYM_OK;
}

size_t usersyms_build_id(const struct usersyms *u, uint32_t object, uint8_t ret[20])
{
	const struct usersym_object *o = u->objects[object];

	if (o->answer != USERSYM_OK || !o->image->id_len)
		return 0;
	memcpy(ret, o->image->id, o->image->id_len);
	return o->image->id_len;
}

enum usersym_answer usersyms_bytes(struct usersyms *u, uint32_t object, uint64_t file_offset,
				   void *ret, size_t n, size_t *ret_n)
{
	struct elfimg e;
	int root;
	enum usersym_answer a = usersym_open(u, u->objects[object], &e, &root);

	if (a != USERSYM_OK)
		return a;
	uint64_t left = file_offset < e.size ? e.size - file_offset : 0;
	n = left < n ? (size_t)left : n;
	*ret_n = elfimg_read(&e, file_offset, ret, n) ? n : 0;
	elfimg_close(&e);
	if (root >= 0)
		close(root);
	return USERSYM_OK;
}

static void begin_jit(struct usersym_jit *j, pid_t pid)
{
	*j = (struct usersym_jit){.pid = pid, .answer = USERSYM_PENDING, .table = {.latest = true}};
}

/* At the limit, replaces the next process in turn; names already returned stay. */
static struct usersym_jit *reuse_jit(struct usersyms *u, pid_t pid)
{
	size_t turn = u->jit_turn++ % JITS_MOST;
	struct usersym_jit *j = u->jits[turn];

	map64_del(&u->jit_by_pid, (uint64_t)j->pid);
	if (map64_put(&u->jit_by_pid, (uint64_t)pid, (uint32_t)turn + 1) < 0)
		return NULL;
	forget_jit(j);
	begin_jit(j, pid);
	return j;
}

struct usersym_jit *usersym_jit_of(struct usersyms *u, pid_t pid)
{
	const uint32_t *known = map64_get(&u->jit_by_pid, (uint64_t)pid);

	if (known)
		return u->jits[*known - 1];
	if (u->n_jits == JITS_MOST)
		return reuse_jit(u, pid);
	if (mem_grow(&u->jits, &u->cap_jits, u->n_jits, sizeof(struct usersym_jit *)) < 0)
		return NULL;
	struct usersym_jit *j = mem_calloc(1, sizeof(*j));
	if (!j || map64_put(&u->jit_by_pid, (uint64_t)pid, (uint32_t)u->n_jits + 1) < 0) {
		mem_free(j);
		return NULL;
	}
	begin_jit(j, pid);
	u->jits[u->n_jits++] = j;
	return j;
}

int usersyms_jitdump(struct usersyms *u, pid_t pid, const char *path)
{
	struct usersym_jit *j = usersym_jit_of(u, pid);
	const char *own = strpool_intern(&u->names, path);

	if (!j || !own)
		return -ENOMEM;
	j->asked |= j->dump_path != own;
	u->jit_asked |= j->asked;
	j->dump_path = own;
	return 0;
}

enum usersym_answer usersyms_lookup_jit(struct usersyms *u, pid_t pid, uint64_t addr,
					struct usersym *ret)
{
	struct usersym_jit *j = usersym_jit_of(u, pid);
	const struct symtab_entry *e = j ? symtab_find(&j->table, addr) : NULL;

	if (!j)
		return USERSYM_NO_MEMORY;
	if (!e) {
		/* The map grows while its process runs. */
		j->asked = true;
		u->jit_asked = true;
		return j->answer == USERSYM_OK ? USERSYM_NO_SYMBOL : j->answer;
	}
	const char *name = symtab_show(&j->table, e, &u->names);
	j->used = ++u->clock;
	if (!name)
		return USERSYM_NO_MEMORY;
	*ret = (struct usersym){name, e->addr, e->size};
	return USERSYM_OK;
}

/* Does one step. False: nothing to do. */
static bool symbols_step(struct usersyms *u, bool *ret_changed)
{
	if (u->load.object) {
		u->grown = true;
		*ret_changed |= !usersym_load_step(u);
		return true;
	}
	if (u->head < u->n_queue) {
		struct usersym_object *o = u->objects[u->queue[u->head++]];
		if (u->head == u->n_queue)
			u->head = u->n_queue = 0;
		*ret_changed |= !usersym_load_begin(u, o);
		return true;
	}
	uint64_t now = u->jit_asked ? clock_now_ns() : 0;
	bool later = false;
	for (size_t i = 0; u->jit_asked && i < u->n_jits; i++) {
		bool due = u->jits[i]->asked && now >= u->jits[i]->next_ns;
		later |= u->jits[i]->asked && !due;
		if (!due)
			continue;
		u->jits[i]->asked = false;
		u->grown = true;
		*ret_changed |= usersym_jit_load(u, u->jits[i]);
		return true;
	}
	u->jit_asked = later;
	return symbol_cache_step(u);
}

const char *usersyms_note(struct usersyms *u)
{
	bool again = u->noted;

	u->noted |= *u->note;
	return *u->note && !again ? u->note : NULL;
}

bool usersyms_load_some(struct usersyms *u, uint64_t budget_ns, bool *ret_changed)
{
	uint64_t begun = clock_now_ns();
	bool changed = false, more;

	do {
		more = symbols_step(u, &changed);
	} while (more && clock_now_ns() - begun < budget_ns);
	if (ret_changed)
		*ret_changed = changed;
	return more;
}
