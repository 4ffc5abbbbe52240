/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FILE_ACCESS_H
#define KONTEND_FILE_ACCESS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * What looking for symbols and lines needs of the world outside: files whose names a recording
 * says, and processes. Who may have neither asks somebody else, through these; where there is no
 * door (NULL) the same is done at once. Descriptors are the caller's; negative: -errno.
 */
struct file_access {
	void *ctx;
	/* A regular file, as file_access_open(). */
	int (*open)(void *ctx, int root_fd, const char *path, int flags);
	/* The root of a process, as O_PATH. */
	int (*root)(void *ctx, pid_t pid);
	/* What process @pid has mapped by that name. */
	int (*mapped)(void *ctx, pid_t pid, const char *path, bool *ret_deleted);
	/* Runs this program anew with @argv and @fd, as srclines_proc_start() does: a number. */
	int (*start)(void *ctx, int fd, const char *const *argv);
	/* Ends what start() began: a wait status, or negative. */
	int (*stop)(void *ctx, int number);
};

/*
 * Descriptor of a regular file, links in it leading nowhere but below @root_fd, unless that is -1.
 * @flags: O_NOFOLLOW, or 0.
 */
int file_access_open(const struct file_access *d, int root_fd, const char *path, int flags);
int file_access_root(const struct file_access *d, const char *proc, pid_t pid);
int file_access_mapped(const struct file_access *d, const char *proc, pid_t pid, const char *path,
		       bool *ret_deleted);
int file_access_start(const struct file_access *d, int fd, const char *const *argv);
int file_access_stop(const struct file_access *d, int number);

/*
 * For who serves at the other side of a door: may what is open as @fd be handed to somebody whom
 * nobody trusts? ELF files and jitdumps may, maps of JITs that are called and begin as these do,
 * and text that is called as sources are and that everybody may read. Names are those behind all
 * links.
 */
bool file_access_may_pass(int fd);

#endif
