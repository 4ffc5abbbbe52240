// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the debug information of a file comes from: this machine, in steps (srclines-search.h), or
 * debuginfod, which another process asks while all else goes on.
 */
#include "srclines-int.h"

/* What is not on this machine may have come from debuginfod, or is asked for there. */
static void not_here(struct srclines *l, struct srclines_object *f)
{
	int fd = srclines_fetch_file(&l->fetch, f->object);
	enum srclines_answer a = SRCLINES_NO_INFO;
	const char *why = NULL;

	if (fd >= 0) {
		a = srclines_search_give(&l->search, fd);
		why = a == SRCLINES_NO_INFO ? srclines_fetch_wrong() : NULL;
	} else if (l->config.fetch_argv) {
		why = srclines_fetch_never(&l->fetch, l->search.load.main.build_id_len);
		if (!why) {
			f->state = FILE_MISSING;
			l->missing++;
			return;
		}
	}
	if (a == SRCLINES_OK)
		srclines_ask_to_open(l);
	else
		srclines_fail(l, f, a, why);
}

void srclines_search_on(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];
	enum srclines_answer a = srclines_search_step(&l->search);

	if (a == SRCLINES_PENDING)
		return;
	if (a == SRCLINES_OK)
		srclines_ask_to_open(l);
	else if (a == SRCLINES_NO_INFO)
		not_here(l, f);
	else
		srclines_fail(l, f, a, NULL);
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

/* One at a time; all else goes on meanwhile. False: there is nothing to do now. */
bool srclines_fetch_on(struct srclines *l, bool *ret_changed)
{
	struct srclines_fetch *f = &l->fetch;
	uint8_t id[20];
	int r;

	if (f->proc.pid) {
		r = srclines_fetch_take(f);
	} else {
		if (!l->missing || f->file >= 0 || l->given_up)
			return false;
		for (l->fetching = 0; l->files[l->fetching].state != FILE_MISSING; l->fetching++)
			;
		uint32_t object = l->files[l->fetching].object;
		r = srclines_fetch_start(f, l->config.fetch_argv, object, id,
					 usersyms_build_id(l->users, object, id));
	}
	if (r == 0)
		return false;
	l->missing--;
	l->files[l->fetching].state = FILE_NEW;
	if (r < 0)
		srclines_fail(l, &l->files[l->fetching], SRCLINES_NO_INFO, f->why);
	*ret_changed = true;
	return true;
}
