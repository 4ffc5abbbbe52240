// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is said to the process, and what it answers. When it ends before it has answered, the file
 * in question is damaged, and is not asked about again; all others are opened anew in the next
 * process. It is started a few times at most.
 */
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "srclines-int.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { FILES_OPEN = 8, STARTS_MOST = 5 };

/* Its own bounds end the process before. */
static const uint64_t ANSWER_NS = 180ull * 1000000000;

/* The process has ended, or must (@why). The next one knows no file yet. */
static void lose_process(struct srclines *l, const char *why)
{
	char text[160];

	srclines_proc_stop(&l->proc);
	for (size_t i = 0; i < l->n_files; i++)
		if (l->files[i].state == FILE_OPEN)
			l->files[i].state = FILE_NEW;
	snprintf(text, sizeof(text), "%s (%s)", srclines_reason(SRCLINES_DAMAGED),
		 why ? why : l->proc.end);
	if (l->awaited)
		srclines_fail(l, &l->files[l->asking], SRCLINES_DAMAGED, text);
	l->awaited = 0;
	l->given_up |= l->starts >= STARTS_MOST;
}

static bool ask(struct srclines *l, size_t answers, const int *fds, size_t n_fds)
{
	if (srclines_proc_send(&l->proc, &l->msg, fds, n_fds) < 0) {
		lose_process(l, NULL);
		return false;
	}
	l->awaited = answers;
	l->sent_ns = clock_now_ns();
	return true;
}

void srclines_ask_places(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];
	struct srclines_msg *m = &l->msg;

	m->kind = SRCLINES_MSG_FIND;
	m->file = f->object;
	m->n = 0;
	for (size_t i = f->answered; i < f->n && m->n < SRCLINES_MSG_PLACES; i++)
		m->addrs[m->n++] = f->places[i].addr;
	f->used = ++l->clock;
	ask(l, m->n, NULL, 0);
}

/* Of what is open, what was not used for longest makes room. */
static bool make_room(struct srclines *l)
{
	struct srclines_object *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < l->n_files; i++) {
		struct srclines_object *f = &l->files[i];
		if (f->state != FILE_OPEN)
			continue;
		n++;
		oldest = !oldest || f->used < oldest->used ? f : oldest;
	}
	if (n < FILES_OPEN || !oldest)
		return true;
	l->msg.kind = SRCLINES_MSG_CLOSE;
	l->msg.file = oldest->object;
	oldest->state = FILE_NEW;
	return ask(l, 0, NULL, 0);
}

void srclines_ask_to_open(struct srclines *l)
{
	const struct srclines_object *f = &l->files[l->asking];
	const struct srclines_search *s = &l->search;
	const int fds[] = {s->found->fd, s->shared.fd};

	if (!l->proc.pid) {
		l->starts++;
		int r = srclines_proc_start(&l->proc, l->config.argv);
		if (r < 0) {
			l->given_up = true;
			return;
		}
	}
	if (!make_room(l))
		return;
	l->msg.kind = SRCLINES_MSG_OPEN;
	l->msg.file = f->object;
	ask(l, 1, fds, s->shared.fd >= 0 ? 2 : 1);
}

static bool keep_place(struct srclines *l, struct srclines_asked *p)
{
	char clean[SRCLINES_MSG_TEXT];

	/* There are thousands, and most have one frame: the others take no room. */
	p->found = mem_dup(&l->msg.place, 1,
			   offsetof(struct srclines_place, frames) +
				   l->msg.place.n * sizeof(*l->msg.place.frames));
	for (size_t i = 0; p->found && i < p->found->n; i++) {
		struct srclines_frame *f = &p->found->frames[i];
		f->function =
			strpool_intern(&l->names, text_clean(clean, sizeof(clean), f->function));
		f->file = strpool_intern(&l->names, text_clean(clean, sizeof(clean), f->file));
		if (!f->function || !f->file)
			return false;
	}
	return p->found != NULL;
}

static bool take_place(struct srclines *l, struct srclines_object *f)
{
	struct srclines_asked *p = f->answered < f->n ? &f->places[f->answered] : NULL;

	if (!p || f->state != FILE_OPEN || p->addr != l->msg.addr)
		return false;
	p->answer = l->msg.answer;
	if (p->answer == SRCLINES_OK && !keep_place(l, p)) {
		mem_free(p->found);
		p->found = NULL;
		p->answer = SRCLINES_NO_MEMORY;
	}
	f->answered++;
	return true;
}

static bool take_opened(struct srclines *l, struct srclines_object *f)
{
	if (f->state != FILE_NEW)
		return false;
	f->state = FILE_OPEN;
	f->used = ++l->clock;
	if (l->msg.answer != SRCLINES_OK)
		srclines_fail(l, f, l->msg.answer, l->msg.why);
	return true;
}

/* An answer that was not asked for is as good as none. */
static bool take(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];

	if (l->msg.file != f->object)
		return false;
	if (l->msg.kind == SRCLINES_MSG_OPENED)
		return take_opened(l, f);
	return l->msg.kind == SRCLINES_MSG_PLACE && take_place(l, f);
}

/* False: there is nothing to be taken now. */
bool srclines_receive(struct srclines *l, bool *ret_changed)
{
	int r = srclines_proc_receive(&l->proc, &l->msg);
	bool late = r == 0 && clock_now_ns() - l->sent_ns >= ANSWER_NS;

	if (r == 0 && !late)
		return false;
	*ret_changed = true;
	if (r < 0 || late)
		lose_process(l, late ? "worker took too long" : NULL);
	else if (!take(l))
		lose_process(l, "worker said what it was not asked for");
	else
		l->awaited--;
	return true;
}
