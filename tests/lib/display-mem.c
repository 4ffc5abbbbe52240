// SPDX-License-Identifier: GPL-2.0-only
/*
 * A display in memory: what tests and benchmarks draw on. It keeps the cells of the last blit and
 * compares, as a terminal's driver does, so a benchmark pays for the comparison too, and a test can
 * ask how much of the screen a frame changed. Keys wait in a ring of 64.
 */
#include "display-mem.h"

#include "kontend/mem.h"
#include <errno.h>
#include <stdio.h>

enum { KEYS = 64 };

struct display_mem {
	struct display display;
	struct display_cell *cells;
	int w, h;	      /* result of size() */
	int shown_w, shown_h; /* of the cells */
	struct display_input keys[KEYS];
	size_t head, n_keys;
	size_t changed, blits, suspends;
	int held_fd; /* -1: not held */
	bool has_no_clipboard;
	char copied[4096];
	bool repaint;
};

static struct display_mem *mem_of(struct display *d)
{
	return (struct display_mem *)d; /* first member */
}

static void mem_size(struct display *d, int *ret_w, int *ret_h)
{
	*ret_w = mem_of(d)->w;
	*ret_h = mem_of(d)->h;
}

static void mem_blit(struct display *d, const struct display_cell *cells, int w, int h)
{
	struct display_mem *m = mem_of(d);
	size_t n = (size_t)w * (size_t)h;

	if (m->held_fd >= 0)
		return;
	m->blits++;
	if (w != m->shown_w || h != m->shown_h) {
		struct display_cell *grown = mem_resize(m->cells, n, sizeof(*grown));

		if (!grown)
			return;
		m->cells = grown;
		m->shown_w = w;
		m->shown_h = h;
		m->repaint = true;
	}
	m->changed = 0;
	for (size_t i = 0; i < n; i++) {
		const struct display_cell *a = &m->cells[i], *b = &cells[i];

		if (!m->repaint && a->ch == b->ch && a->role == b->role && a->attr == b->attr)
			continue;
		m->cells[i] = *b;
		m->changed++;
	}
	m->repaint = false;
}

static void mem_input(struct display *d, struct display_input *ret)
{
	struct display_mem *m = mem_of(d);

	*ret = (struct display_input){0};
	if (!m->n_keys)
		return;
	*ret = m->keys[m->head];
	m->head = (m->head + 1) % KEYS;
	m->n_keys--;
}

static int mem_fd(struct display *d)
{
	(void)d;
	return -1;
}

static int mem_pending(struct display *d)
{
	return mem_of(d)->held_fd;
}

static void mem_suspend(struct display *d)
{
	mem_of(d)->suspends++;
}

static void mem_redraw(struct display *d)
{
	mem_of(d)->repaint = true;
}

static int mem_copy(struct display *d, const char *text)
{
	struct display_mem *m = mem_of(d);

	if (m->has_no_clipboard)
		return -EOPNOTSUPP;
	return snprintf(m->copied, sizeof(m->copied), "%s", text) < (int)sizeof(m->copied) ? 0
											   : -E2BIG;
}

static void mem_display_free(struct display *d)
{
	mem_free(mem_of(d)->cells);
	mem_free(d);
}

static const struct display_ops mem_ops = {
	.size = mem_size,
	.blit = mem_blit,
	.input = mem_input,
	.fd = mem_fd,
	.suspend = mem_suspend,
	.free = mem_display_free,
	.redraw = mem_redraw,
	.pending = mem_pending,
	.copy = mem_copy,
};

int display_mem_new(struct display **ret, int w, int h)
{
	struct display_mem *m = mem_calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->display.ops = &mem_ops;
	m->w = w;
	m->h = h;
	m->held_fd = -1;
	*ret = &m->display;
	return 0;
}

int display_mem_resize(struct display *d, int w, int h)
{
	mem_of(d)->w = w;
	mem_of(d)->h = h;
	return display_mem_push(d, &(struct display_input){.key = KEY_K_RESIZE});
}

int display_mem_push(struct display *d, const struct display_input *in)
{
	struct display_mem *m = mem_of(d);

	if (m->n_keys == KEYS)
		return -ENOSPC;
	m->keys[(m->head + m->n_keys++) % KEYS] = *in;
	return 0;
}

void display_mem_hold(struct display *d, int fd)
{
	mem_of(d)->held_fd = fd;
}

void display_mem_no_clipboard(struct display *d)
{
	mem_of(d)->has_no_clipboard = true;
}

const char *display_mem_copied(const struct display *d)
{
	return ((const struct display_mem *)d)->copied;
}

size_t display_mem_changed(const struct display *d)
{
	return ((const struct display_mem *)d)->changed;
}

size_t display_mem_blits(const struct display *d)
{
	return ((const struct display_mem *)d)->blits;
}

size_t display_mem_suspends(const struct display *d)
{
	return ((const struct display_mem *)d)->suspends;
}
