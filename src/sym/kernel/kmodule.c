// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where distributions put the modules of the kernel with their debug information: below folders of
 * the release as depmod found them, or by build id. What a loaded module says of itself is in
 * /sys/module/NAME/notes. Files have `-` where the kernel has `_`, or not.
 */
#include "kontend/kmodule.h"
#include "vmlinux-int.h"

#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 512, PLACES = 7 };

static const struct {
	const char *folder, *end;
} places[PLACES - 1] = {
	{"/usr/lib/debug/lib/modules", ".ko.debug"},
	{"/usr/lib/debug/lib/modules", ".ko"},
	{"/usr/lib/debug/usr/lib/modules", ".ko.debug"},
	{"/usr/lib/debug/usr/lib/modules", ".ko"},
	{"/lib/modules", ".ko.debug"},
	{"/lib/modules", ".ko"},
};

const char *kmodule_reason(enum vmlinux_answer a)
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

/* Names are said by recordings, too: of none may a path be made that leads elsewhere. */
static bool is_plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

bool kmodule_loaded(struct vmlinux *ret, const char *root, const char *name)
{
	char path[sizeof(ret->path)];

	*ret = (struct vmlinux){0};
	int n = snprintf(path, sizeof(path), "%s/sys/module/%s/notes/.note.gnu.build-id", root,
			 name);
	return is_plain(name) && n > 0 && (size_t)n < sizeof(path) && vmlinux_notes(ret, path);
}

/* The bytes of @path in front of ".ko"; 0: it is another module's, or none's. */
static size_t stem(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *p = slash ? slash + 1 : path;

	for (; *name && (*p == *name || (*p == '-' && *name == '_')); name++)
		p++;
	return !*name && !strncmp(p, ".ko", 3) && (!p[3] || p[3] == '.') ? (size_t)(p - path) : 0;
}

bool kmodule_is(const char *path, const char *name)
{
	size_t n = strlen(name);

	return stem(path, name) ||
	       (path[0] == '[' && !strncmp(path + 1, name, n) && !strcmp(path + 1 + n, "]"));
}

/* The line of modules.dep that is about @name, up to its ".ko". */
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

static bool put_path(struct vmlinux *v, const char *root, const char *release, const char *middle,
		     size_t i)
{
	int n = snprintf(v->path, sizeof(v->path), "%s%s/%s/%s%s", root, places[i].folder, release,
			 middle, places[i].end);

	return n > 0 && (size_t)n < sizeof(v->path);
}

enum vmlinux_answer kmodule_find(struct vmlinux *ret, const char *root, const char *release,
				 const char *name)
{
	enum vmlinux_answer best = VMLINUX_NO_FILE;
	char middle[LINE_SIZE];

	if (strlen(root) + 96 > sizeof(ret->path) || strchr(release, '/'))
		return VMLINUX_NO_FILE;
	if (!ret->build_id_len)
		return VMLINUX_NO_ID;
	bool known = find_stem(root, release, name, middle);
	for (size_t i = known ? 0 : PLACES - 1; i < PLACES; i++) {
		if (i == PLACES - 1)
			vmlinux_put_id_path(ret, root);
		else if (!put_path(ret, root, release, middle, i))
			continue;
		enum vmlinux_answer a = vmlinux_look_at(ret);
		if (a == VMLINUX_OK)
			return a;
		best = a > best ? a : best;
	}
	return best;
}
