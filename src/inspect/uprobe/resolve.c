// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the user's text to a file and an offset in it. A path is one of the process's own root,
 * which need not be ours. A name without a slash is that of a file which the process has mapped, or
 * of a command. A place inside of a function must be where an instruction begins: the kernel would
 * write over the middle of one.
 */
#include "resolve.h"
#include "kontend/binary.h"
#include "kontend/uprobe.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FUNCTION_MAX = 1 << 14, LINE_SIZE = PATH_MAX + 128 };

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The path by which we get at what the process calls @path: as it is, if that is the same file. */
static bool as_seen_by(pid_t pid, const char *path, char *ret, size_t size)
{
	char whole[PATH_MAX], theirs[PATH_MAX + 32];

	if (pid && *path == '/') {
		snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", pid, path);
		if (access(theirs, F_OK) == 0 && !is_same_file(theirs, path))
			return snprintf(ret, size, "%s", theirs) < (int)size;
	}
	return realpath(path, whole) && snprintf(ret, size, "%s", whole) < (int)size;
}

/* Has the process a file of this name mapped? */
static bool find_mapped(pid_t pid, const char *name, char *ret, size_t size)
{
	char path[64], line[LINE_SIZE];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = pid ? fopen(path, "re") : NULL;
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, '/'), *base = at ? strrchr(at, '/') + 1 : NULL;
		line[strcspn(line, "\n")] = '\0';
		found = base && !strcmp(base, name) && as_seen_by(pid, at, ret, size);
	}
	if (f)
		fclose(f);
	return found;
}

/* As a shell would find it. */
static bool find_command(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	for (size_t n; path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, name) <
			    (int)sizeof(file) &&
		    access(file, X_OK) == 0)
			return as_seen_by(0, file, ret, size);
	}
	return false;
}

static int find_binary(const struct uprobe_spec *s, pid_t pid, const char *command, char *ret,
		       size_t size, struct error *err)
{
	const char *name = s->binary;

	if (strchr(name, '/'))
		return as_seen_by(pid, name, ret, size)
			       ? 0
			       : error_errno(err, -errno, "Cannot find %s", name);
	if ((!command && find_mapped(pid, name, ret, size)) || find_command(name, ret, size))
		return 0;
	if (pid && !command)
		return error_set(
			err, -ENOENT,
			"Process %d has mapped no file '%s', and there is no such command: "
			"give its path; see /proc/%d/maps",
			pid, name, pid);
	return error_set(err, -ENOENT, "There is no command '%s': give the path of the binary",
			 name);
}

/* Where the instruction begins that the byte @into of @code belongs to; how long is it? */
static uint64_t begin_of(enum uprobe_machine m, const uint8_t *code, size_t n, uint64_t into,
			 size_t *ret_len)
{
	uint64_t at = 0;

	while ((*ret_len = uprobe_length(m, code + at, n - at < 16 ? n - at : 16)) &&
	       at + *ret_len <= into)
		at += *ret_len;
	return at;
}

/* Instructions that cannot be decoded are left to the kernel. */
static int check_begin(struct binary *b, const struct uprobe_spec *s, uint64_t offset,
		       struct error *err)
{
	uint8_t code[FUNCTION_MAX];
	size_t len;

	if (!*s->function || s->offset >= FUNCTION_MAX - 16)
		return 0;
	size_t n = binary_read(b, offset - s->offset, code, s->offset + 16);
	uint64_t at = begin_of(binary_machine(b), code, n, s->offset, &len);
	if (!len || at == s->offset)
		return 0;
	return error_set(err, -EINVAL,
			 "%s+0x%" PRIx64 " is inside of an instruction: one begins at +0x%" PRIx64
			 ", the next at +0x%" PRIx64,
			 s->function, s->offset, at, at + len);
}

static int find_place(const struct uprobe_spec *s, struct uprobe_attach_probe *ret,
		      struct error *err)
{
	struct binary *b;
	int code = binary_open(&b, ret->path, err);

	if (code < 0)
		return code;
	ret->offset = s->offset;
	if (*s->function)
		code = binary_locate(b, ret->path, s->function, s->offset, &ret->offset, err);
	else if (!binary_is_code(b, s->offset))
		code = error_set(err, -EINVAL, "%s: nothing is executed at offset 0x%" PRIx64,
				 ret->path, s->offset);
	code = code < 0 ? code : check_begin(b, s, ret->offset, err);
	binary_close(b);
	return code;
}

int uprobe_resolve(const char *text, pid_t pid, const char *command,
		   struct uprobe_attach_probe *ret, struct error *err)
{
	struct uprobe_spec s;
	int code = uprobe_spec_parse(text, &s, err);

	*ret = (struct uprobe_attach_probe){.is_return = s.is_return, .pid = pid};
	code = code < 0 ? code : find_binary(&s, pid, command, ret->path, sizeof(ret->path), err);
	return code < 0 ? code : find_place(&s, ret, err);
}
