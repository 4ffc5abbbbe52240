// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds tracefs and reads tracepoints from it. /proc/self/mounts decides: distributions mount it at
 * /sys/kernel/tracing, below debugfs, or not at all. Paths there have blanks as \040, which are
 * decoded. kontend reads two plain files for each event and needs no tracefs library. One pure
 * function makes the texts of failures and their remedies, so that every text has a test.
 */
#include "kontend/tracefs.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/privs.h"
#include "kontend/sysinfo.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char default_path[] = "/sys/kernel/tracing";

/* Copies a mount point, with \ooo decoded; false when it does not fit. */
static bool unescape(char *dst, size_t size, const char *src, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = src[i];
		if (c == '\\' && i + 3 < len && src[i + 1] >= '0' && src[i + 1] <= '3') {
			c = (char)((src[i + 1] - '0') << 6 | (src[i + 2] & 7) << 3 |
				   (src[i + 3] & 7));
			i += 3;
		}
		if (n + 1 >= size)
			return false;
		dst[n++] = c;
	}
	dst[n] = '\0';
	return true;
}

/* If @line mounts file system @type: its mount point. */
static bool mount_point(const char *line, const char *type, char *ret, size_t size)
{
	const char *dir = strchr(line, ' ');
	const char *fs = dir ? strchr(dir + 1, ' ') : NULL;
	size_t len = strlen(type);

	if (!fs || strncmp(fs + 1, type, len) || fs[1 + len] != ' ')
		return false;
	return unescape(ret, size, dir + 1, (size_t)(fs - dir - 1));
}

static bool search_type(const char *text, const char *type, char *ret, size_t size)
{
	for (const char *line = text; line && *line;) {
		if (mount_point(line, type, ret, size))
			return true;
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return false;
}

int tracefs_search(const char *mounts, char ret_path[TRACEFS_PATH])
{
	static const char below[] = "/tracing";
	char path[TRACEFS_PATH];
	char *text;
	size_t len;
	int r = fdio_read_file(mounts, &text, &len);

	if (r < 0)
		return r;
	r = -ENOENT;
	if (search_type(text, "tracefs", path, sizeof(path))) {
		r = 0;
	} else if (search_type(text, "debugfs", path, sizeof(path) - sizeof(below))) {
		strcat(path, below);
		r = access(path, F_OK) ? -ENOENT : 0;
	}
	mem_free(text);
	if (r == 0)
		memcpy(ret_path, path, sizeof(path));
	return r;
}

static int say_unmounted(const char *type, const char *where, struct error *err)
{
	return error_set(err, -ENXIO,
			 "%s is empty, but the kernel should describe its events there: run 'mount "
			 "-t %s %s %s'",
			 where, type, type, where);
}

int tracefs_find(char ret_path[TRACEFS_PATH], struct error *err)
{
	int found = access("/proc/self", F_OK)	  ? say_unmounted("proc", "/proc", err)
		    : access("/sys/kernel", F_OK) ? say_unmounted("sysfs", "/sys", err)
						  : tracefs_search("/proc/self/mounts", ret_path);

	/* Another file system may be mounted over it. */
	if (found == -ENXIO || (found == 0 && (!access(ret_path, F_OK) || errno != ENOENT)))
		return found;
	if (found < 0 && found != -ENOENT)
		return error_errno(err, found, "Cannot read /proc/self/mounts to find tracefs");
	if (mount("nodev", default_path, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0) {
		snprintf(ret_path, TRACEFS_PATH, "%s", default_path);
		return 0;
	}
	int code = -errno;
	if (code == -EPERM || code == -EACCES)
		return error_set(err, code,
				 "tracefs is not mounted, and only root may mount it (%s): run "
				 "'sudo mount -t tracefs nodev %s'",
				 strerror(-code), default_path);
	if (code == -ENODEV)
		return error_set(err, code,
				 "This kernel has no tracefs (CONFIG_FTRACE is off), so there are "
				 "no lock events to read: use a kernel that was built with it");
	return error_errno(err, code, "Cannot mount tracefs at %s (mount -t tracefs nodev %s)",
			   default_path, default_path);
}

/* Is @release older than the first kernel with lock:contention_begin? */
static bool before_contention_events(const char *release)
{
	int major = 0, minor = 0;

	if (sscanf(release, "%d.%d", &major, &minor) != 2)
		return false;
	return major < 5 || (major == 5 && minor < 19);
}

static int explain_missing(const struct tracefs_failure *f, struct error *err)
{
	if (before_contention_events(f->release))
		return error_set(err, f->code,
				 "Kernel %s has no lock:contention_begin event (%s: %s): it came "
				 "with Linux 5.19, boot that or a newer one",
				 f->release, f->file, strerror(-f->code));
	return error_set(err, f->code,
			 "Kernel %s has %s (%s: %s): use a kernel built with CONFIG_EVENT_TRACING "
			 "and CONFIG_FTRACE",
			 f->release, f->has_system ? "no such event" : "no lock events at all",
			 f->file, strerror(-f->code));
}

int tracefs_explain(const struct tracefs_failure *f, struct error *err)
{
	if (f->code == -ENOENT)
		return explain_missing(f, err);
	if (f->code != -EPERM && f->code != -EACCES)
		return error_errno(err, f->code, "Cannot read the tracepoint file %s", f->file);
	if (!strcmp(f->lockdown, "confidentiality"))
		return error_set(err, f->code,
				 "The kernel is locked down (confidentiality), which forbids "
				 "tracing (%s: %s): boot with lockdown=integrity or none",
				 f->file, strerror(-f->code));
	if (f->root)
		return error_set(err, f->code,
				 "Root may not read %s (%s): a container or a security module "
				 "forbids it; run on the host, or with --privileged",
				 f->file, strerror(-f->code));
	return error_set(
		err, f->code,
		"Only root may read %s (%s): run as root, or once 'sudo setcap " PRIVS_SETCAP
		" %s'",
		f->file, strerror(-f->code), f->exe);
}

static int fail(int code, const char *file, const char *dir, struct error *err)
{
	struct utsname u = {0};
	char lockdown[32], exe[PATH_MAX];

	uname(&u);
	return tracefs_explain(
		&(struct tracefs_failure){
			.code = code,
			.file = file,
			.release = u.release,
			.lockdown = sysinfo_lockdown(lockdown, sizeof(lockdown)),
			.exe = sysinfo_exe(exe, sizeof(exe)),
			.root = geteuid() == 0,
			.has_system = access(dir, F_OK) == 0,
		},
		err);
}

static int parse_id(const char *text, uint32_t *ret)
{
	uint64_t id;

	if (number_parse(text, 0, UINT32_MAX, &id) < 0)
		return -EBADMSG;
	*ret = (uint32_t)id;
	return 0;
}

int tracepoint_read(struct tracepoint *tp, const char *path, const char *system, const char *event,
		    struct error *err)
{
	char dir[PATH_MAX], file[PATH_MAX + 64], text[32];

	snprintf(dir, sizeof(dir), "%s/events/%s", path, system);
	snprintf(file, sizeof(file), "%s/%s/id", dir, event);
	int r = sysinfo_read(file, text, sizeof(text));
	if (r >= 0)
		r = parse_id(text, &tp->id);
	if (r == 0) {
		snprintf(file, sizeof(file), "%s/%s/format", dir, event);
		r = fdio_read_file(file, &tp->format, &tp->format_len);
	}
	return r < 0 ? fail(r, file, dir, err) : 0;
}

void tracepoint_deinit(struct tracepoint *tp)
{
	mem_free(tp->format);
	*tp = (struct tracepoint){0};
}
