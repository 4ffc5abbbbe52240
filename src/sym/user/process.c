// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files and memory of processes, for their symbols.
 * A path may mean another file to a process than to kontend (containers), and a process may still
 * run a deleted or replaced file. So a file is opened through the process first, by its root or its
 * mappings, and as kontend sees it last. The build id decides. Without a recorded build id only the
 * mapping is certain and comes first: if it cannot be opened and belongs to a deleted file, no file
 * of that name is used.
 * Paths come from mappings of any process, which may map a device: only regular files are opened.
 * Below another root, links are followed within it.
 */
#include "internal.h"

#include "kontend/clock.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4200, MAPS_MOST = 1 << 20 };

static const uint64_t SECOND_NS = 1000000000, CLOCKS_NS = 5000000000;

static FILE *open_proc(const struct usersyms *u, pid_t pid, const char *name)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%d/%s", u->config.proc, (int)pid, name);
	return fopen(path, "re");
}

/* Opens the file mapped by process o->pid, if that runs on this machine. */
static int open_mapped(const struct usersyms *u, const struct usersym_object *o, bool *ret_deleted)
{
	if (o->pid <= 0 || !u->config.same_machine)
		return -ENOENT;
	return file_access_mapped(u->config.door, u->config.proc, o->pid, o->path, ret_deleted);
}

int usersym_open_in(const struct usersyms *u, int root_fd, const char *path, int flags)
{
	return file_access_open(u->config.door, root_fd, path, flags);
}

int usersym_open_root(const struct usersyms *u, pid_t pid)
{
	if (pid <= 0 || !u->config.same_machine)
		return -1;
	return file_access_root(u->config.door, u->config.proc, pid);
}

static bool has_id(const struct usersym_object *o, const struct elfimg *e)
{
	size_t n = e->build_id_len < USERSYM_ID_MAX ? e->build_id_len : USERSYM_ID_MAX;

	return !o->id_len || (n == o->id_len && memcmp(o->id, e->build_id, n) == 0);
}

static enum usersym_answer take_symbols(const struct usersym_object *o, struct elfimg *e, int code)
{
	if (code < 0)
		return code == -ENOMEM ? USERSYM_NO_MEMORY : USERSYM_NOT_ELF;
	if (has_id(o, e))
		return USERSYM_OK;
	elfimg_close(e);
	return USERSYM_OTHER_FILE;
}

/*
 * Where stat() shows no block device (btrfs, overlayfs), the kernel may have recorded other
 * numbers.
 */
static bool is_other_inode(const struct usersym_inode *i, int fd)
{
	struct stat st;

	return i->ino && fd >= 0 && fstat(fd, &st) == 0 && major(st.st_dev) && st.st_ino != i->ino;
}

/*
 * Is it not the file that was mapped? Its change time also shows if another file got the inode. The
 * clocks that are compared may differ by some seconds.
 */
static bool was_changed(const struct usersym_inode *i, int fd)
{
	struct stat st;

	if (!i->ino || fd < 0)
		return false;
	if (fstat(fd, &st) < 0 || st.st_ino != i->ino)
		return true;
	if (major(st.st_dev) && (major(st.st_dev) != i->maj || minor(st.st_dev) != i->min))
		return true;
	return i->mapped_ns && usersym_file_of(&st).ctime_ns > i->mapped_ns + CLOCKS_NS;
}

static enum usersym_answer take_fd(const struct usersym_object *o, int fd, struct elfimg *ret)
{
	if (usersym_is_short(fd))
		return USERSYM_NO_DESCRIPTOR;
	if (fd == -EACCES || fd == -EPERM)
		return USERSYM_NO_RIGHT;
	if (fd == -ENOEXEC)
		return USERSYM_NOT_ELF;
	if (fd < 0)
		return USERSYM_NO_FILE;
	return take_symbols(o, ret, elfimg_open_fd(ret, fd));
}

/* Size of kontend's own vDSO: its section table is its last part. */
static size_t vdso_size(const void *p)
{
	Elf64_Ehdr h;

	memcpy(&h, p, sizeof(h));
	return h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
}

