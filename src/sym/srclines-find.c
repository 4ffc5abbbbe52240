// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the debug information of a file comes from: this machine, in steps (srclines-search.h), or
 * debuginfod, which another process asks while all else goes on. What that brought is kept with the
 * file, and the search is begun anew: first for the debug file, then, if that leaves a part to one
 * which it shares with others, for that one.
 */
#include "srclines-int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* A descriptor for who closes it, or -1. */
static int copy(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* Why debuginfod is not asked for a file of that build id; NULL: it will be. */
static const char *want(struct srclines *l, struct srclines_object *f, const uint8_t *id, size_t n)
{
	const char *why = srclines_fetch_never(&l->fetch, n);

	if (why)
		return why;
	memcpy(f->wants, id, n);
	f->wants_len = n;
	f->state = FILE_MISSING;
	l->missing++;
	return NULL;
}

/* The debug file is not on this machine. PENDING: it is asked for. */
static enum srclines_answer from_elsewhere(struct srclines *l, struct srclines_object *f,
					   const char **ret_why)
{
	const struct elfimg *own = &l->search.load.main;
	enum srclines_answer a = SRCLINES_NO_INFO;

	if (f->debug >= 0) {
		a = srclines_search_give(&l->search, copy(f->debug));
		*ret_why = a == SRCLINES_NO_INFO ? srclines_fetch_wrong() : NULL;
	} else if (l->config.fetch_argv) {
		*ret_why = want(l, f, own->build_id, own->build_id_len);
		a = *ret_why ? a : SRCLINES_PENDING;
	}
	return a;
}

/* What it shares with others; without it some names are left out. True: it is asked for. */
static bool wants_shared(struct srclines *l, struct srclines_object *f)
{
	const struct srclines_search *s = &l->search;

	if (!s->lacks_len)
		return false;
	if (f->shared >= 0)
		srclines_search_give_shared(&l->search, copy(f->shared));
	if (f->wants_shared || !l->config.fetch_argv)
		return false;
	f->wants_shared = true;
	return want(l, f, s->lacks, s->lacks_len) == NULL;
}

void srclines_search_on(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];
	enum srclines_answer a = srclines_search_step(&l->search);
	const char *why = NULL;

	if (a == SRCLINES_PENDING)
		return;
	if (a == SRCLINES_NO_INFO)
		a = from_elsewhere(l, f, &why);
	if (a == SRCLINES_OK && !wants_shared(l, f))
		srclines_ask_to_open(l);
	else if (a != SRCLINES_OK && a != SRCLINES_PENDING)
		srclines_fail(l, f, a, why);
	srclines_search_end(&l->search);
	l->searching = false;
}

void srclines_begin_search(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];
	enum srclines_answer a = srclines_search_begin(&l->search, l->users, f->object);

	l->searching = a == SRCLINES_PENDING;
	if (l->searching)
		return;
	srclines_search_end(&l->search);
	srclines_fail(l, f, a, NULL);
}

static int begin_fetch(struct srclines *l)
{
	l->fetching = 0;
	while (l->files[l->fetching].state != FILE_MISSING)
		l->fetching++;
	const struct srclines_object *f = &l->files[l->fetching];
	return srclines_fetch_start(&l->fetch, l->config.fetch_argv, f->object, f->wants,
				    f->wants_len);
}

/* The functions of a debug file are of use, too, whether or not it says lines. */
static void take(struct srclines *l, struct srclines_object *f)
{
	int fd = srclines_fetch_file(&l->fetch, f->object);

	if (f->wants_shared) {
		f->shared = fd;
		return;
	}
	f->debug = fd;
	usersyms_give(l->users, f->object, fd);
}

/* One at a time; all else goes on meanwhile. False: there is nothing to do now. */
bool srclines_fetch_on(struct srclines *l, bool *ret_changed)
{
	bool is_asked = l->fetch.proc.pid;

	if (!is_asked && (!l->missing || l->given_up))
		return false;
	int r = is_asked ? srclines_fetch_take(&l->fetch) : begin_fetch(l);
	if (r == 0)
		return false;
	struct srclines_object *f = &l->files[l->fetching];
	l->missing--;
	f->state = FILE_NEW;
	if (r == 1)
		take(l, f);
	else if (!f->wants_shared)
		srclines_fail(l, f, SRCLINES_NO_INFO, l->fetch.why);
	*ret_changed = true;
	return true;
}
