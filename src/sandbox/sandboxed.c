// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs that read recordings go into the sandbox here, and ask the broker from within. They may
 * open little themselves: descriptions of terminals, time zones, files of the kernel about itself,
 * and folders of the distribution that have kernels and their debug files. None of these is written
 * to.
 */
#include "kontend/sandboxed.h"
#include "kontend/cachefile.h"
#include "kontend/disasm.h"
#include "kontend/gunzip.h"
#include "kontend/newfile.h"
#include "kontend/sandbox.h"
#include "kontend/srclines.h"
#include "sandboxed-requests.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BELOW = SANDBOX_READ | SANDBOX_LIST, PATHS_MOST = 64 };

/* The length of a recording from a pipe is not known: this bounds it. */
static const uint64_t PIPE_BYTES = 16ull << 30;

static const struct sandbox_path everyone[] = {
	{"/dev/null", 0, SANDBOX_READ | SANDBOX_WRITE},
	{"/etc/localtime", 0, SANDBOX_READ},
	{"/usr/share/zoneinfo", 0, BELOW},
	{"/usr/lib/locale", 0, BELOW},
	{"/usr/share/locale", 0, BELOW},
	{"/usr/lib/debug", 0, BELOW},
	{"/usr/lib/modules", 0, BELOW},
	{"/lib/modules", 0, BELOW},
	{"/boot", 0, BELOW},
	{"/sys/kernel/notes", 0, SANDBOX_READ},
	{"/sys/module", 0, BELOW},
	{"/sys/devices/system", 0, BELOW},
	{"/proc/self", 0, BELOW},
	{"/proc/sys/kernel", 0, BELOW},
	{"/proc/modules", 0, SANDBOX_READ},
	{"/proc/meminfo", 0, SANDBOX_READ},
	{"/proc/cpuinfo", 0, SANDBOX_READ},
	{"/proc/sys/vm/overcommit_memory", 0, SANDBOX_READ}, /* how the C library frees */
};

static const char *const terminals[] = {"/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo",
					"/usr/lib/terminfo"};

struct list {
	struct sandbox_path paths[PATHS_MOST];
	char own[3][4096];
	size_t n, n_own;
};

static void add_path(struct list *l, const char *path, int fd, unsigned access)
{
	if (l->n < PATHS_MOST)
		l->paths[l->n++] = (struct sandbox_path){path, fd, access};
}

static char *room(struct list *l)
{
	return l->own[l->n_own++];
}

static void add_terminal(struct list *l)
{
	const char *own = getenv("TERMINFO"), *home = getenv("HOME");
	char *path = room(l);

	for (size_t i = 0; i < sizeof(terminals) / sizeof(*terminals); i++)
		add_path(l, terminals[i], 0, BELOW);
	if (own && *own == '/')
		add_path(l, own, 0, BELOW);
	if (home &&
	    (size_t)snprintf(path, sizeof(l->own[0]), "%s/.terminfo", home) < sizeof(l->own[0]))
		add_path(l, path, 0, BELOW);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			add_path(l, NULL, fd, SANDBOX_READ | SANDBOX_WRITE);
}

/* Caches of symbols, ours and perf's. */
static void add_kept(struct list *l, const struct opts *o)
{
	const char *home = getenv("HOME");
	char *path = room(l), *perf = room(l);

	if (!o->no_symbol_cache && cachefile_path("", path, sizeof(l->own[0])))
		add_path(l, path, 0, BELOW);
	if (home &&
	    (size_t)snprintf(perf, sizeof(l->own[0]), "%s/.debug", home) < sizeof(l->own[0]))
		add_path(l, perf, 0, BELOW);
}