/* The vDSO: it is in no file, but mapped into kontend, too. */
static enum usersym_answer open_vdso(const struct usersyms *u, const struct usersym_object *o,
				     struct elfimg *ret)
{
	const void *p = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

	if (!p)
		return USERSYM_NO_FILE;
	if (!u->config.same_machine && !o->id_len)
		return USERSYM_UNSURE;
	return take_symbols(o, ret, elfimg_open_mem(ret, p, vdso_size(p)));
}

static enum usersym_answer take_found(const struct usersym_object *o, int fd, bool is_other,
				      struct elfimg *ret)
{
	if (!is_other)
		return take_fd(o, fd, ret);
	close(fd);
	return USERSYM_CHANGED;
}

/* A file found by its path, which may mean another one now, or here. */
static enum usersym_answer take_path(const struct usersyms *u, struct usersym_object *o, int fd,
				     struct elfimg *ret)
{
	const struct usersyms_config *c = &u->config;
	bool is_shown = o->id_len || (c->same_machine && !c->symfs && !was_changed(&o->inode, fd));
	bool is_taken = is_shown || c->trust_paths || c->symfs;
	enum usersym_answer a = take_found(o, fd, fd >= 0 && !is_taken, ret);

	o->is_trusted = a == USERSYM_OK && !is_shown;
	return a;
}

/* Opens by the root of the process, by its mapping, or by the path as kontend sees it. */
static enum usersym_answer open_by(char way, const struct usersyms *u, struct usersym_object *o,
				   struct elfimg *ret, int root, bool *ret_deleted)
{
	if (way == 'm') {
		int fd = open_mapped(u, o, ret_deleted);
		return take_found(o, fd, is_other_inode(&o->inode, fd), ret);
	}
	if (*ret_deleted && !o->id_len)
		return USERSYM_NO_FILE;
	if (way == 'r')
		return root < 0 ? USERSYM_NO_FILE
				: take_path(u, o, usersym_open_in(u, root, o->path, 0), ret);
	/* A process with another root may mean another file. */
	if (root >= 0 && !o->id_len)
		return USERSYM_NO_FILE;
	return take_path(u, o, usersym_open_in(u, -1, o->path, 0), ret);
}

/* Below the folder that the user has given, as below the root of a process. */
static enum usersym_answer open_symfs(const struct usersyms *u, struct usersym_object *o,
				      struct elfimg *ret, int *ret_root)
{
	int root = file_access_folder(u->config.door, u->config.symfs);
	enum usersym_answer a =
		take_path(u, o, root < 0 ? root : usersym_open_in(u, root, o->path, 0), ret);

	if (a == USERSYM_OK)
		*ret_root = root;
	else if (root >= 0)
		close(root);
	return a;
}

enum usersym_answer usersym_open(const struct usersyms *u, struct usersym_object *o,
				 struct elfimg *ret, int *ret_root)
{
	enum usersym_answer worst = USERSYM_NO_FILE;

	*ret_root = -1;
	if (!strcmp(o->path, "[vdso]"))
		return open_vdso(u, o, ret);
	if (!strcmp(o->path, "[uprobes]"))
		return USERSYM_SLOTS;
	if (o->path[0] != '/')
		return USERSYM_NO_FILE;
	if (u->config.symfs)
		return open_symfs(u, o, ret, ret_root);
	if (!u->config.same_machine && !o->id_len && !u->config.trust_paths)
		return USERSYM_UNSURE;
	int root = usersym_open_root(u, o->pid);
	bool deleted = false;
	for (const char *way = o->id_len ? "rmp" : "mrp"; *way; way++) {
		enum usersym_answer a = open_by(*way, u, o, ret, root, &deleted);
		if (a == USERSYM_OK) {
			*ret_root = root;
			return a;
		}
		/* "Another file" is a better reason than "no file". */
		if (worst == USERSYM_NO_FILE || a == USERSYM_OTHER_FILE || a == USERSYM_CHANGED ||
		    a == USERSYM_NO_DESCRIPTOR)
			worst = a;
	}
	if (root >= 0)
		close(root);
	return worst;
}

