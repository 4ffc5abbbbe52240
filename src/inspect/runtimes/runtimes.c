// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which runtime a process has, by its mapped files and their exported symbols. To read mappings and
 * symbols is expensive, so both are kept: symbols by file, runtimes by process. A process without a
 * runtime may load one later, and is looked at again now and then.
 */
#include "../locks/files.h"
#include "../locks/users-process.h"
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"
#include "kontend/file-access.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/number.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 32, KNOWN_MOST = 1 << 14, KEPT = 8 };
static const uint64_t AGAIN_NS = 30000000000ull;

/* A file with the symbols of a runtime, or without them. */
struct file {
	const struct runtime_type *type;
	uint64_t hash; /* of path, device and inode; 0: free */
	bool has;
	uint64_t symbols[RUNTIME_SYMBOLS], code_size;
};

/* Data that a type keeps of a process. */
struct kept {
	int32_t pid; /* 0: free */
	uint64_t space;
	void *data;
};

struct runtimes {
	_Atomic unsigned refs;
	_Atomic uint64_t once_ns;
	pthread_mutex_t mutex; /* of all below; not kept while anything is read */
	struct file files[FILES];
	size_t next_file;
	struct runtime *known;
	size_t n_known, cap_known;
	struct map64 at; /* key_of() -> index */
	struct kept kept[KEPT];
	size_t next_kept;
};

static const struct runtime_type *const types[] = {&runtime_postgres, &runtime_python,
						   &runtime_java, &runtime_libc};

struct runtimes *runtimes_new(void)
{
	struct runtimes *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->refs = 1;
	pthread_mutex_init(&r->mutex, NULL);
	return r;
}

struct runtimes *runtimes_ref(struct runtimes *r)
{
	atomic_fetch_add(&r->refs, 1);
	return r;
}

void runtimes_unref(struct runtimes *r)
{
	if (!r || atomic_fetch_sub(&r->refs, 1) > 1)
		return;
	pthread_mutex_destroy(&r->mutex);
	for (size_t i = 0; i < KEPT; i++)
		mem_free(r->kept[i].data);
	map64_deinit(&r->at);
	mem_free(r->known);
	mem_free(r);
}

/* "python3.11", "libpython3.11.so.1.0", "postgres (deleted)"; not "postgresql-tool". */
static bool is_named(const char *base, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n && !strncmp(base, name, n) && (!base[n] || strchr(" .0123456789", base[n]));
}

static const struct runtime_type *type_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; slash && i < sizeof(types) / sizeof(*types); i++)
		if (is_named(slash + 1, types[i]->program) ||
		    is_named(slash + 1, types[i]->library))
			return types[i];
	return NULL;
}

static bool find_file(struct runtimes *r, uint64_t hash, struct file *ret)
{
	bool found = false;

	pthread_mutex_lock(&r->mutex);
	for (size_t i = 0; !found && i < FILES; i++) {
		found = r->files[i].hash == hash;
		if (found)
			*ret = r->files[i];
	}
	pthread_mutex_unlock(&r->mutex);
	return found;
}

static void keep_file(struct runtimes *r, const struct file *f)
{
	pthread_mutex_lock(&r->mutex);
	r->files[r->next_file++ % FILES] = *f;
	pthread_mutex_unlock(&r->mutex);
}

/* The symbols of the file of @m, which looks like one of that type. */
static bool read_file(struct runtimes *r, const struct runtime_process *p,
		      const struct users_mapping *m, const struct runtime_type *type,
		      struct file *ret)
{
	uint64_t hash = hash_add(hash_text(HASH_START, m->path), m->ino);
	bool deleted = false;

	hash = hash_add(hash, m->major << 32 | m->minor) | 1;
	if (find_file(r, hash, ret))
		return ret->has;
	*ret = (struct file){.type = type, .hash = hash};
	int fd = file_access_mapped(NULL, p->proc, p->pid, m->path, &deleted);
	if (fd < 0)
		return false;
	ret->has = runtime_symbols(fd, type, ret->symbols, &ret->code_size);
	keep_file(r, ret);
	return ret->has;
}

