// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions and answers about places. Each file has its places in the order they were asked for:
 * the first `answered` have an answer, the others are to be asked. One question is under way at a
 * time, and its answers come in order, so that is all there is to remember.
 */
#include "kontend/asked.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "srclines-dwarf.h"
#include "srclines-int.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* Asked for at once, and kept for later. */
enum { PLACES_MOST = 1 << 20, PLACES_KEPT = 1 << 16, LOOK_MS = 100 };

int srclines_new(struct srclines **ret, struct usersyms *files, const struct srclines_config *c,
		 struct error *err)
{
	struct srclines *l = mem_calloc(1, sizeof(*l));

	if (!l)
		return error_set(err, -ENOMEM, "No memory for lines of source");
	l->users = files;
	l->config = *c;
	l->given_up = !c->argv;
	l->fetch.file = -1;
	*ret = l;
	return 0;
}

static void free_places(struct srclines_object *f)
{
	for (size_t i = 0; i < f->n; i++)
		mem_free(f->places[i].found);
	mem_free(f->places);
	map64_deinit(&f->by_addr);
	f->places = NULL;
	f->n = f->cap = f->answered = 0;
}

void srclines_tidy(struct srclines *l)
{
	size_t most = l->config.places_most ? l->config.places_most : PLACES_KEPT;

	/* Answers that are under way have their places. */
	if (l->n_places <= most || l->awaited)
		return;
	for (size_t i = 0; i < l->n_files; i++)
		free_places(&l->files[i]);
	l->n_places = 0;
}

static void free_file(struct srclines_object *f)
{
	free_places(f);
	if (f->debug >= 0)
		close(f->debug);
	if (f->shared >= 0)
		close(f->shared);
}

void srclines_free(struct srclines *l)
{
	if (!l)
		return;
	if (l->searching)
		srclines_search_end(&l->search);
	srclines_proc_stop(&l->proc);
	srclines_fetch_stop(&l->fetch);
	for (size_t i = 0; i < l->n_files; i++)
		free_file(&l->files[i]);
	mem_free(l->files);
	map64_deinit(&l->by_object);
	strpool_deinit(&l->names);
	mem_free(l);
}

static struct srclines_object *file_of(struct srclines *l, uint32_t object)
{
	const uint32_t *at = map64_get(&l->by_object, object);

	if (at)
		return &l->files[*at];
	if (mem_grow(&l->files, &l->cap_files, l->n_files, sizeof(*l->files)) < 0 ||
	    map64_put(&l->by_object, object, (uint32_t)l->n_files) < 0)
		return NULL;
	struct srclines_object *f = &l->files[l->n_files++];
	*f = (struct srclines_object){.object = object, .debug = -1, .shared = -1};
	if (!dwarf_file_built()) {
		f->state = FILE_FAILED;
		f->answer = SRCLINES_NOT_BUILT;
	}
	return f;
}

static struct srclines_asked *add_place(struct srclines *l, struct srclines_object *f,
					uint64_t addr)
{
	if (l->n_places >= PLACES_MOST ||
	    mem_grow(&f->places, &f->cap, f->n, sizeof(*f->places)) < 0 ||
	    map64_put(&f->by_addr, addr, (uint32_t)f->n) < 0)
		return NULL;
	f->places[f->n] = (struct srclines_asked){.addr = addr};
	l->n_places++;
	return &f->places[f->n++];
}

static enum srclines_answer of_file(const struct srclines *l, const struct srclines_object *f)
{
	if (f->state == FILE_FAILED)
		return f->answer;
	if (l->given_up)
		return SRCLINES_GIVEN_UP;
	return l->too_long ? SRCLINES_TOO_LONG : SRCLINES_PENDING;
}

static enum srclines_answer of_users(enum usersym_answer a)
{
	if (a == USERSYM_PENDING)
		return SRCLINES_PENDING;
	if (a == USERSYM_NO_MEMORY)
		return SRCLINES_NO_MEMORY;
	return a == USERSYM_NO_SYMBOL ? SRCLINES_NO_LINE : SRCLINES_NO_FILE;
}

