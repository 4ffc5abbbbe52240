// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where distributions install the kernel with its debug information. The running kernel has its
 * build id in /sys/kernel/notes; a recording has that of the recorded kernel. A file with another
 * build id belongs to another kernel, whatever its name is.
 */
#include "kontend/vmlinux.h"
#include "kontend/file-access.h"
#include "user/internal.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOTES_MOST = 16 << 10, LINE_SIZE = 512, MODULE_PLACES = 7 };

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

/* Reads the build id from the notes in file @path. False: it has none. */
static bool read_notes(struct vmlinux *ret, const char *path)
{
	uint8_t bytes[NOTES_MOST], id[ELFIMG_BUILD_ID_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t n = read(fd, bytes, sizeof(bytes));
	close(fd);
	size_t len = n > 0 ? elfimg_notes_id(bytes, (size_t)n, id) : 0;
	if (!len || len > sizeof(ret->build_id))
		return false;
	memcpy(ret->build_id, id, len);
	ret->build_id_len = len;
	return true;
}

bool vmlinux_running(struct vmlinux *ret, const char *root)
{
	char path[sizeof(ret->path)];

	*ret = (struct vmlinux){0};
	snprintf(path, sizeof(path), "%s/sys/kernel/notes", root);
	return read_notes(ret, path);
}

/* Checks that the file has the wanted build id, symbols and debug information. */
static enum vmlinux_answer look_at(const struct vmlinux *v)
{
	struct elfimg e;
	int fd = file_access_open(NULL, -1, v->path, 0);

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

/* Sets the path that debug files have by build id; there is room. */
static void put_id_path(struct vmlinux *v, const char *root)
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
			put_id_path(ret, root);
		enum vmlinux_answer a = look_at(ret);
		if (a == VMLINUX_OK)
			return a;
		best = a > best ? a : best;
	}
	return best;
}

/*
 * Kernel modules: files in the release's folders as depmod found them, or by build id.
 * /sys/module/NAME/notes has the build id of a loaded module. File names may have `-` where module
 * names have `_`.
 */

static const struct {
	const char *folder, *end;
} module_places[MODULE_PLACES - 1] = {
	{"/usr/lib/debug/lib/modules", ".ko.debug"},
	{"/usr/lib/debug/lib/modules", ".ko"},
	{"/usr/lib/debug/usr/lib/modules", ".ko.debug"},
	{"/usr/lib/debug/usr/lib/modules", ".ko"},
	{"/lib/modules", ".ko.debug"},
	{"/lib/modules", ".ko"},
};

const char *vmlinux_module_reason(enum vmlinux_answer a)
{
	static const char *const reasons[VMLINUX_ANSWERS] = {
		[VMLINUX_OK] = "found",
		[VMLINUX_NO_ID] = "the build id of the module is not known",
		[VMLINUX_NO_FILE] = "no debug file of the module is installed",
		[VMLINUX_OTHER] = "the file of the module that is installed is of another build",
		[VMLINUX_STRIPPED] =
			"the file of the module that is installed has no debug information",
	};

	return (unsigned)a < VMLINUX_ANSWERS ? reasons[a] : "unknown";
}

/* Recordings contain names, too: a name must not lead the path to another folder. */
static bool is_plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

bool vmlinux_running_module(struct vmlinux *ret, const char *root, const char *name)
{
	char path[sizeof(ret->path)];

	*ret = (struct vmlinux){0};
	int n = snprintf(path, sizeof(path), "%s/sys/module/%s/notes/.note.gnu.build-id", root,
			 name);
	return is_plain(name) && n > 0 && (size_t)n < sizeof(path) && read_notes(ret, path);
}

/* Length of @path before ".ko"; 0: not the file of this module. */
static size_t stem(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *p = slash ? slash + 1 : path;

	for (; *name && (*p == *name || (*p == '-' && *name == '_')); name++)
		p++;
	return !*name && !strncmp(p, ".ko", 3) && (!p[3] || p[3] == '.') ? (size_t)(p - path) : 0;
}

bool vmlinux_is_module(const char *path, const char *name)
{
	size_t n = strlen(name);

	return stem(path, name) ||
	       (path[0] == '[' && !strncmp(path + 1, name, n) && !strcmp(path + 1 + n, "]"));
}

/* Finds the line of modules.dep for @name, up to its ".ko". */
static bool find_stem(const char *root, const char *release, const char *name, char *ret)
{
	char path[LINE_SIZE];
	bool found = false, begins = true;
	int n = snprintf(path, sizeof(path), "%s/lib/modules/%s/modules.dep", root, release);
	FILE *f = n > 0 && (size_t)n < sizeof(path) ? fopen(path, "re") : NULL;

	while (f && !found && fgets(ret, LINE_SIZE, f)) {
		bool is_first = begins;
		begins = strchr(ret, '\n') != NULL;
		ret[strcspn(ret, ":\n")] = '\0';
		size_t len = is_first && is_plain(name) && *ret != '/' ? stem(ret, name) : 0;
		ret[len] = '\0';
		found = len && !strstr(ret, "..");
	}
	if (f)
		fclose(f);
	return found;
}

static bool put_module_path(struct vmlinux *v, const char *root, const char *release,
			    const char *middle, size_t i)
{
	int n = snprintf(v->path, sizeof(v->path), "%s%s/%s/%s%s", root, module_places[i].folder,
			 release, middle, module_places[i].end);

	return n > 0 && (size_t)n < sizeof(v->path);
}

enum vmlinux_answer vmlinux_find_module(struct vmlinux *ret, const char *root, const char *release,
					const char *name)
{
	enum vmlinux_answer best = VMLINUX_NO_FILE;
	char middle[LINE_SIZE];

	if (strlen(root) + 96 > sizeof(ret->path) || strchr(release, '/'))
		return VMLINUX_NO_FILE;
	if (!ret->build_id_len)
		return VMLINUX_NO_ID;
	bool known = find_stem(root, release, name, middle);
	for (size_t i = known ? 0 : MODULE_PLACES - 1; i < MODULE_PLACES; i++) {
		if (i == MODULE_PLACES - 1)
			put_id_path(ret, root);
		else if (!put_module_path(ret, root, release, middle, i))
			continue;
		enum vmlinux_answer a = look_at(ret);
		if (a == VMLINUX_OK)
			return a;
		best = a > best ? a : best;
	}
	return best;
}
