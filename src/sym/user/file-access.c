// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to files and processes: directly, or through a broker (file-access.h).
 * Paths come from mappings of any process, which may map a device: only regular files are opened.
 * Below another root, links are followed within it.
 * A broker gets names that a hostile recording may contain. The content of a file decides whether
 * it is passed on, not its name: ELF files and jitdumps have magic bytes. Text has none, so its
 * name must match, after all links are resolved. Source files must be world-readable. Maps of JIT
 * compilers are often readable only by their owner; they must begin like a map.
 */
#include "internal.h"

#include "kontend/file-access.h"
#include "kontend/mem.h"
#include "kontend/patience.h"
#include "lines/internal.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_SIZE = 4200, MAPS_MOST = 1 << 20 };

static int open_place(int root_fd, const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
			       .resolve = RESOLVE_IN_ROOT};

	if (root_fd < 0)
		return open(path, O_PATH | O_CLOEXEC | flags);
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	if (fd < 0 && errno == ENOSYS)
		return openat(root_fd, path + strspn(path, "/"), O_PATH | O_CLOEXEC | flags);
	return fd;
}

static int open_here(int root_fd, const char *path, int flags)
{
	char again[40];
	struct stat st = {0};
	int place = open_place(root_fd, path, flags), fd = -1;

	if (place < 0)
		return -errno;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	if (fstat(place, &st) != 0 || !S_ISREG(st.st_mode))
		errno = S_ISLNK(st.st_mode) ? ELOOP : ENOEXEC;
	else
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int code = fd < 0 ? -errno : fd;
	close(place);
	return code;
}

/* The path in a line of maps, or NULL; *ret_range: name of the mapping in /proc/PID/map_files. */
static const char *mapped_path(char *line, char *ret_range, size_t size)
{
	unsigned long long from, end;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &from, &end, &at) != 2 || !at)
		return NULL;
	snprintf(ret_range, size, "%llx-%llx", from, end);
	return line + at;
}

static const char gone[] = " (deleted)";

/* Compares without the mark of deleted files; a deleted file keeps its name. */
static bool is_path(const char *mapped, const char *path)
{
	size_t n = strlen(path), tail = sizeof(gone) - 1;

	if (n > tail && strcmp(path + n - tail, gone) == 0)
		n -= tail;
	return strncmp(mapped, path, n) == 0 && (!mapped[n] || strcmp(mapped + n, gone) == 0);
}

static bool is_deleted(const char *mapped)
{
	size_t n = strlen(mapped), tail = sizeof(gone) - 1;

	return n > tail && strcmp(mapped + n - tail, gone) == 0;
}

