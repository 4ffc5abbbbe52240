// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that the broker serves for the process in the sandbox, which reads a recording. The
 * recording may have taken over that process, so each request is checked as if an enemy had sent
 * it: recordings are those that the command line names; files to be read are of kinds that hold no
 * secrets (file_access_may_pass()); a file to be written was not there before, and lies in a folder
 * that was opened before the sandbox, under a plain name; a process to be ended was started here.
 * Numbers of files, bytes and processes are bounded.
 */
#include "sandboxed-requests.h"
#include "file/kernel.h"
#include "kontend/fdio.h"
#include "kontend/newfile.h"
#include "kontend/srclines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_one_of(const struct sandboxed_wants *w, const char *path)
{
	for (size_t i = 0; i < sizeof(w->recordings) / sizeof(*w->recordings); i++)
		if (w->recordings[i] && strcmp(w->recordings[i], path) == 0)
			return true;
	if (w->symbols && strcmp(w->symbols, path) == 0)
		return true;
	for (const char *const *m = w->more; m && *m; m++)
		if (strcmp(*m, path) == 0)
			return true;
	return false;
}

static bool is_in_folder(const struct sandboxed_wants *w, const char *path)
{
	size_t n = w->folder ? strlen(w->folder) : 0;

	return n && strncmp(path, w->folder, n) == 0 && path[n] == '/' &&
	       !strchr(path + n + 1, '/');
}

static void set_fd(struct broker_answer *ret, int fd)
{
	ret->number = fd < 0 ? fd : 0;
	ret->fd = fd < 0 ? -1 : fd;
}

