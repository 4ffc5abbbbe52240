// SPDX-License-Identifier: GPL-2.0-only
/*
 * A display that has only a size. Frames stay in the app's own grid, from which picture.c makes
 * pictures.
 */
#include "kontend/display.h"

#include "kontend/mem.h"
#include "theme.h"
#include <errno.h>

struct paper {
	struct display display;
	int w, h;
};

static const struct paper *paper_of(const struct display *d)
{
	return (const struct paper *)d; /* first member */
}

static void paper_size(struct display *d, int *ret_w, int *ret_h)
{
	*ret_w = paper_of(d)->w;
	*ret_h = paper_of(d)->h;
}

static void paper_blit(struct display *d, const struct display_cell *cells, int w, int h)
{
	(void)d;
	(void)cells;
	(void)w;
	(void)h;
}

static void paper_input(struct display *d, struct display_input *ret)
{
	(void)d;
	*ret = (struct display_input){0};
}

static int paper_fd(struct display *d)
{
	(void)d;
	return -1;
}

/* There is no job that could be stopped. */
static void paper_suspend(struct display *d)
{
	(void)d;
}

static int paper_theme(struct display *d, const char *name)
{
	(void)d;
	return theme_find(name) ? 0 : -EINVAL;
}

static void paper_free(struct display *d)
{
	mem_free(d);
}

static const struct display_ops paper_ops = {
	.size = paper_size,
	.blit = paper_blit,
	.input = paper_input,
	.fd = paper_fd,
	.suspend = paper_suspend,
	.free = paper_free,
	.theme = paper_theme,
};

int display_new_paper(struct display **ret, int w, int h, bool ascii)
{
	struct paper *p = mem_calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	*p = (struct paper){.display = {.ops = &paper_ops, .ascii = ascii}, .w = w, .h = h};
	*ret = &p->display;
	return 0;
}