/* Opens the program itself if @name is its file: that needs only ptrace access, no capability. */
static int open_program(const char *proc, pid_t pid, const char *name)
{
	char path[PATH_SIZE], target[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%d/exe", proc, (int)pid);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	return is_path(target, name) ? open_here(-1, path, 0) : -ENOENT;
}

static int find_mapped(const char *proc, pid_t pid, const char *name, bool *ret_deleted)
{
	char path[PATH_SIZE], line[PATH_SIZE], range[64];
	int fd = -ENOENT;

	snprintf(path, sizeof(path), "%s/%d/maps", proc, (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return -errno;
	for (size_t n = 0; fd == -ENOENT && n < MAPS_MOST && fgets(line, sizeof(line), f); n++) {
		const char *mapped = mapped_path(line, range, sizeof(range));
		if (!mapped || !is_path(mapped, name))
			continue;
		*ret_deleted = is_deleted(mapped);
		snprintf(path, sizeof(path), "%s/%d/map_files/%s", proc, (int)pid, range);
		fd = open_here(-1, path, 0);
	}
	fclose(f);
	int program = fd == -EPERM || fd == -EACCES ? open_program(proc, pid, name) : fd;
	return program >= 0 ? program : fd;
}

/* For the thread that reads the mappings of a process, which may have to wait for its mmap_lock. */
struct search {
	char *proc, *name;
	pid_t pid;
	bool deleted;
	int fd; /* or negative errno */
};

static void search_free(struct search *s)
{
	mem_free(s->proc);
	mem_free(s->name);
	mem_free(s);
}

static void search(void *arg)
{
	struct search *s = arg;

	s->fd = find_mapped(s->proc, s->pid, s->name, &s->deleted);
}

static void drop(void *arg)
{
	struct search *s = arg;

	if (s->fd >= 0)
		close(s->fd);
	search_free(s);
}

static int mapped_here(const char *proc, pid_t pid, const char *name, bool *ret_deleted)
{
	struct search *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = (struct search){.proc = mem_strdup(proc), .name = mem_strdup(name), .pid = pid};
	int fd = s->proc && s->name ? patience_run(search, drop, s) : -ENOMEM;
	if (fd == -ETIMEDOUT)
		return fd;
	if (fd == 0) {
		fd = s->fd;
		*ret_deleted = s->deleted;
	}
	search_free(s);
	return fd;
}

int file_access_open(const struct file_access *d, int root_fd, const char *path, int flags)
{
	return d ? d->open(d->ctx, root_fd, path, flags) : open_here(root_fd, path, flags);
}

int file_access_root(const struct file_access *d, const char *proc, pid_t pid)
{
	char path[PATH_SIZE];

	if (d)
		return d->root(d->ctx, pid);
	snprintf(path, sizeof(path), "%s/%d/root", proc, (int)pid);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int file_access_folder(const struct file_access *d, const char *path)
{
	int fd = d ? d->root(d->ctx, 0) : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 && !d ? -errno : fd;
}

int file_access_mapped(const struct file_access *d, const char *proc, pid_t pid, const char *path,
		       bool *ret_deleted)
{
	return d ? d->mapped(d->ctx, pid, path, ret_deleted)
		 : mapped_here(proc, pid, path, ret_deleted);
}

/* ELF, or a jitdump: its first word is "JiTD" as a number, in either byte order. */
static bool says_what_it_is(int fd)
{
	char magic[4];

	_Static_assert(SELFMAG == sizeof(magic), "marks are of one size");
	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       (memcmp(magic, ELFMAG, SELFMAG) == 0 || memcmp(magic, "DTiJ", 4) == 0 ||
		memcmp(magic, "JiTD", 4) == 0);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * True for a file "perf-12.map" with one hard link that begins with an address and a size: "7f00 2a
 * name".
 */
static bool is_jit_map(int fd, const char *path, const struct stat *st)
{
	static const char hex[] = "0123456789abcdefABCDEFx";
	char begin[64] = "";
	int map = 0;

	(void)!sscanf(base_of(path), "perf-%*u.map%n", &map);
	if (!map || base_of(path)[map] || st->st_nlink > 1)
		return false;
	if (pread(fd, begin, sizeof(begin) - 1, 0) <= 0)
		return st->st_size == 0;
	size_t address = strspn(begin, hex);
	size_t size = begin[address] == ' ' ? strspn(begin + address + 1, hex) : 0;
	return address && size && begin[address + 1 + size] == ' ';
}

static bool is_source(const char *path)
{
	static const char *const ends[] = {
		".c",	".h",	".cc",	".cpp", ".cxx", ".c++", ".C",	".hh",	".hpp",	  ".hxx",
		".H",	".inc", ".def", ".tcc", ".ipp", ".inl", ".s",	".S",	".asm",	  ".rs",
		".go",	".zig", ".d",	".m",	".mm",	".f",	".f90", ".F90", ".swift", ".adb",
		".ads", ".pas", ".nim", ".cu",	".y",	".l",	".ll",	".ml",	".hs",	  ".cr",
	};
	const char *dot = strrchr(base_of(path), '.');

	for (size_t i = 0; dot && i < sizeof(ends) / sizeof(*ends); i++)
		if (strcmp(dot, ends[i]) == 0)
			return true;
	return false;
}

bool file_access_may_pass(int fd)
{
	char link[40], real[PATH_SIZE];
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (says_what_it_is(fd))
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, real, sizeof(real) - 1);
	real[n > 0 ? n : 0] = '\0';
	return (is_source(real) && st.st_mode & S_IROTH) || is_jit_map(fd, real, &st);
}