/* Read here, and kept for the next time: only the kernel makes this text. */
static int copy_of_symbols(void)
{
	struct kallsyms_text text = {0};
	int fd = memfd_create("kontend-kallsyms", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : kernel_running_text(&text);

	r = r < 0 ? r : fdio_write_all(fd, text.text, text.len);
	kallsyms_text_deinit(&text);
	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

static void open_recording(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	const struct sandboxed_world *w = ctx;
	bool listed = is_in_folder(w->wants, ask->text);
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (listed ? O_NOFOLLOW : 0);

	if (!strcmp(ask->text, kernel_kallsyms)) {
		set_fd(ret, copy_of_symbols());
		return;
	}
	if (!listed && !is_one_of(w->wants, ask->text))
		return;
	int fd = open(ask->text, flags);
	set_fd(ret, fd < 0 ? -errno : fd);
}

static void pass(struct broker_answer *ret, int fd)
{
	if (fd >= 0 && !file_access_may_pass(fd)) {
		close(fd);
		fd = -ENOEXEC;
	}
	set_fd(ret, fd);
}

static void open_file(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	int flags = ask->number & O_NOFOLLOW ? O_NOFOLLOW : 0;

	(void)ctx;
	pass(ret, file_access_open(NULL, ask->fds[0], ask->text, flags));
}

static void open_root(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	const char *symfs = ((const struct sandboxed_world *)ctx)->wants->symfs;

	if (ask->number)
		set_fd(ret, file_access_root(NULL, "/proc", (pid_t)ask->number));
	else if (symfs)
		set_fd(ret, file_access_folder(NULL, symfs));
}

static void open_mapped(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	bool deleted = false;
	int fd = file_access_mapped(NULL, "/proc", (pid_t)ask->number, ask->text, &deleted);

	(void)ctx;
	pass(ret, fd);
	snprintf(ret->text, sizeof(ret->text), "%s", deleted ? "deleted" : "");
}

/* Takes note of those that have ended, so that the kernel need not. */
static void reap(struct sandboxed_world *w)
{
	for (size_t i = 0; i < SANDBOXED_WORKERS; i++) {
		struct sandboxed_worker *k = &w->workers[i];
		if (k->pid && !k->has_ended && waitpid(k->pid, &k->status, WNOHANG) == k->pid)
			k->has_ended = true;
	}
}

/* A place for one more: a free one, or that of one that has ended. NULL: all run. */
static struct sandboxed_worker *place_for_worker(struct sandboxed_world *w)
{
	struct sandboxed_worker *ret = NULL;

	reap(w);
	for (size_t i = 0; i < SANDBOXED_WORKERS; i++) {
		struct sandboxed_worker *k = &w->workers[i];
		if (!k->pid)
			return k;
		if (k->has_ended)
			ret = k;
	}
	return ret;
}

static void start(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	struct sandboxed_world *w = ctx;
	const char *fetch[] = {srclines_fetch_argv[0], srclines_fetch_argv[1], ask->text, NULL};
	bool is_hex = strspn(ask->text, "0123456789abcdef") == strlen(ask->text);

	if (ask->fds[0] < 0 || !is_hex || (*ask->text && !w->may_fetch))
		return;
	struct sandboxed_worker *k = place_for_worker(w);
	ret->number = -EAGAIN;
	if (!k)
		return;
	ret->number =
		file_access_start(NULL, ask->fds[0], *ask->text ? fetch : srclines_worker_argv);
	*k = (struct sandboxed_worker){.pid = ret->number > 0 ? (int)ret->number : 0};
}

/* Only those that were started here: any other process is left alone. */
static void stop(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	struct sandboxed_world *w = ctx;

	reap(w);
	for (size_t i = 0; i < SANDBOXED_WORKERS; i++) {
		struct sandboxed_worker *k = &w->workers[i];
		if (!k->pid || k->pid != ask->number)
			continue;
		ret->number = k->has_ended ? k->status : file_access_stop(NULL, k->pid);
		*k = (struct sandboxed_worker){0};
		return;
	}
}

static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789-_, ";

/* A name in a folder that is open: no way leads out of it. Hidden ones are refused, too. */
static bool is_plain(const char *name)
{
	return newfile_is_plain(name) && *name != '.' && strlen(name) < NAME_MAX;
}

/*
 * The process in the sandbox writes to the file itself: so its own limit bounds it. It may lower
 * that further, and has no right to raise it.
 */
static int limit_bytes(const struct sandboxed_world *w)
{
	const struct rlimit l = {.rlim_cur = w->most_bytes, .rlim_max = w->most_bytes};

	if (getppid() != w->reader)
		return -ESRCH;
	return prlimit(w->reader, RLIMIT_FSIZE, &l, NULL) < 0 ? -errno : 0;
}

static void forget_made(struct sandboxed_world *w)
{
	if (w->made.fd < 0)
		return;
	newfile_drop(&w->made);
	close(w->made.fd);
	newfile_deinit(&w->made);
}

/* It has no name until all is written: whatever ends us, no part of it is left. */
static int make_in(struct sandboxed_world *w, int dir, const char *name)
{
	int r = limit_bytes(w);

	forget_made(w);
	if (r == 0)
		r = newfile_open_in(&w->made, dir, name);
	if (r < 0)
		return r;
	w->n_made++;
	int fd = newfile_is_taken(&w->made) ? -EEXIST : fcntl(w->made.fd, F_DUPFD_CLOEXEC, 0);
	if (fd == -1)
		fd = -errno;
	if (fd < 0)
		forget_made(w);
	return fd;
}

static void make_output(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	struct sandboxed_world *w = ctx;
	const char *only = w->wants->make;
	bool is_only = only && w->make_dir >= 0 && strcmp(only, ask->text) == 0;

	if (!is_only && (w->here < 0 || !is_plain(ask->text)))
		return;
	if (w->n_made >= SANDBOXED_MADE)
		ret->number = -EDQUOT;
	else
		set_fd(ret, make_in(w, is_only ? w->make_dir : w->here,
				    is_only ? w->make_name : ask->text));
}

static void made(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	struct sandboxed_world *w = ctx;

	ret->number = w->made.fd < 0 ? -ENOENT : ask->number ? 0 : newfile_put_new(&w->made);
	forget_made(w);
}

static void set_error(struct broker_answer *ret, int code, const struct error *err)
{
	ret->number = code;
	if (code)
		snprintf(ret->text, sizeof(ret->text), "%s", err->text);
}

static void put_output(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	const struct sandboxed_wants *w = ((struct sandboxed_world *)ctx)->wants;
	struct error err = {0};

	if (w->put)
		set_error(ret, w->put(w->put_ctx, ask->fds[0], ask->number != 0, &err), &err);
}

/* "kontend-locks-20261120-143005" */
static bool is_base_name(const char *s)
{
	static const char begin[] = "kontend-";

	return strncmp(s, begin, sizeof(begin) - 1) == 0 && !s[strspn(s, word)];
}

/* Bytes of a file in memory, or of another regular one; it counts whether it is saved or not. */
static bool may_save(struct sandboxed_world *w, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 0)
		return false;
	w->n_saved++;
	w->saved_bytes += (uint64_t)st.st_size;
	return w->n_saved <= SANDBOXED_SAVED && (uint64_t)st.st_size <= SANDBOXED_SAVED_BYTES &&
	       w->saved_bytes <= SANDBOXED_SAVED_BYTES;
}

static void save(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	struct sandboxed_world *w = ctx;
	struct error err = {0};
	bool is_base = ask->number != 0;
	bool may = is_base ? is_base_name(ask->text) : w->here >= 0 && is_plain(ask->text);

	if (!w->wants->save || !may)
		return;
	if (!may_save(w, ask->fds[0])) {
		ret->number = -EDQUOT;
		return;
	}
	int r = w->wants->save(w->wants->save_ctx, w->here, ask->text, is_base, ask->fds[0],
			       ret->text, sizeof(ret->text), &err);
	set_error(ret, r, &err);
}

static void keep(void *ctx, const struct broker_ask *ask, struct broker_answer *ret)
{
	const struct sandboxed_wants *w = ((struct sandboxed_world *)ctx)->wants;
	char table[64];
	const char *keys = strchr(ask->text, '\n');
	struct error err = {0};

	if (!w->keep || !w->config || !keys || keys - ask->text >= (long)sizeof(table))
		return;
	snprintf(table, sizeof(table), "%.*s", (int)(keys - ask->text), ask->text);
	/* A line of the configuration, of words, and no more than one; nothing that is empty. */
	if (keys[1 + strspn(keys + 1, word)] || table[strspn(table, word)] || !*table)
		return;
	if (!ask->number && !keys[1 + strspn(keys + 1, ", ")])
		return;
	set_error(ret, w->keep(w->config, table, ask->number ? NULL : keys + 1, &err), &err);
}

const struct broker_request sandboxed_requests[SANDBOXED_REQUESTS] = {
	[BROKER_RECORDING] = {open_recording},
	[BROKER_FILE] = {open_file},
	[BROKER_ROOT] = {open_root},
	[BROKER_MAPPED] = {open_mapped},
	[BROKER_START] = {start},
	[BROKER_STOP] = {stop},
	[BROKER_MAKE] = {make_output},
	[BROKER_MADE] = {made},
	[BROKER_PUT] = {put_output},
	[BROKER_SAVE] = {save},
	[BROKER_KEEP] = {keep},
};