enum srclines_answer srclines_find_addr(struct srclines *l, uint32_t object, uint64_t addr,
					const struct srclines_place **ret)
{
	struct srclines_object *f = file_of(l, object);

	if (!f)
		return SRCLINES_NO_MEMORY;
	const uint32_t *at = map64_get(&f->by_addr, addr);
	struct srclines_asked *p = at ? &f->places[*at] : NULL;
	if (p && p->answer != SRCLINES_PENDING) {
		*ret = p->found;
		return p->answer;
	}
	if (!p && of_file(l, f) == SRCLINES_PENDING && !add_place(l, f, addr))
		return SRCLINES_NO_MEMORY;
	return of_file(l, f);
}

enum srclines_answer srclines_find(struct srclines *l, uint32_t object, uint64_t file_offset,
				   const struct srclines_place **ret)
{
	uint64_t addr;
	enum usersym_answer a = usersyms_address(l->users, object, file_offset, &addr);

	return a == USERSYM_OK ? srclines_find_addr(l, object, addr, ret) : of_users(a);
}

const char *srclines_why(const struct srclines *l, uint32_t object)
{
	const uint32_t *at = map64_get(&l->by_object, object);

	return at && l->files[*at].state == FILE_FAILED ? l->files[*at].why : NULL;
}

void srclines_fail(struct srclines *l, struct srclines_object *f, enum srclines_answer a,
		   const char *why)
{
	char clean[SRCLINES_MSG_TEXT];

	f->state = FILE_FAILED;
	f->answer = a;
	f->why = why && *why ? strpool_intern(&l->names, text_clean(clean, sizeof(clean), why))
			     : NULL;
}

/* The next file of which something is asked. False: there is none. */
static bool ask_next(struct srclines *l)
{
	for (size_t i = 0; i < l->n_files && !l->given_up; i++) {
		struct srclines_object *f = &l->files[i];
		if (f->state == FILE_FAILED || f->state == FILE_MISSING || f->answered == f->n)
			continue;
		l->asking = i;
		if (f->state == FILE_OPEN)
			srclines_ask_places(l);
		else
			srclines_begin_search(l);
		return true;
	}
	return false;
}

/* False: there is nothing to do now. */
static bool step(struct srclines *l, bool *ret_changed)
{
	if (srclines_fetch_on(l, ret_changed))
		return true;
	if (l->awaited)
		return srclines_receive(l, ret_changed);
	if (l->searching) {
		srclines_search_on(l);
		*ret_changed |= !l->searching;
		return true;
	}
	return ask_next(l);
}

bool srclines_pump(struct srclines *l, uint64_t budget_ns, bool *ret_changed)
{
	uint64_t begun = clock_now_ns();
	bool more;

	do {
		more = step(l, ret_changed);
	} while (more && clock_now_ns() - begun < budget_ns);
	return more;
}

int srclines_fd(const struct srclines *l)
{
	if (l->awaited)
		return l->proc.fd;
	return l->fetch.proc.pid ? l->fetch.proc.fd : -1;
}

bool srclines_wait(struct srclines *l, uint64_t most_ns)
{
	uint64_t begun = clock_now_ns(), past = 0;
	bool changed = false;

	while (srclines_pump(l, most_ns, &changed) || srclines_fd(l) >= 0) {
		past = clock_now_ns() - begun;
		if (past >= most_ns || asked_to_end()) {
			l->too_long = changed = true;
			break;
		}
		struct pollfd p = {.fd = srclines_fd(l), .events = POLLIN};
		uint64_t ms = (most_ns - past) / 1000000 + 1;
		if (p.fd >= 0)
			poll(&p, 1, ms < LOOK_MS ? (int)ms : LOOK_MS);
	}
	return changed;
}
