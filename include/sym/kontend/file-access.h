/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FILE_ACCESS_H
#define KONTEND_FILE_ACCESS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Access to files that a recording names and to processes, for symbols and source lines. A process
 * without the privilege (the sandbox) forwards requests to its broker through these functions; with
 * NULL the functions below do the same at once. Results are descriptors that the caller owns, or
 * negative: -errno.
 */
struct file_access {
	void *ctx;
	/* Opens a regular file, as file_access_open(). */
	int (*open)(void *ctx, int root_fd, const char *path, int flags);
	/* Opens the root folder of a process with O_PATH; @pid 0: the folder that the user has
	 * given for the files of a recording. */
	int (*root)(void *ctx, pid_t pid);
	/* Opens the file that process @pid has mapped from @path. */
	int (*mapped)(void *ctx, pid_t pid, const char *path, bool *ret_deleted);
	/* Runs this program again with @argv and @fd, as srclines_proc_start() does. Returns a
	 * number. */
	int (*start)(void *ctx, int fd, const char *const *argv);
	/* Ends the process that start() began. Returns its wait status, or negative. */
	int (*stop)(void *ctx, int number);
};

/*
 * Opens a regular file. Links in the path cannot lead out of @root_fd, unless that is -1. @flags:
 * O_NOFOLLOW, or 0.
 */
int file_access_open(const struct file_access *d, int root_fd, const char *path, int flags);
int file_access_root(const struct file_access *d, const char *proc, pid_t pid);
/* Opens the folder @path that the user has given with O_PATH. */
int file_access_folder(const struct file_access *d, const char *path);
int file_access_mapped(const struct file_access *d, const char *proc, pid_t pid, const char *path,
		       bool *ret_deleted);
int file_access_start(const struct file_access *d, int fd, const char *const *argv);
int file_access_stop(const struct file_access *d, int number);

/*
 * For the broker: true if the file open as @fd may go to an untrusted process. These may: ELF files
 * and jitdumps, files with the name and the first bytes of JIT maps, and world-readable text with
 * the name of a source file. The name is that after all links are resolved.
 */
bool file_access_may_pass(int fd);

#endif