/* A recording may be a folder: the reader opens the files in it. */
static void add_folder(struct list *l, const char *path)
{
	struct stat st;

	if (path && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		add_path(l, path, 0, BELOW);
}

static void fill(struct list *l, const struct opts *o, const struct sandboxed_wants *w)
{
	for (size_t i = 0; i < sizeof(everyone) / sizeof(*everyone); i++)
		add_path(l, everyone[i].path, 0, everyone[i].access);
	add_kept(l, o);
	if (w->screen)
		add_terminal(l);
	if (w->folder)
		add_path(l, w->folder, 0, BELOW);
	for (size_t i = 0; i < sizeof(w->recordings) / sizeof(*w->recordings); i++)
		add_folder(l, w->recordings[i]);
	for (const char *const *m = w->more; m && *m; m++)
		add_folder(l, *m);
	for (size_t i = 0; i < sizeof(w->fds) / sizeof(*w->fds); i++)
		if (w->fds[i] > 0)
			add_path(l, NULL, w->fds[i], SANDBOX_READ);
}

/* Loads the things that libraries read or map late, when nothing can be read or run any more. */
static void prepare(const struct sandboxed_wants *w)
{
	wchar_t c;

	tzset();
	(void)!mbtowc(&c, "a", 1);
	if (w->instructions)
		disasm_prepare();
}

static int ask_broker(const struct sandboxed *c, enum sandboxed_request request,
		      const struct broker_ask *a, struct broker_answer *ret)
{
	int r = broker_do(&c->broker, request, a, ret);

	return r < 0 ? r : ret->number < 0 ? (int)ret->number : 0;
}

/* A descriptor or -errno. */
static int ask_fd(const struct sandboxed *c, enum sandboxed_request request, const char *text,
		  int64_t number, int fd)
{
	const struct broker_ask a = {.number = number, .text = text, .fds = {fd, -1}};
	struct broker_answer ret;
	int r = ask_broker(c, request, &a, &ret);

	return r < 0 ? r : ret.fd < 0 ? -EIO : ret.fd;
}

static int door_open(void *ctx, int root_fd, const char *path, int flags)
{
	return ask_fd(ctx, BROKER_FILE, path, flags, root_fd);
}

static int door_root(void *ctx, pid_t pid)
{
	return ask_fd(ctx, BROKER_ROOT, "", pid, -1);
}

static int door_mapped(void *ctx, pid_t pid, const char *path, bool *ret_deleted)
{
	const struct broker_ask a = {.number = pid, .text = path, .fds = {-1, -1}};
	struct broker_answer ret;
	int r = ask_broker(ctx, BROKER_MAPPED, &a, &ret);

	*ret_deleted = ret.text[0] != '\0';
	return r < 0 ? r : ret.fd < 0 ? -EIO : ret.fd;
}

static int door_start(void *ctx, int fd, const char *const *argv)
{
	const struct broker_ask a = {.text = argv[2] ? argv[2] : "", .fds = {fd, -1}};
	struct broker_answer ret;
	int r = ask_broker(ctx, BROKER_START, &a, &ret);

	return r < 0 ? r : (int)ret.number;
}

static int door_stop(void *ctx, int number)
{
	const struct broker_ask a = {.number = number, .text = "", .fds = {-1, -1}};
	struct broker_answer ret;
	int r = ask_broker(ctx, BROKER_STOP, &a, &ret);

	return r < 0 ? r : (int)ret.number;
}

/*
 * The first recordings are opened now: a request to the broker takes as long as another process
 * waits for a CPU.
 */
static void open_first(struct sandboxed *c, const struct sandboxed_wants *w)
{
	for (size_t i = 0; i < sizeof(c->fds) / sizeof(*c->fds); i++) {
		const char *path = w->recordings[i];

		c->names[i] = path;
		c->fds[i] = path && strcmp(path, "-") != 0
				    ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
				    : -1;
	}
}

static int take_first(struct sandboxed *c, const char *path)
{
	for (size_t i = 0; i < sizeof(c->fds) / sizeof(*c->fds); i++)
		if (c->fds[i] >= 0 && strcmp(c->names[i], path) == 0) {
			int fd = c->fds[i];
			c->fds[i] = -1;
			return fd;
		}
	return -1;
}

/*
 * Closes descriptors that the shell, or another program that started us, has left open: kontend
 * opens all with O_CLOEXEC, so that those without it are not ours. Standard streams stay.
 */
static void close_inherited(void)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name), flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;
		if (flags >= 0 && !(flags & FD_CLOEXEC))
			close(fd);
	}
	if (d)
		closedir(d);
}

/* So many bytes may a recording have that is made of those that are read; a pipe may have any. */
static uint64_t most_bytes(const struct sandboxed_wants *w)
{
	uint64_t all = 64 << 20;
	struct stat st;

	for (size_t i = 0; i < sizeof(w->recordings) / sizeof(*w->recordings); i++) {
		const char *path = w->recordings[i];
		if (!path)
			continue;
		if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
			return PIPE_BYTES;
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		bool is_packed = fd >= 0 && gunzip_is(fd);
		if (fd >= 0)
			close(fd);
		if (is_packed)
			return PIPE_BYTES;
		all += 4 * (uint64_t)st.st_size;
	}
	return all;
}

