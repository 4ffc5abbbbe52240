// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions and answers about places, and the thread between them. A question is an answer that
 * stands at PENDING: the thread fills it in and then says so, after which nobody writes to it. The
 * thread has a copy of what it must know of the file, so that nothing else is shared; it keeps the
 * files it used last open.
 */
#include "kontend/srclines.h"
#include "kontend/mem.h"
#include "srclines-dwarf.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum { FILES_OPEN = 4, PLACES_MOST = 1 << 20 };

struct place {
	_Atomic(enum srclines_answer) answer;
	uint32_t object;
	uint64_t offset;
	struct usersym_object file; /* as of when it was asked */
	struct place *same_hash, *next;
	struct srclines_place found;
};

struct open_file {
	bool is_used;
	uint32_t object;
	enum srclines_answer answer;
	struct dwarf_file *dwarf;
	uint64_t used;
};

struct srclines {
	struct usersyms *files;
	struct usersyms_config config;
	struct map64 by_key;
	struct place **places;
	size_t n_places, cap_places;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* of the following */
	pthread_cond_t asked, answered;
	struct place *first, *last; /* to be answered */
	size_t waiting;		    /* these, and the one being answered */
	bool must_end;
	atomic_bool changed;
	/* Of the thread. */
	struct open_file open[FILES_OPEN];
	uint64_t clock;
	struct strpool names;
};

const char *srclines_reason(enum srclines_answer a)
{
	static const char *const reasons[SRCLINES_ANSWERS] = {
		[SRCLINES_PENDING] = "not loaded yet",
		[SRCLINES_OK] = "known",
		[SRCLINES_NO_FILE] = "the file is not to be opened",
		[SRCLINES_NO_INFO] = "no debug information",
		[SRCLINES_NO_LINE] = "debug information says nothing of it",
		[SRCLINES_NO_MEMORY] = "out of memory",
		[SRCLINES_NOT_BUILT] = "kontend was built without libdw",
	};

	return (unsigned)a < SRCLINES_ANSWERS ? reasons[a] : "unknown";
}

int srclines_new(struct srclines **ret, struct usersyms *files, struct error *err)
{
	struct srclines *l = mem_calloc(1, sizeof(*l));

	if (!l)
		return error_set(err, -ENOMEM, "No memory for lines of source");
	l->files = files;
	l->config = files->config;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->asked, NULL);
	pthread_cond_init(&l->answered, NULL);
	*ret = l;
	return 0;
}

void srclines_free(struct srclines *l)
{
	if (!l)
		return;
	if (l->has_thread) {
		pthread_mutex_lock(&l->lock);
		l->must_end = true;
		pthread_cond_signal(&l->asked);
		pthread_mutex_unlock(&l->lock);
		pthread_join(l->thread, NULL);
	}
	for (size_t i = 0; i < FILES_OPEN; i++)
		dwarf_file_close(l->open[i].dwarf);
	for (size_t i = 0; i < l->n_places; i++)
		mem_free(l->places[i]);
	mem_free(l->places);
	map64_deinit(&l->by_key);
	strpool_deinit(&l->names);
	pthread_cond_destroy(&l->answered);
	pthread_cond_destroy(&l->asked);
	pthread_mutex_destroy(&l->lock);
	mem_free(l);
}

/* The file of a question, open; the one that was not used for longest makes room. */
static struct open_file *open_for(struct srclines *l, struct place *p)
{
	struct open_file *oldest = &l->open[0];

	for (size_t i = 0; i < FILES_OPEN; i++) {
		struct open_file *f = &l->open[i];
		if (f->is_used && f->object == p->object) {
			f->used = ++l->clock;
			return f;
		}
		oldest = f->used < oldest->used ? f : oldest;
	}
	dwarf_file_close(oldest->dwarf);
	*oldest = (struct open_file){.is_used = true, .object = p->object, .used = ++l->clock};
	oldest->answer = dwarf_file_open(&oldest->dwarf, &l->config, &p->file);
	return oldest;
}

static void answer(struct srclines *l, struct place *p)
{
	const struct open_file *f = open_for(l, p);
	enum srclines_answer a = f->answer;

	if (a == SRCLINES_OK)
		a = dwarf_file_find(f->dwarf, p->offset, &l->names, &p->found);
	atomic_store_explicit(&p->answer, a, memory_order_release);
	atomic_store(&l->changed, true);
}

static void *run(void *arg)
{
	struct srclines *l = arg;

	pthread_mutex_lock(&l->lock);
	while (!l->must_end) {
		struct place *p = l->first;
		if (!p) {
			pthread_cond_wait(&l->asked, &l->lock);
			continue;
		}
		l->first = p->next;
		pthread_mutex_unlock(&l->lock);
		answer(l, p);
		pthread_mutex_lock(&l->lock);
		l->waiting--;
		pthread_cond_broadcast(&l->answered);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* Signals are for the thread that everything else is in. */
static int begin_thread(struct srclines *l)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int code = pthread_create(&l->thread, NULL, run, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	l->has_thread = code == 0;
	return -code;
}

static void ask(struct srclines *l, struct place *p)
{
	pthread_mutex_lock(&l->lock);
	if (l->first)
		l->last->next = p;
	else
		l->first = p;
	l->last = p;
	l->waiting++;
	pthread_cond_signal(&l->asked);
	pthread_mutex_unlock(&l->lock);
}

static uint64_t key_of(uint32_t object, uint64_t offset)
{
	return map64_hash(offset) ^ (uint64_t)object * 0x9e3779b97f4a7c15ull;
}

static struct place *find_place(const struct srclines *l, uint32_t object, uint64_t offset)
{
	const uint32_t *at = map64_get(&l->by_key, key_of(object, offset));
	struct place *p = at ? l->places[*at] : NULL;

	while (p && (p->object != object || p->offset != offset))
		p = p->same_hash;
	return p;
}

static struct place *add_place(struct srclines *l, uint32_t object, uint64_t offset)
{
	const uint32_t *at = map64_get(&l->by_key, key_of(object, offset));
	struct place *p = l->n_places < PLACES_MOST ? mem_calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->object = object;
	p->offset = offset;
	p->file = *l->files->objects[object];
	p->same_hash = at ? l->places[*at] : NULL;
	if (mem_grow(&l->places, &l->cap_places, l->n_places, sizeof(struct place *)) < 0 ||
	    map64_put(&l->by_key, key_of(object, offset), (uint32_t)l->n_places) < 0) {
		mem_free(p);
		return NULL;
	}
	l->places[l->n_places++] = p;
	return p;
}

enum srclines_answer srclines_find(struct srclines *l, uint32_t object, uint64_t file_offset,
				   const struct srclines_place **ret)
{
	struct place *p = find_place(l, object, file_offset);

	if (!p) {
		if (!l->has_thread && begin_thread(l) < 0)
			return SRCLINES_NO_MEMORY;
		p = add_place(l, object, file_offset);
		if (!p)
			return SRCLINES_NO_MEMORY;
		ask(l, p);
	}
	enum srclines_answer a = atomic_load_explicit(&p->answer, memory_order_acquire);
	if (a == SRCLINES_OK)
		*ret = &p->found;
	return a;
}

bool srclines_changed(struct srclines *l)
{
	return atomic_exchange(&l->changed, false);
}

void srclines_wait(struct srclines *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->waiting)
		pthread_cond_wait(&l->answered, &l->lock);
	pthread_mutex_unlock(&l->lock);
}
