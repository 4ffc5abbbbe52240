// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where distributions put the kernel with its debug information. The running kernel says its build
 * id in /sys/kernel/notes, a recording that of its own; a file without the same one is another
 * kernel's, whatever it is called.
 */
#include "kontend/vmlinux.h"
#include "user/internal.h"
#include "vmlinux-int.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTES_MOST = 16 << 10 };

static const char *const places[] = {
	"/usr/lib/debug/boot/vmlinux-%s",
	"/usr/lib/debug/lib/modules/%s/vmlinux",
	"/lib/modules/%s/build/vmlinux",
	"/boot/vmlinux-%s",
};

const char *vmlinux_reason(enum vmlinux_answer a)
{
	static const char *const reasons[VMLINUX_ANSWERS] = {
		[VMLINUX_OK] = "found",
		[VMLINUX_NO_ID] = "the build id of the kernel is not known",
		[VMLINUX_NO_FILE] = "no vmlinux of this kernel is installed",
		[VMLINUX_OTHER] = "the vmlinux that is installed is of another build",
		[VMLINUX_STRIPPED] = "the vmlinux that is installed has no debug information",
	};

	return (unsigned)a < VMLINUX_ANSWERS ? reasons[a] : "unknown";
}

static size_t aligned(uint32_t n)
{
	return ((size_t)n + 3) & ~(size_t)3;
}

/* Of notes as in a section: three words, the name, what it is about. */
static bool find_id(const uint8_t *p, size_t n, struct vmlinux *ret)
{
	Elf64_Nhdr h;

	while (n >= sizeof(h)) {
		memcpy(&h, p, sizeof(h));
		size_t name = aligned(h.n_namesz), len = aligned(h.n_descsz);
		if (name > n - sizeof(h) || len > n - sizeof(h) - name)
			return false;
		const uint8_t *text = p + sizeof(h), *desc = text + name;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && !memcmp(text, "GNU", 4) &&
		    h.n_descsz > 1 && h.n_descsz <= sizeof(ret->build_id)) {
			memcpy(ret->build_id, desc, h.n_descsz);
			ret->build_id_len = h.n_descsz;
			return true;
		}
		p = desc + len;
		n -= sizeof(h) + name + len;
	}
	return false;
}

bool vmlinux_notes(struct vmlinux *ret, const char *path)
{
	uint8_t bytes[NOTES_MOST];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, bytes, sizeof(bytes));
	close(fd);
	return n > 0 && find_id(bytes, (size_t)n, ret);
}

bool vmlinux_running(struct vmlinux *ret, const char *root)
{
	char path[sizeof(ret->path)];

	*ret = (struct vmlinux){0};
	snprintf(path, sizeof(path), "%s/sys/kernel/notes", root);
	return vmlinux_notes(ret, path);
}

enum vmlinux_answer vmlinux_look_at(const struct vmlinux *v)
{
	struct elfimg e;
	int fd = usersym_open_in(-1, v->path, 0);

	if (fd < 0 || elfimg_open_fd(&e, fd) < 0)
		return VMLINUX_NO_FILE;
	bool same = e.build_id_len == v->build_id_len &&
		    !memcmp(e.build_id, v->build_id, v->build_id_len);
	bool whole = elfimg_find_type(&e, SHT_SYMTAB) && elfimg_find(&e, ".debug_info");
	elfimg_close(&e);
	if (!same)
		return VMLINUX_OTHER;
	return whole ? VMLINUX_OK : VMLINUX_STRIPPED;
}

static void put_path(struct vmlinux *v, const char *root, const char *place, const char *release)
{
	const char *gap = strstr(place, "%s");

	snprintf(v->path, sizeof(v->path), "%s%.*s%s%s", root, (int)(gap - place), place, release,
		 gap + 2);
}

void vmlinux_put_id_path(struct vmlinux *v, const char *root)
{
	char debug[sizeof(v->path)];

	snprintf(debug, sizeof(debug), "%s/usr/lib/debug", root);
	elfimg_debug_path(v->path, sizeof(v->path), debug, v->build_id, v->build_id_len);
}

enum vmlinux_answer vmlinux_find(struct vmlinux *ret, const char *root, const char *release)
{
	enum vmlinux_answer best = VMLINUX_NO_FILE;

	if (strlen(root) + strlen(release) + 96 > sizeof(ret->path) || strchr(release, '/'))
		return VMLINUX_NO_FILE;
	if (!ret->build_id_len)
		return VMLINUX_NO_ID;
	for (size_t i = 0; i <= sizeof(places) / sizeof(places[0]); i++) {
		if (i < sizeof(places) / sizeof(places[0]))
			put_path(ret, root, places[i], release);
		else
			vmlinux_put_id_path(ret, root);
		enum vmlinux_answer a = vmlinux_look_at(ret);
		if (a == VMLINUX_OK)
			return a;
		best = a > best ? a : best;
	}
	return best;
}