static void open_folders(struct sandboxed_world *world, const struct sandboxed_wants *w)
{
	world->here = w->here ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	world->make_dir = w->make ? newfile_folder(w->make, &world->make_name) : -1;
	world->most_bytes = most_bytes(w);
}

static void close_folders(const struct sandboxed_world *world)
{
	if (world->here >= 0)
		close(world->here);
	if (world->make_dir >= 0)
		close(world->make_dir);
}

static int start_broker(struct sandboxed *c, const struct opts *o, const struct sandboxed_wants *w,
			struct error *err)
{
	struct sandboxed_world world = {.wants = w,
					.may_fetch = o->debuginfod,
					.reader = (int)getpid(),
					.made = {.fd = -1}};

	open_folders(&world, w);
	const int keep[] = {world.here, world.make_dir, w->used[0] > 0 ? w->used[0] : -1,
			    w->used[1] > 0 ? w->used[1] : -1};
	int r = broker_start(&c->broker, sandboxed_requests, SANDBOXED_REQUESTS, &world, keep,
			     sizeof(keep) / sizeof(*keep), err);
	close_folders(&world);
	return r;
}

/* Later a folder that is not there is only a reason why programs have no names. */
static int check_symfs(const char *path, struct error *err)
{
	int fd = file_access_folder(NULL, path);

	if (fd < 0)
		return error_errno(err, fd, "Cannot open the folder '%s' of --symfs", path);
	close(fd);
	return 0;
}

int sandboxed_enter(struct sandboxed *c, const struct opts *o, const struct sandboxed_wants *w,
		    struct error *err)
{
	struct list l = {.n = 0};

	*c = (struct sandboxed){.sandbox.state = SANDBOX_OFF};
	if (w->symfs && check_symfs(w->symfs, err) < 0)
		return err->code;
	if (o->no_sandbox)
		return 0;
	prepare(w);
	open_first(c, w);
	fill(&l, o, w);
	int r = start_broker(c, o, w, err);
	if (r < 0)
		return r;
	close_inherited();
	sandbox_enter(l.paths, l.n, &c->sandbox);
	c->door = (struct file_access){.ctx = c,
				       .open = door_open,
				       .root = door_root,
				       .mapped = door_mapped,
				       .start = door_start,
				       .stop = door_stop};
	return 0;
}

void sandboxed_leave(struct sandboxed *c)
{
	if (!sandboxed_is(c))
		return;
	broker_stop(&c->broker);
	for (size_t i = 0; i < sizeof(c->fds) / sizeof(*c->fds); i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
}

const struct file_access *sandboxed_files(const struct sandboxed *c)
{
	return sandboxed_is(c) ? &c->door : NULL;
}

static int open_recording(void *ctx, const char *path)
{
	int first = take_first(ctx, path);

	if (first >= 0)
		return first;
	/* The copy of a pipe is ours. */
	if (strncmp(path, "/proc/self/", 11) == 0) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		return fd < 0 ? -errno : fd;
	}
	return ask_fd(ctx, BROKER_RECORDING, path, 0, -1);
}

void sandboxed_reader(const struct sandboxed *c, struct reader_options *o)
{
	if (!sandboxed_is(c))
		return;
	o->open = open_recording;
	o->open_ctx = (void *)(uintptr_t)c;
}

/* Of a name that begins with a dot it is as true: it has another meaning there. */
static const char only_here[] =
	"sandboxed: only to the folder kontend was started in (--no-sandbox)";
static const char too_many[] =
	"sandboxed: so many files or bytes are not written in one session (--no-sandbox)";
static const char has_ended[] =
	"kontend-broker, the process that does it outside the sandbox, has ended; was it killed, "
	"or was memory short?";

/* The name alone of a file in the current folder: the broker takes no other path. */
static const char *plain_name(const char *path)
{
	char here[PATH_MAX];
	bool is_whole = *path == '/' && getcwd(here, sizeof(here));
	size_t n = is_whole && strcmp(here, "/") != 0 ? strlen(here) : 0;

	if (is_whole && strncmp(path, here, n) == 0 && path[n] == '/')
		path += n;
	else if (path[0] == '.' && path[1] == '/')
		path++;
	else
		return path;
	return path + strspn(path, "/");
}