/*
 * JIT code that no file has, from the memory of its process (/proc/PID/mem) while that lives. The
 * process must be the one that wrote the names, and only mappings that are executable and anonymous
 * or of a memory file are read.
 */

enum { START_FIELD = 22, COMM_FIELD = 2 };

static enum usersym_answer answer_of(int code)
{
	return code == EACCES || code == EPERM ? USERSYM_MEMORY_DENIED : USERSYM_MEMORY_GONE;
}

/* Start time of the process since boot; false: not known. */
static bool started_ns(const struct usersyms *u, pid_t pid, uint64_t *ret)
{
	char line[1024];
	unsigned long long ticks;
	long hz = sysconf(_SC_CLK_TCK);
	FILE *f = open_proc(u, pid, "stat");
	const char *at = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;

	if (f)
		fclose(f);
	for (int i = COMM_FIELD; at && i < START_FIELD; i++) {
		at = strchr(at, ' ');
		at += at ? 1 : 0;
	}
	if (!at || hz <= 0 || sscanf(at, "%llu", &ticks) != 1)
		return false;
	*ret = ticks * (SECOND_NS / (uint64_t)hz);
	return true;
}

/*
 * True if the names were written after the process started: not by an earlier process with that
 * PID.
 */
static bool is_writer(const struct usersyms *u, const struct usersym_jit *j)
{
	uint64_t started, wall = clock_ns(CLOCK_REALTIME), boot = clock_ns(CLOCK_BOOTTIME);

	/* File times have coarser steps. */
	return started_ns(u, j->pid, &started) &&
	       wall - boot + started <= j->written_ns + SECOND_NS;
}

static bool is_in_memory(const char *line, uint64_t *ret_from, uint64_t *ret_end)
{
	unsigned long long from, end, ino;
	char perms[8];
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %*s %*s %llu %n", &from, &end, perms, &ino, &at) != 4)
		return false;
	*ret_from = from;
	*ret_end = end;
	return perms[2] == 'x' &&
	       (!ino || !strncmp(line + at, "/memfd:", 7) || !strncmp(line + at, "/dev/zero", 9));
}

/* Finds the mapping around @addr and keeps it in @j for the next lookups. */
static enum usersym_answer find_mapped(const struct usersyms *u, struct usersym_jit *j,
				       uint64_t addr)
{
	char line[PATH_SIZE];
	uint64_t from, end;
	bool found = false;

	if (addr >= j->mapped_from && addr < j->mapped_end)
		return USERSYM_OK;
	FILE *f = open_proc(u, j->pid, "maps");
	if (!f)
		return answer_of(errno);
	for (size_t n = 0; !found && n < MAPS_MOST && fgets(line, sizeof(line), f); n++)
		found = is_in_memory(line, &from, &end) && addr >= from && addr < end;
	fclose(f);
	if (!found)
		return USERSYM_MEMORY_GONE;
	j->mapped_from = from;
	j->mapped_end = end;
	return USERSYM_OK;
}

enum usersym_answer usersym_jit_memory(const struct usersyms *u, struct usersym_jit *j,
				       uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	if (!is_writer(u, j))
		return USERSYM_MEMORY_GONE;
	enum usersym_answer a = find_mapped(u, j, addr);
	if (a != USERSYM_OK)
		return a;
	FILE *f = open_proc(u, j->pid, "mem");
	if (!f)
		return answer_of(errno);
	uint64_t left = j->mapped_end - addr;
	ssize_t got = pread(fileno(f), ret, left < n ? (size_t)left : n, (off_t)addr);
	int code = got < 0 ? errno : 0;
	fclose(f);
	if (got <= 0) {
		j->mapped_from = j->mapped_end = 0;
		return answer_of(code);
	}
	*ret_n = (size_t)got;
	return USERSYM_OK;
}