static bool is_library(const struct runtime_type *type)
{
	return type->name;
}

/* The first mapping of a file that has all symbols of its type. */
static void find_type(struct runtimes *r, const struct runtime_process *p, struct runtime *ret)
{
	size_t len = 0;
	const char *maps = p->maps(p->arg, &len);
	struct users_mapping m;
	struct file f;

	for (size_t at = 0; maps && at < len; at += strlen(maps + at) + 1) {
		if (!users_mapping_take(maps + at, &m) || m.offset)
			continue;
		const struct runtime_type *type = type_of(m.path);
		if (!type || is_library(type) != ret->is_library || !read_file(r, p, &m, type, &f))
			continue;
		for (size_t i = 0; i < RUNTIME_SYMBOLS; i++)
			ret->symbols[i] = f.symbols[i] ? f.symbols[i] + m.from : 0;
		ret->code_size = f.code_size;
		ret->type = type;
		return;
	}
}

/* The number in the status of a process after @word: the last one of its line. */
static int32_t status_number(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	uint64_t number = 0;

	for (at = at ? at + strlen(word) : NULL; at && *at == '\t';) {
		at++;
		if (number_take(&at, INT_MAX, &number) < 0)
			break;
	}
	return (int32_t)number;
}

static void read_numbers(const struct runtime_process *p, struct runtime *ret)
{
	char path[PATH_MAX], *text;
	size_t len;

	ret->ticks = files_process(p->proc, p->pid).ticks;
	snprintf(path, sizeof(path), "%s/%d/status", p->proc, p->pid);
	if (fdio_read_file(path, &text, &len) < 0)
		return;
	ret->parent = status_number(text, "\nPPid:");
	ret->inner = status_number(text, "\nNSpid:");
	mem_free(text);
}

static void detect(struct runtimes *r, const struct runtime_process *p, bool library,
		   struct runtime *ret)
{
	uint64_t from = clock_now_ns();

	*ret = (struct runtime){.pid = p->pid, .space = p->space, .is_library = library};
	find_type(r, p, ret);
	if (ret->type) {
		read_numbers(p, ret);
		if (!ret->type->open(p, ret))
			ret->type = NULL;
	}
	ret->again_ns = clock_now_ns() + AGAIN_NS;
	atomic_fetch_add(&r->once_ns, clock_now_ns() - from);
}

uint64_t runtimes_take_once_ns(struct runtimes *r)
{
	return atomic_exchange(&r->once_ns, 0);
}

static uint64_t key_of(int32_t pid, bool library)
{
	return (uint64_t)library << 32 | (uint32_t)pid;
}

static bool find_known(struct runtimes *r, const struct runtime_process *p, bool library,
		       struct runtime *ret)
{
	bool found = false;

	pthread_mutex_lock(&r->mutex);
	const uint32_t *i = map64_get(&r->at, key_of(p->pid, library));
	if (i) {
		*ret = r->known[*i];
		found = ret->space == p->space && (ret->type || clock_now_ns() < ret->again_ns);
	}
	pthread_mutex_unlock(&r->mutex);
	return found;
}

/* Without memory it is found again the next time. */
static void keep(struct runtimes *r, const struct runtime *t)
{
	pthread_mutex_lock(&r->mutex);
	if (r->n_known == KNOWN_MOST) {
		map64_clear(&r->at);
		r->n_known = 0;
	}
	uint64_t key = key_of(t->pid, t->is_library);
	const uint32_t *i = map64_get(&r->at, key);
	if (i)
		r->known[*i] = *t;
	else if (!mem_grow(&r->known, &r->cap_known, r->n_known, sizeof(*r->known)) &&
		 !map64_put(&r->at, key, (uint32_t)r->n_known))
		r->known[r->n_known++] = *t;
	pthread_mutex_unlock(&r->mutex);
}