static int not_written(int code, const char *said, struct error *err)
{
	if (code == -ENOLINK)
		return error_set(err, code, "%s", has_ended);
	if (*said)
		return error_set(err, code, "%s", said);
	return error_set(err, code, "%s",
			 code == -EPERM	   ? only_here
			 : code == -EDQUOT ? too_many
					   : strerror(-code));
}

static int make_here(struct newfile *f, const char *path)
{
	int r = newfile_open(f, path);

	if (r < 0 || !newfile_is_taken(f))
		return r < 0 ? r : f->fd;
	newfile_drop(f);
	close(f->fd);
	newfile_deinit(f);
	return -EEXIST;
}

int sandboxed_make(const struct sandboxed *c, struct newfile *f, const char *path,
		   struct error *err)
{
	*f = (struct newfile){.dir = -1, .fd = -1};
	int fd = sandboxed_is(c) ? ask_fd(c, BROKER_MAKE, path, 0, -1) : make_here(f, path);

	if (fd == -EPERM && sandboxed_is(c))
		fd = ask_fd(c, BROKER_MAKE, plain_name(path), 0, -1);
	if (sandboxed_is(c) && (fd == -EPERM || fd == -EDQUOT || fd == -ENOLINK)) {
		struct error why = {0};
		not_written(fd, "", &why);
		return error_set(err, fd, "Not written: %s", why.text);
	}
	f->fd = fd;
	return fd < 0 ? error_errno(err, fd, "Cannot make the file '%s'", path) : fd;
}

int sandboxed_made(const struct sandboxed *c, struct newfile *f, const char *path, bool give_up,
		   struct error *err)
{
	const struct broker_ask a = {.number = give_up, .text = "", .fds = {-1, -1}};
	struct broker_answer ret;
	int r = 0;

	if (sandboxed_is(c))
		r = ask_broker(c, BROKER_MADE, &a, &ret);
	else if (give_up)
		newfile_drop(f);
	else
		r = newfile_put_new(f);
	close(f->fd);
	newfile_deinit(f);
	return r < 0 && !give_up ? error_errno(err, r, "Cannot give the file its name '%s'", path)
				 : 0;
}

static int ask_said(const struct sandboxed *c, enum sandboxed_request request,
		    const struct broker_ask *a, struct broker_answer *ret, struct error *err)
{
	int r = ask_broker(c, request, a, ret);

	if (r < 0 && *ret->text)
		return error_set(err, r, "%s", ret->text);
	if (r == -ENOLINK)
		return error_set(err, r, "Not done: %s", has_ended);
	return r < 0 ? error_errno(err, r, "The process outside the sandbox did not do it") : 0;
}

int sandboxed_put(const struct sandboxed *c, int fd, bool give_up, struct error *err)
{
	const struct broker_ask a = {.number = give_up, .text = "", .fds = {fd, -1}};
	struct broker_answer ret;

	int r = ask_said(c, BROKER_PUT, &a, &ret, err);
	return r == 0 && ret.number > 0 ? error_set(err, 1, "%s", ret.text) : r;
}

int sandboxed_put_output(void *output, int fd, bool give_up, struct error *err)
{
	return output_put(output, fd, give_up, err);
}

static int put_there(void *ctx, int fd, bool give_up, struct error *err)
{
	return sandboxed_put(ctx, fd, give_up, err);
}

void sandboxed_output(const struct sandboxed *c, struct output *output)
{
	if (!sandboxed_is(c))
		return;
	output->put = put_there;
	output->put_ctx = (void *)(uintptr_t)c;
}

int sandboxed_save(const struct sandboxed *c, const char *name, bool is_base, int fd, char *ret,
		   size_t size, struct error *err)
{
	const struct broker_ask a = {
		.number = is_base, .text = is_base ? name : plain_name(name), .fds = {fd, -1}};
	struct broker_answer answer;
	int r = ask_broker(c, BROKER_SAVE, &a, &answer);

	if (r < 0)
		return not_written(r, answer.text, err);
	snprintf(ret, size, "%s", answer.text);
	return 0;
}

int sandboxed_keep(const struct sandboxed *c, const char *table, const char *keys,
		   struct error *err)
{
	char text[BROKER_TEXT];
	const struct broker_ask a = {.number = !keys, .text = text, .fds = {-1, -1}};
	struct broker_answer ret;

	if ((size_t)snprintf(text, sizeof(text), "%s\n%s", table, keys ? keys : "") >= sizeof(text))
		return error_errno(err, -ENAMETOOLONG, "Columns of %s", table);
	return ask_said(c, BROKER_KEEP, &a, &ret, err);
}
