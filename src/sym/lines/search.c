// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug information is in the file itself, or in a separate file that is found as separate symbols
 * are (user/debug.c). Either may share parts with other files: .gnu_debugaltlink has the name and
 * the build id of that alternate debug file.
 */
#include "search.h"
#include "kontend/mem.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4200, LINK_MOST = 4096 };

static bool has_dwarf(const struct elfimg *e)
{
	const struct elfimg_section *s = elfimg_find(e, ".debug_info");

	s = s ? s : elfimg_find(e, ".zdebug_info");
	return s && s->size && s->type != SHT_NOBITS && e->fd >= 0 && !e->mem;
}

enum srclines_answer srclines_search_begin(struct srclines_search *s, struct usersyms *files,
					   uint32_t object)
{
	*s = (struct srclines_search){.files = files,
				      .load = {.object = files->objects[object], .root_fd = -1},
				      .stage = STAGE_DEBUG,
				      .shared = {.fd = -1}};
	enum usersym_answer a =
		usersym_open(files, s->load.object, &s->load.main, &s->load.root_fd);
	if (a == USERSYM_OK)
		return SRCLINES_PENDING;
	s->load.main = (struct elfimg){.fd = -1};
	return a == USERSYM_NO_MEMORY ? SRCLINES_NO_MEMORY : SRCLINES_NO_FILE;
}

static bool is_id(const struct elfimg *e, const uint8_t *id, size_t n)
{
	return n && e->build_id_len == n && memcmp(e->build_id, id, n) == 0;
}

/* @fd may be -errno. 1: it is the wanted file; 0: it is not; -ENOMEM. */
static int take_shared(struct srclines_search *s, int fd, const uint8_t *id, size_t n)
{
	int code = fd < 0 ? -ENOENT : elfimg_open_fd(&s->shared, fd);

	if (code == 0 && is_id(&s->shared, id, n))
		return 1;
	if (code == 0)
		elfimg_close(&s->shared);
	s->shared = (struct elfimg){.fd = -1};
	return code == -ENOMEM ? code : 0;
}

static int open_shared(struct srclines_search *s, const char *path, const uint8_t *id, size_t n)
{
	int roots[] = {s->load.root_fd, -1}, code = 0;

	for (size_t i = roots[0] < 0; i < 2 && code == 0; i++)
		code = take_shared(s, usersym_open_in(s->files, roots[i], path, 0), id, n);
	return code;
}

static int open_shared_by_id(struct srclines_search *s, const uint8_t *id, size_t n)
{
	char path[PATH_SIZE];

	return elfimg_debug_path(path, sizeof(path), s->files->config.debug_root, id, n)
		       ? open_shared(s, path, id, n)
		       : 0;
}

/*
 * .gnu_debugaltlink is "path\0" and the build id. Without that file some names are missing. 0 or
 * -ENOMEM.
 */
static int find_shared(struct srclines_search *s)
{
	const struct elfimg_section *link = elfimg_find(s->found, ".gnu_debugaltlink");
	void *p;
	size_t len;

	if (!link)
		return 0;
	int code = elfimg_load(s->found, link, LINK_MOST, &p, &len);
	if (code < 0)
		return code == -ENOMEM ? code : 0;
	const char *path = p;
	size_t n = strnlen(path, len) + 1;
	if (n < len) {
		const uint8_t *id = (const uint8_t *)p + n;
		code = path[0] == '/' ? open_shared(s, path, id, len - n) : 0;
		code = code ? code : open_shared_by_id(s, id, len - n);
		s->lacks_len = code || len - n > sizeof(s->lacks) ? 0 : len - n;
		memcpy(s->lacks, id, s->lacks_len);
	}
	mem_free(p);
	return code < 0 ? code : 0;
}

/* 1: found; 0: no more candidates; 2: call again; -ENOMEM. */
static int search_step(struct srclines_search *s)
{
	struct usersym_load *l = &s->load;
	int code;

	if (s->stage == STAGE_DEBUG && has_dwarf(&l->main)) {
		s->found = &l->main;
		return 1;
	}
	s->found = &l->debug;
	if (s->stage == STAGE_DEBUG) {
		s->stage = STAGE_LINK;
		code = usersym_debug_by_id(s->files, l);
		return code ? code : 2;
	}
	if (s->stage == STAGE_LINK) {
		code = usersym_debug_by_link(s->files, l);
		s->stage = code == 2 ? STAGE_SUM : STAGE_LINK;
		return code;
	}
	code = usersym_debug_sum(l);
	s->stage = code == 2 ? STAGE_SUM : STAGE_LINK;
	return code ? code : 2;
}

enum srclines_answer srclines_search_step(struct srclines_search *s)
{
	int code = search_step(s);

	if (code == 2)
		return SRCLINES_PENDING;
	if (code == 1 && has_dwarf(s->found))
		code = find_shared(s) < 0 ? -ENOMEM : 1;
	else
		code = code < 0 ? code : 0;
	if (code < 0)
		return SRCLINES_NO_MEMORY;
	return code ? SRCLINES_OK : SRCLINES_NO_INFO;
}

enum srclines_answer srclines_search_give(struct srclines_search *s, int fd)
{
	struct usersym_load *l = &s->load;

	elfimg_close(&l->debug);
	int code = elfimg_open_fd(&l->debug, fd);
	s->found = &l->debug;
	if (code == 0 &&
	    (!is_id(&l->debug, l->main.build_id, l->main.build_id_len) || !has_dwarf(&l->debug)))
		return SRCLINES_NO_INFO;
	code = code ? code : find_shared(s);
	if (code == 0)
		return SRCLINES_OK;
	return code == -ENOMEM ? SRCLINES_NO_MEMORY : SRCLINES_NO_INFO;
}

void srclines_search_give_shared(struct srclines_search *s, int fd)
{
	take_shared(s, fd, s->lacks, s->lacks_len);
	s->lacks_len = 0;
}

void srclines_search_end(struct srclines_search *s)
{
	usersym_load_end(&s->load);
	elfimg_close(&s->shared);
	s->shared = (struct elfimg){.fd = -1};
	s->found = NULL;
}
