// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols outside of the file itself: in a separate file, found by build id or by the name in
 * .gnu_debuglink (then its build id or its checksum must match), or compressed in .gnu_debugdata.
 * For a process with another root, that root is searched first.
 */
#include "internal.h"

#include "kontend/mem.h"
#include "optional.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PATH_SIZE = 4200,
	SUM_STEP = 1 << 20,
	PACKED_MOST = 64 << 20,
	LINK_CANDIDATES = 3,
};

static bool same_id(const struct elfimg *a, const struct elfimg *b)
{
	return a->build_id_len && a->build_id_len == b->build_id_len &&
	       memcmp(a->build_id, b->build_id, a->build_id_len) == 0;
}

static int open_debug(const struct usersyms *u, struct usersym_load *l, int root, const char *path)
{
	int fd = usersym_open_in(u, root, path, 0);

	if (fd < 0)
		return 0;
	int code = elfimg_open_fd(&l->debug, fd);
	if (code < 0)
		return code == -ENOMEM ? code : 0;
	if (elfimg_find_type(&l->debug, SHT_SYMTAB))
		return 1;
	elfimg_close(&l->debug);
	return 0;
}

static int open_anywhere(const struct usersyms *u, struct usersym_load *l, const char *path)
{
	int code = l->root_fd >= 0 ? open_debug(u, l, l->root_fd, path) : 0;

	return code ? code : open_debug(u, l, -1, path);
}

int usersym_debug_by_id(struct usersyms *u, struct usersym_load *l)
{
	char path[PATH_SIZE];
	const struct elfimg *e = &l->main;

	if (!elfimg_debug_path(path, sizeof(path), u->config.debug_root, e->build_id,
			       e->build_id_len))
		return 0;
	int code = open_anywhere(u, l, path);
	if (code == 1 && !same_id(e, &l->debug)) {
		elfimg_close(&l->debug);
		return 0;
	}
	return code;
}

/* .gnu_debuglink is "name\0", padding to four bytes, checksum. */
static int read_link(struct usersym_load *l)
{
	const struct elfimg_section *s = elfimg_find(&l->main, ".gnu_debuglink");
	void *p;
	size_t len;

	if (!s)
		return 0;
	int code = elfimg_load(&l->main, s, sizeof(l->link), &p, &len);
	if (code < 0)
		return code == -ENOMEM ? code : 0;
	size_t name = strnlen(p, len), sum = (name + 4) & ~(size_t)3;
	if (name && name < len && sum <= len && len - sum >= 4 && !memchr(p, '/', name)) {
		memcpy(l->link, p, name + 1);
		memcpy(&l->link_sum, (char *)p + sum, sizeof(l->link_sum));
	}
	mem_free(p);
	return 0;
}

/*
 * The places where gdb looks: next to the file, in its .debug folder, below the root of debug
 * files.
 */
static bool link_path(const struct usersyms *u, const struct usersym_load *l, char *ret,
		      size_t size)
{
	const char *path = l->object->path, *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) : 0, n;

	if (l->candidate == 0)
		n = snprintf(ret, size, "%.*s/%s", dir, path, l->link);
	else if (l->candidate == 1)
		n = snprintf(ret, size, "%.*s/.debug/%s", dir, path, l->link);
	else
		n = snprintf(ret, size, "%s%.*s/%s", u->config.debug_root, dir, path, l->link);
	return n > 0 && (size_t)n < size;
}

int usersym_debug_by_link(struct usersyms *u, struct usersym_load *l)
{
	char path[PATH_SIZE];
	int code = l->link[0] ? 0 : read_link(l);

	if (code < 0 || !l->link[0])
		return code;
	for (; l->candidate < LINK_CANDIDATES; l->candidate++) {
		code = link_path(u, l, path, sizeof(path)) ? open_anywhere(u, l, path) : 0;
		if (code < 0)
			return code;
		if (code == 0)
			continue;
		if (same_id(&l->main, &l->debug))
			return 1;
		/* Both have a build id, and these differ. */
		if (!l->main.build_id_len || !l->debug.build_id_len) {
			l->at = 0;
			l->sum = ~0u;
			return 2;
		}
		elfimg_close(&l->debug);
	}
	return 0;
}

/* One step of the checksum of .gnu_debuglink: CRC-32 as in gzip. */
static uint32_t add_to_sum(uint32_t sum, const uint8_t *p, size_t n)
{
	static const uint32_t nibble[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
					    0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
					    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
					    0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

	for (size_t i = 0; i < n; i++) {
		sum ^= p[i];
		sum = sum >> 4 ^ nibble[sum & 15];
		sum = sum >> 4 ^ nibble[sum & 15];
	}
	return sum;
}

int usersym_debug_sum(struct usersym_load *l)
{
	uint64_t left = l->debug.size - l->at;
	size_t n = left < SUM_STEP ? (size_t)left : SUM_STEP;
	uint8_t *p = mem_calloc(1, n);

	if (!p)
		return -ENOMEM;
	bool good = elfimg_read(&l->debug, l->at, p, n);
	l->sum = add_to_sum(l->sum, p, n);
	mem_free(p);
	l->at += n;
	if (good && l->at < l->debug.size)
		return 2;
	if (good && ~l->sum == l->link_sum)
		return 1;
	elfimg_close(&l->debug);
	l->candidate++;
	return 0;
}

int usersym_debug_packed(struct usersym_load *l)
{
	const struct elfimg_section *s = elfimg_find(&l->main, ".gnu_debugdata");
	void *p;
	size_t len, out;

	if (!s)
		return 0;
	int code = elfimg_load(&l->main, s, PACKED_MOST, &p, &len);
	if (code < 0)
		return code == -ENOMEM ? code : 0;
	code = unxz(p, len, PACKED_MOST, &l->unpacked, &out);
	mem_free(p);
	code = code < 0 ? code : elfimg_open_mem(&l->packed, l->unpacked, out);
	if (code < 0)
		return code == -ENOMEM ? code : 0;
	return elfimg_find_type(&l->packed, SHT_SYMTAB) != NULL;
}

bool usersyms_is_poor(const struct usersyms *u, uint32_t object)
{
	const struct usersym_object *o = u->objects[object];

	return o->answer == USERSYM_OK && o->image->poor && o->image->answer != USERSYM_PENDING;
}

enum usersym_answer usersym_reload(struct usersyms *u, uint32_t object)
{
	struct usersym_image *i = u->objects[object]->image;

	if (u->load.image == i)
		usersym_load_end(&u->load);
	if (u->keeping.parts[0].bytes == i->table.entries)
		cachefile_write_end(&u->keeping);
	symtab_deinit(&i->table);
	i->keep = false;
	i->answer = USERSYM_PENDING;
	u->objects[object]->asked = false;
	return usersym_ask(u, object);
}

void usersyms_give(struct usersyms *u, uint32_t object, int fd)
{
	struct usersym_image *i = u->objects[object]->image;
	struct elfimg e;

	if (!usersyms_is_poor(u, object) || i->given >= 0)
		return;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0 || elfimg_open_fd(&e, own) < 0)
		return;
	if (i->id_len && e.build_id_len == i->id_len && !memcmp(e.build_id, i->id, i->id_len) &&
	    elfimg_find_type(&e, SHT_SYMTAB))
		i->given = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	elfimg_close(&e);
	if (i->given >= 0)
		usersym_reload(u, object);
}
