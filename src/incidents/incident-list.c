// SPDX-License-Identifier: GPL-2.0-only
/*
 * Incident files in a directory. Their names identify them; each is read up to its trigger, which
 * precedes the first event. The directory may be any user's: only regular files are opened.
 * retain.c decides which files are kept.
 */
#include "kontend/incident-list.h"
#include "incident-file.h"
#include "kontend/mem.h"
#include "kontend/reader.h"
#include "kontend/snapshot.h"
#include "kontend/sort.h"
#include "kontend/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct peek {
	struct incident_found *ret;
	struct record_host host;
	bool found;
};

/* SOURCE_END: no more records needed. */
static int look_at(struct peek *p, const struct record *r)
{
	struct record_snapshot head;
	bool is_snapshot = r->kind == RECORD_SNAPSHOT && snapshot_parse(r->data, r->len, &head);

	if (r->kind == RECORD_HOST && r->len == sizeof(p->host))
		memcpy(&p->host, r->data, sizeof(p->host));
	if (is_snapshot && head.kind == SNAPSHOT_INCIDENT)
		p->found |= incident_decode((const uint8_t *)r->data + sizeof(head),
					    r->len - sizeof(head), &p->ret->incident);
	/* The host record is the first; names of tasks follow the trigger. */
	return r->kind == RECORD_PERF || p->found ? SOURCE_END : 0;
}

static int read_head(struct source *s, struct peek *p, struct error *err)
{
	struct record rec;
	int r = 0;

	while (r == 0) {
		r = source_next(s, 0, &rec, err);
		if (r == 0) {
			r = look_at(p, &rec);
			source_release(s, &rec);
		}
		r = r == SOURCE_IDLE ? 0 : r;
	}
	return r == SOURCE_END ? 0 : r;
}

static int check_file(const char *path, struct stat *ret, struct error *err)
{
	if (lstat(path, ret) < 0)
		return error_errno(err, -errno, "Cannot look at the file '%s'", path);
	if (!S_ISREG(ret->st_mode))
		return error_set(err, -EINVAL, "'%s' is not a regular file", path);
	return 0;
}

static int peek(const char *path, const struct reader_options *how, struct incident_found *ret,
		struct error *err)
{
	struct reader_options o = *how;
	struct peek p = {.ret = ret};
	struct source *s;
	struct stat st;
	int r = check_file(path, &st, err);

	*ret = (struct incident_found){0};
	o.path = path;
	o.no_symbols = true;
	r = r ? r : reader_new(&s, &o, err);
	if (r < 0)
		return r;
	r = read_head(s, &p, err);
	source_free(s);
	if (r < 0 || !p.found)
		return r < 0 ? r : INCIDENT_NONE;
	ret->bytes = (uint64_t)st.st_size;
	if (p.host.wall_ns)
		ret->wall_ns = p.host.wall_ns + ret->incident.fired_ns - p.host.clock_ns;
	return 0;
}

int incident_list_peek(const char *path, struct incident_found *ret, struct error *err)
{
	const struct reader_options plain = {0};

	return peek(path, &plain, ret, err);
}

/* The writer of a file has a lock on it. */
static bool is_written(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

static char *path_of(const char *dir, const char *name)
{
	char *slash = mem_join(dir, "/");
	char *path = slash ? mem_join(slash, name) : NULL;

	mem_free(slash);
	return path;
}

static void look_at_part(struct incident_entry *e, const char *path)
{
	struct stat st;

	e->state = is_written(path) ? INCIDENT_WRITTEN : INCIDENT_LEFT;
	if (lstat(path, &st) == 0)
		e->found.bytes = (uint64_t)st.st_size;
}

static void look_at_whole(struct incident_entry *e, const char *path,
			  const struct reader_options *how)
{
	struct error err = {0};
	int r = peek(path, how, &e->found, &err);

	if (r == 0)
		return;
	e->state = INCIDENT_BAD;
	text_clean(e->why, sizeof(e->why),
		   r == INCIDENT_NONE ? "the recording contains no incident" : err.text);
}

/* 0, or -ENOMEM. */
static int add_file(struct incident_list *l, const char *dir, const char *name, bool is_part,
		    const struct reader_options *how)
{
	struct incident_entry e = {.name = mem_strdup(name)};
	char *path = path_of(dir, name);

	if (!e.name || !path || mem_grow(&l->entries, &l->cap, l->n, sizeof(*l->entries))) {
		mem_free(e.name);
		mem_free(path);
		return -ENOMEM;
	}
	if (is_part)
		look_at_part(&e, path);
	else
		look_at_whole(&e, path, how);
	mem_free(path);
	l->entries[l->n++] = e;
	return 0;
}

/* Names begin with the time of the wall clock, which may have been set. */
static int is_before(const void *a, const void *b)
{
	const struct incident_entry *x = a, *y = b;

	return strcmp(x->name, y->name) < 0;
}

static int sort(struct incident_list *l)
{
	void *room = mem_calloc(l->n, sizeof(*l->entries));

	if (room)
		sort_merge(l->entries, room, l->n, sizeof(*l->entries), is_before);
	mem_free(room);
	return room || !l->n ? 0 : -ENOMEM;
}

int incident_list_read(struct incident_list *l, const char *dir, struct error *err)
{
	const struct reader_options plain = {0};

	return incident_list_read_by(l, dir, &plain, err);
}

int incident_list_read_by(struct incident_list *l, const char *dir,
			  const struct reader_options *how, struct error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool is_part;
	int r = 0;

	*l = (struct incident_list){0};
	if (!d)
		return error_errno(err, -errno, "Cannot read the directory '%s'", dir);
	while (r == 0 && (e = readdir(d)))
		if (incident_file_is_name(e->d_name, &is_part))
			r = add_file(l, dir, e->d_name, is_part, how);
	closedir(d);
	r = r ? r : sort(l);
	if (r < 0) {
		incident_list_deinit(l);
		return error_enomem(err, "the incidents in '%s'", dir);
	}
	return 0;
}

void incident_list_deinit(struct incident_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		mem_free(l->entries[i].name);
	mem_free(l->entries);
	*l = (struct incident_list){0};
}
