// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the porter does for whoever reads a recording. He asks for whatever the recording has made
 * him ask, so each deed looks at what it is asked for as if an enemy did: recordings are those that
 * the command line names; files that are read are of kinds that hold no secrets
 * (symdoor_may_pass()); a file that is written was not there before, and lies where somebody
 * expects one; whoever is ended was started here.
 */
#include "caged-deeds.h"
#include "file/kernel.h"
#include "kontend/fdio.h"
#include "kontend/srclines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_one_of(const struct caged_wants *w, const char *path)
{
	for (size_t i = 0; i < sizeof(w->recordings) / sizeof(*w->recordings); i++)
		if (w->recordings[i] && strcmp(w->recordings[i], path) == 0)
			return true;
	for (const char *const *m = w->more; m && *m; m++)
		if (strcmp(*m, path) == 0)
			return true;
	return false;
}

static bool is_in_folder(const struct caged_wants *w, const char *path)
{
	size_t n = w->folder ? strlen(w->folder) : 0;

	return n && strncmp(path, w->folder, n) == 0 && path[n] == '/' &&
	       !strchr(path + n + 1, '/');
}

static void set_fd(struct porter_answer *ret, int fd)
{
	ret->number = fd < 0 ? fd : 0;
	ret->fd = fd < 0 ? -1 : fd;
}

/* Read here, and kept for the next time: what the kernel says is nobody else's making. */
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

static void open_recording(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	const struct caged_world *w = ctx;
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

static void pass(struct porter_answer *ret, int fd, const char *path)
{
	if (fd >= 0 && !symdoor_may_pass(fd, path)) {
		close(fd);
		fd = -ENOEXEC;
	}
	set_fd(ret, fd);
}

static void open_file(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	int flags = ask->number & O_NOFOLLOW ? O_NOFOLLOW : 0;

	(void)ctx;
	pass(ret, symdoor_open(NULL, ask->fds[0], ask->text, flags), ask->text);
}

static void open_root(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	(void)ctx;
	set_fd(ret, symdoor_root(NULL, "/proc", (pid_t)ask->number));
}

static void open_mapped(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	bool deleted = false;
	int fd = symdoor_mapped(NULL, "/proc", (pid_t)ask->number, ask->text, &deleted);

	(void)ctx;
	pass(ret, fd, ask->text);
	snprintf(ret->text, sizeof(ret->text), "%s", deleted ? "deleted" : "");
}

static void start(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	const struct caged_world *w = ctx;
	const char *fetch[] = {srclines_fetch_argv[0], srclines_fetch_argv[1], ask->text, NULL};
	bool is_hex = strspn(ask->text, "0123456789abcdef") == strlen(ask->text);

	if (ask->fds[0] < 0 || !is_hex || (*ask->text && !w->may_fetch))
		return;
	ret->number = symdoor_start(NULL, ask->fds[0], *ask->text ? fetch : srclines_worker_argv);
}

/* Only children can be waited for: so whoever else is meant is left alone. */
static void stop(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	pid_t pid = ask->number > 0 && ask->number <= INT32_MAX ? (pid_t)ask->number : 0;
	int status = 0;
	pid_t r = pid ? waitpid(pid, &status, WNOHANG) : -1;

	(void)ctx;
	if (r >= 0)
		ret->number = r > 0 ? status : symdoor_stop(NULL, pid);
}

/* The folder that @path is in, as it is now, is the one that we are in. */
static bool is_here(const char *path)
{
	char folder[PORTER_TEXT];
	const char *slash = strrchr(path, '/');
	struct stat a, b;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	return stat(folder, &a) == 0 && stat(".", &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789-_, ";

static bool is_plain(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return *name && *name != '.';
}

static void make(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	struct caged_world *w = ctx;
	const char *only = w->wants->make;
	bool may = (only && !strcmp(only, ask->text)) ||
		   (w->wants->here && is_plain(ask->text) && is_here(ask->text));

	if (!may)
		return;
	int fd = open(ask->text, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	set_fd(ret, fd < 0 ? -errno : fd);
	if (fd >= 0)
		snprintf(w->made, sizeof(w->made), "%s", ask->text);
}

static void unmake(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	struct caged_world *w = ctx;

	(void)ask;
	ret->number = *w->made && unlink(w->made) == 0 ? 0 : -ENOENT;
	*w->made = '\0';
}

static void set_error(struct porter_answer *ret, int code, const struct error *err)
{
	ret->number = code;
	if (code)
		snprintf(ret->text, sizeof(ret->text), "%s", err->text);
}

static void put(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	const struct caged_wants *w = ((struct caged_world *)ctx)->wants;
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

static void save(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	const struct caged_wants *w = ((struct caged_world *)ctx)->wants;
	struct error err = {0};
	bool is_base = ask->number != 0;
	bool may = is_base ? is_base_name(ask->text) : is_plain(ask->text) && is_here(ask->text);

	if (!w->save || !may || ask->fds[0] < 0)
		return;
	int r = w->save(w->save_ctx, ask->text, is_base, ask->fds[0], ret->text, sizeof(ret->text),
			&err);
	set_error(ret, r, &err);
}

static void keep(void *ctx, const struct porter_ask *ask, struct porter_answer *ret)
{
	const struct caged_wants *w = ((struct caged_world *)ctx)->wants;
	char table[64];
	const char *keys = strchr(ask->text, '\n');
	struct error err = {0};

	if (!w->keep || !w->config || !keys || keys - ask->text >= (long)sizeof(table))
		return;
	snprintf(table, sizeof(table), "%.*s", (int)(keys - ask->text), ask->text);
	/* A line of the configuration, of words, and no more than one. */
	if (keys[1 + strspn(keys + 1, word)] || table[strspn(table, word)])
		return;
	set_error(ret, w->keep(w->config, table, ask->number ? NULL : keys + 1, &err), &err);
}

const struct porter_deed caged_deeds[DEEDS] = {
	[DEED_RECORDING] = {open_recording},
	[DEED_FILE] = {open_file},
	[DEED_ROOT] = {open_root},
	[DEED_MAPPED] = {open_mapped},
	[DEED_START] = {start},
	[DEED_STOP] = {stop},
	[DEED_MAKE] = {make},
	[DEED_UNMAKE] = {unmake},
	[DEED_PUT] = {put},
	[DEED_SAVE] = {save},
	[DEED_KEEP] = {keep},
};
