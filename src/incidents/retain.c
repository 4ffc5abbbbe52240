// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits the incident files in a directory, counting all files there and not only those of this
 * run: the next run finds what the last one left. From the newest on, files are added up until a
 * limit is reached, and all older ones are removed: so the last incidents stay, without holes.
 * A name is no proof. Only a regular file (not a link to one) of kontend's user is removed that
 * contains an incident and has no lock, which its writer would hold; its inode is compared right
 * before its name is removed. A part left by a killed process need only begin like a recording.
 *
 * incident_retention_*() decide when to look for old files, and print what was removed.
 */
#include "retain.h"
#include "incident-file.h"
#include "kontend/clock.h"
#include "kontend/cmd.h"
#include "kontend/incident-list.h"
#include "kontend/mem.h"
#include "kontend/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "PERFILE2";
enum { MAGIC = sizeof(magic) - 1, NAME = INCIDENT_NAME + 8 };

struct found {
	char name[NAME];
	struct record_output_file file;
	uint64_t written_ns, bytes;
	bool is_part;
};

struct folder {
	const char *path;
	int fd;
	struct found *found;
	size_t n, cap;
};

static bool is_ours(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid();
}

static uint64_t written_ns(const struct stat *st)
{
	if (st->st_mtim.tv_sec < 0)
		return 0;
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

static int add_file(struct folder *d, const char *name)
{
	struct stat st;
	bool is_part;

	if (strlen(name) >= NAME || !incident_file_is_name(name, &is_part) ||
	    fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !is_ours(&st))
		return 0;
	if (mem_grow(&d->found, &d->cap, d->n, sizeof(*d->found)) < 0)
		return -ENOMEM;
	struct found *f = &d->found[d->n++];
	*f = (struct found){.file = {st.st_dev, st.st_ino},
			    .written_ns = written_ns(&st),
			    .bytes = (uint64_t)st.st_size,
			    .is_part = is_part};
	memcpy(f->name, name, strlen(name) + 1);
	return 0;
}

static int scan(struct folder *d, struct error *err)
{
	DIR *stream = NULL;
	int fd = dup(d->fd), r = 0;
	struct dirent *e;

	if (fd >= 0)
		stream = fdopendir(fd);
	if (!stream) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return error_errno(err, r, "Cannot read the directory '%s'", d->path);
	}
	while (r == 0 && (errno = 0, e = readdir(stream)))
		r = add_file(d, e->d_name);
	if (r == 0 && errno)
		r = -errno;
	closedir(stream);
	return r < 0 ? error_errno(err, r, "Cannot read the directory '%s'", d->path) : 0;
}

/* The newest first; for the same moment by name, which contains the time. */
static int by_age(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->written_ns != y->written_ns)
		return x->written_ns < y->written_ns ? 1 : -1;
	return -strcmp(x->name, y->name);
}

/* A process that was killed early has left the beginning of a recording, or an empty file. */
static bool is_begin(int fd)
{
	char head[MAGIC];
	ssize_t n = pread(fd, head, MAGIC, 0);

	return n == 0 || (n == MAGIC && !memcmp(head, magic, MAGIC));
}

/* Opens the file again by its name, which must then be the same file. */
static bool has_incident(const struct folder *d, const struct found *f)
{
	char *slash = mem_join(d->path, "/"), *path = slash ? mem_join(slash, f->name) : NULL;
	struct incident_found found;
	struct error err = {0};
	bool has = path && incident_list_peek(path, &found, &err) == 0;

	mem_free(slash);
	mem_free(path);
	return has;
}