int32_t runtimes_sibling(struct runtimes *r, const struct runtime_process *p,
			 const struct runtime *t, int32_t inner)
{
	struct runtime found = {0};

	pthread_mutex_lock(&r->mutex);
	for (size_t i = 0; inner > 0 && i < r->n_known; i++) {
		const struct runtime *k = &r->known[i];
		/* Its number may have been another one's before. */
		if (k->type == t->type && k->parent == t->parent && k->inner == inner &&
		    k->ticks >= found.ticks)
			found = *k;
	}
	pthread_mutex_unlock(&r->mutex);
	return found.pid && files_process(p->proc, found.pid).ticks == found.ticks ? found.pid : 0;
}

void *runtimes_take_kept(struct runtimes *r, const struct runtime_process *p)
{
	void *data = NULL;

	pthread_mutex_lock(&r->mutex);
	for (size_t i = 0; !data && i < KEPT; i++) {
		struct kept *k = &r->kept[i];
		if (k->pid != p->pid || k->space != p->space)
			continue;
		data = k->data;
		*k = (struct kept){0};
	}
	pthread_mutex_unlock(&r->mutex);
	return data;
}

/* That of the process which was given first makes room. */
void runtimes_give_kept(struct runtimes *r, const struct runtime_process *p, void *kept)
{
	void *old;

	pthread_mutex_lock(&r->mutex);
	struct kept *to = &r->kept[r->next_kept++ % KEPT];
	for (size_t i = 0; to->data && i < KEPT; i++)
		if (!r->kept[i].data)
			to = &r->kept[i];
	old = to->data;
	*to = (struct kept){p->pid, p->space, kept};
	pthread_mutex_unlock(&r->mutex);
	mem_free(old);
}

static void find_or_detect(struct runtimes *r, const struct runtime_process *p, bool library,
			   struct runtime *ret)
{
	if (find_known(r, p, library, ret))
		return;
	detect(r, p, library, ret);
	keep(r, ret);
}

bool runtimes_find(struct runtimes *r, const struct runtime_process *p,
		   const struct runtime_thread *thread, struct runtime_lock *ret)
{
	struct runtime t;

	find_or_detect(r, p, false, &t);
	*ret = (struct runtime_lock){.pid = p->pid, .class = FUTEXCLASS_LOCK};
	return t.type && t.type->find(r, p, &t, thread, ret);
}

bool runtimes_name(struct runtimes *r, const struct runtime_process *p, uint64_t addr,
		   struct runtime_lock *ret)
{
	struct runtime t;

	find_or_detect(r, p, true, &t);
	*ret = (struct runtime_lock){
		.pid = p->pid, .class = FUTEXCLASS_LOCK, .at = addr, .where = addr};
	return t.type && t.type->name(p, &t, addr, ret);
}

bool runtimes_by_word(struct runtimes *r, const struct runtime_process *p)
{
	struct runtime t;

	find_or_detect(r, p, false, &t);
	return t.type && t.type->by_word;
}

bool runtimes_info(struct runtimes *r, const struct runtime_process *p,
		   const struct runtime_thread *thread, struct runtime_info *ret)
{
	struct runtime t;

	find_or_detect(r, p, false, &t);
	*ret = (struct runtime_info){.at = 0};
	return t.type && t.type->info && t.type->info(r, p, &t, thread, ret);
}

bool runtimes_by_number(struct runtimes *r, const struct runtime_process *p, uint64_t number,
			struct runtime_lock *ret)
{
	struct runtime t;

	find_or_detect(r, p, false, &t);
	*ret = (struct runtime_lock){.pid = p->pid};
	return t.type && t.type->by_number && t.type->by_number(r, p, &t, number, ret);
}

size_t runtimes_calls(struct runtimes *r, const struct runtime_process *p, int32_t tid,
		      struct runtime_call *ret, size_t most, uint64_t *ret_code,
		      uint64_t *ret_code_size)
{
	struct runtime t;

	find_or_detect(r, p, false, &t);
	if (!t.type || !t.type->calls || !t.code_size)
		return 0;
	*ret_code = t.symbols[t.type->code];
	*ret_code_size = t.code_size;
	return t.type->calls(p, &t, tid, ret, most);
}

bool runtimes_sleep_elsewhere(const char *proc, int32_t pid)
{
	char path[PATH_MAX], target[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/exe", proc, pid);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	return type_of(target) == &runtime_postgres;
}
