// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that reads debug information: a loop over questions, with files as descriptors. It
 * runs this program again, so it has none of kontend's memory and descriptors and can be started at
 * any time, with or without threads. It may end at any point: kontend never blocks on it, and only
 * its answers are lost.
 */
#include "internal.h"
#include "kontend/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES_OPEN = 8, CPU_SECONDS = 30, WALL_SECONDS = 120 };

const char *const srclines_worker_argv[] = {"kontend", SRCLINES_WORKER_ARG, NULL};

struct open_file {
	uint32_t id;
	struct dwarf_file *dwarf; /* NULL: none */
};

struct worker {
	struct open_file files[FILES_OPEN];
	struct strpool names; /* of the current question */
	uint8_t bytes[SRCLINES_MSG_MOST], out[SRCLINES_MSG_MOST];
	struct srclines_msg question, answer;
	int fds[FDPASS_MOST];
};

/* False: the parent is gone, or broke the protocol. */
static bool receive(struct worker *w)
{
	long n = fdpass_receive(SRCLINES_FD, w->bytes, sizeof(w->bytes), w->fds, 0);

	return n > 0 && srclines_msg_get(w->bytes, (size_t)n, &w->question);
}

/* With send(): the sandbox forbids system calls that can pass descriptors. */
static bool send_answer(struct worker *w)
{
	size_t n = srclines_msg_put(w->out, &w->answer);
	ssize_t r;

	do {
		r = send(SRCLINES_FD, w->out, n, MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	return r == (ssize_t)n;
}

static struct open_file *file_of(struct worker *w, uint32_t id)
{
	for (size_t i = 0; i < FILES_OPEN; i++)
		if (w->files[i].dwarf && w->files[i].id == id)
			return &w->files[i];
	return NULL;
}

static void close_file(struct open_file *f)
{
	if (!f)
		return;
	dwarf_file_close(f->dwarf);
	f->dwarf = NULL;
}

/* There is room: the parent sends CLOSE for files that it no longer needs. */
static bool open_file(struct worker *w)
{
	struct srclines_msg *a = &w->answer;
	struct open_file *f = w->files;

	close_file(file_of(w, w->question.file));
	while (f < w->files + FILES_OPEN && f->dwarf)
		f++;
	if (f == w->files + FILES_OPEN || w->fds[0] < 0)
		return false;
	*f = (struct open_file){.id = w->question.file};
	a->kind = SRCLINES_MSG_OPENED;
	a->answer = dwarf_file_open(&f->dwarf, w->fds[0], w->fds[1], &a->why);
	return send_answer(w);
}

static bool find_places(struct worker *w)
{
	struct open_file *f = file_of(w, w->question.file);
	struct srclines_msg *a = &w->answer;
	bool good = f != NULL;

	a->kind = SRCLINES_MSG_PLACE;
	for (size_t i = 0; good && i < w->question.n; i++) {
		a->addr = w->question.addrs[i];
		a->answer = srclines_is_data(a->addr)
				    ? dwarf_file_member(f->dwarf, a->addr & ~SRCLINES_DATA,
							&w->names, &a->place)
				    : dwarf_file_find(f->dwarf, a->addr, &w->names, &a->place);
		good = send_answer(w);
	}
	strpool_deinit(&w->names);
	return good;
}

static bool answer(struct worker *w)
{
	w->answer.file = w->question.file;
	switch (w->question.kind) {
	case SRCLINES_MSG_OPEN:
		return open_file(w);
	case SRCLINES_MSG_FIND:
		return find_places(w);
	case SRCLINES_MSG_CLOSE:
		close_file(file_of(w, w->question.file));
		return true;
	default:
		return false;
	}
}

int srclines_work(void)
{
	static struct worker w;

	if (srclines_jail(SRCLINES_FD) < 0)
		return 1;
	while (receive(&w)) {
		srclines_jail_budget(CPU_SECONDS, WALL_SECONDS);
		if (!answer(&w))
			return 1;
		srclines_jail_budget(0, 0);
	}
	return 0;
}