/* True if it is the file whose name was read, and no process is writing it. */
static bool may_go(const struct folder *d, const struct found *f)
{
	int fd = openat(d->fd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	bool may;

	if (fd < 0)
		return false;
	may = fstat(fd, &st) == 0 && is_ours(&st) && st.st_dev == f->file.dev &&
	      st.st_ino == f->file.ino && flock(fd, LOCK_SH | LOCK_NB) == 0 &&
	      (f->is_part ? is_begin(fd) : has_incident(d, f));
	close(fd);
	return may;
}

static bool is_same(const struct folder *d, const struct found *f)
{
	struct stat st;

	return fstatat(d->fd, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == f->file.dev &&
	       st.st_ino == f->file.ino;
}

/* A file that cannot be removed counts as kept. 0 or negative. */
static int remove_one(const struct folder *d, const struct found *f, struct retain_stat *s,
		      struct error *err)
{
	int r = 0;

	if (may_go(d, f) && is_same(d, f)) {
		if (unlinkat(d->fd, f->name, 0) == 0 || errno == ENOENT) {
			s->removed++;
			s->removed_bytes += f->bytes;
			return 0;
		}
		r = error_errno(err, -errno, "Cannot remove the file '%s/%s'", d->path, f->name);
	}
	s->files++;
	s->bytes += f->bytes;
	return r;
}

static bool is_over(const struct found *f, const struct retain_limits *l,
		    const struct retain_stat *s, uint64_t now_ns)
{
	if (!s->files)
		return false;
	/* A file from the future is not old. */
	return (l->age_ns && f->written_ns < now_ns && now_ns - f->written_ns > l->age_ns) ||
	       (l->files && s->files >= l->files) || (l->bytes && s->bytes + f->bytes > l->bytes);
}

static int keep_newest(const struct folder *d, const struct retain_limits *l, uint64_t now_ns,
		       struct retain_stat *s, struct error *err)
{
	bool over = false;
	int r = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct found *f = &d->found[i];

		over = over || is_over(f, l, s, now_ns);
		if (over) {
			int e = remove_one(d, f, s, err);
			r = r ? r : e;
		} else {
			s->files++;
			s->bytes += f->bytes;
		}
	}
	return r;
}

int retain_apply(const char *dir, const struct retain_limits *l, uint64_t now_ns,
		 struct retain_stat *ret, struct error *err)
{
	struct folder d = {.path = dir, .fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

	*ret = (struct retain_stat){0};
	if (d.fd < 0)
		return error_errno(err, -errno, "Cannot read the directory '%s'", dir);
	int r = scan(&d, err);
	if (r == 0 && d.n) {
		qsort(d.found, d.n, sizeof(*d.found), by_age);
		r = keep_newest(&d, l, now_ns, ret, err);
	}
	mem_free(d.found);
	close(d.fd);
	return r;
}

uint64_t retain_now(struct retain_clock *c, uint64_t wall_ns, uint64_t boot_ns)
{
	uint64_t own;

	if (!c->wall_ns)
		*c = (struct retain_clock){wall_ns, boot_ns};
	own = c->wall_ns + (boot_ns - c->boot_ns);
	return own < wall_ns ? own : wall_ns;
}

static const uint64_t RETENTION_EVERY_NS = 600000000000;

void incident_retention_ask(struct incident_retention *k, const struct opts *o,
			    struct retain_limits *ret, uint64_t *ret_now_ns)
{
	*ret = (struct retain_limits){
		.age_ns = o->max_age_ns, .bytes = o->max_size, .files = o->max_files};
	*ret_now_ns = retain_now(&k->clock, clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_BOOTTIME));
}

/* An error that occurs each time is printed once. */
void incident_retention_done(struct incident_retention *k, const struct opts *o,
			     const struct retain_stat *s, const struct error *err)
{
	char gone[UNITS_BUF], bytes[UNITS_BUF];

	k->stat = *s;
	k->next_ns = clock_now_ns() + RETENTION_EVERY_NS;
	if (err->code && !k->failed)
		cmd_say_as(o, JOURNAL_WARNING, "older incidents stay: %s", err->text);
	k->failed = err->code != 0;
	if (s->removed)
		cmd_say(o,
			"removed the oldest %" PRIu64 " files of incidents, %s; %" PRIu64
			" stay, %s",
			s->removed, units_bytes(gone, s->removed_bytes), s->files,
			units_bytes(bytes, s->bytes));
}

void incident_retention_now(struct incident_retention *k, const struct opts *o)
{
	struct retain_limits l;
	struct retain_stat s;
	struct error err = {0};
	uint64_t now;

	incident_retention_ask(k, o, &l, &now);
	retain_apply(k->dir, &l, now, &s, &err);
	incident_retention_done(k, o, &s, &err);
}

void incident_retention_round(struct incident_retention *k, const struct opts *o)
{
	if (clock_now_ns() >= k->next_ns)
		incident_retention_now(k, o);
}
