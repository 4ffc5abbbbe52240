// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of an incident: a cut of the last seconds, with all that its reader needs. It gets its
 * name when it is completely on disk. Until then its name has the suffix ".part", and the file is
 * locked. A part without a lock was left by a process that was killed; `kontend recover` reads it.
 */
#include "incident-file.h"
#include "kontend/cut.h"
#include "kontend/mem.h"
#include "kontend/resolve-final.h"
#include "kontend/writer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char prefix[] = "kontend-", suffix[] = ".data", part[] = ".part", begun[] = "-begun";
enum { WORD = 16, STAMP = 15 /* 20261121-031407 */, MOST_TRIES = 10000 };

void incident_job_free(struct incident_job *j)
{
	if (!j)
		return;
	backlog_taken_deinit(&j->taken);
	mem_free(j->path);
	mem_free(j);
}

/* The kind of the trigger: its first word. */
static void word_of(char buf[WORD], const struct incident *in)
{
	const char *from = in->flags & INCIDENT_BY_HAND ? "hand" : in->expr;
	size_t n = 0;

	while (*from && !isalpha((unsigned char)*from))
		from++;
	for (; n + 1 < WORD && isalpha((unsigned char)from[n]); n++)
		buf[n] = (char)tolower((unsigned char)from[n]);
	buf[n] = '\0';
	if (!n)
		memcpy(buf, "incident", sizeof("incident"));
}

void incident_file_name(char buf[INCIDENT_NAME], const struct incident_job *j, unsigned n)
{
	time_t s = (time_t)(j->wall_ns / 1000000000);
	char stamp[STAMP + 1] = "", word[WORD], number[12] = "";
	struct tm tm;

	word_of(word, &j->incident);
	if (localtime_r(&s, &tm))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	if (n > 1)
		snprintf(number, sizeof(number), "-%u", n);
	snprintf(buf, INCIDENT_NAME, "%s%s-%s%s%s%s", prefix, stamp, word, j->goes_on ? begun : "",
		 number, suffix);
}

static bool is_stamp(const char *s)
{
	for (int i = 0; i < STAMP; i++)
		if (i == 8 ? s[i] != '-' : !isdigit((unsigned char)s[i]))
			return false;
	return s[STAMP] == '-';
}

static bool ends_with(const char *s, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n >= m && !memcmp(s + n - m, end, m);
}

bool incident_file_is_name(const char *name, bool *ret_part)
{
	size_t n = strlen(name), head = sizeof(prefix) - 1;

	*ret_part = ends_with(name, n, part);
	n -= *ret_part ? sizeof(part) - 1 : 0;
	if (n < head + STAMP + 2 + sizeof(suffix) || memcmp(name, prefix, head) != 0 ||
	    !is_stamp(name + head) || !ends_with(name, n, suffix))
		return false;
	for (size_t i = head + STAMP + 1; i < n - (sizeof(suffix) - 1); i++)
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
		    name[i] != '-')
			return false;
	return true;
}

/* A file being made. */
struct making {
	const struct incident_options *o;
	struct incident_job *j;
	char *path, *temp;
	int fd;
	struct record_output_file place;
};

static int set_names(struct making *m, unsigned n, struct error *err)
{
	char name[INCIDENT_NAME], both[INCIDENT_NAME + 1] = "/";

	incident_file_name(name, m->j, n);
	snprintf(both + 1, sizeof(both) - 1, "%s", name);
	mem_free(m->path);
	mem_free(m->temp);
	m->path = mem_join(m->o->dir, both);
	m->temp = m->path ? mem_join(m->path, part) : NULL;
	return m->temp ? 0 : error_enomem(err, "the file of an incident");
}

/* File names have a resolution of seconds, and the clock may be set back: a name may be taken. */
static int make_file(struct making *m, struct error *err)
{
	struct stat st;

	for (unsigned n = 1; n < MOST_TRIES; n++) {
		int r = set_names(m, n, err);

		if (r < 0)
			return r;
		if (lstat(m->path, &st) == 0)
			continue;
		m->fd = open(m->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (m->fd >= 0 || errno != EEXIST)
			break;
	}
	int r = m->fd < 0 ? -errno : record_output_know(m->fd, &m->place);
	if (r == 0 && flock(m->fd, LOCK_EX | LOCK_NB) < 0)
		r = -errno;
	return r < 0 ? error_errno(err, r, "Cannot make the file '%s'", m->temp) : 0;
}

static struct record snapshot_record(const void *bytes, size_t len)
{
	return (struct record){.kind = RECORD_SNAPSHOT, .data = bytes, .len = len};
}

struct fired {
	struct record_snapshot head;
	struct incident incident;
};

static struct fired fired_of(const struct incident *in)
{
	return (struct fired){{.kind = SNAPSHOT_INCIDENT, .version = INCIDENT_VERSION}, *in};
}

/* The cut is a recording of its own: the fired trigger, names of locks, code, then the range. */
static int put_range(struct making *m, struct writer *w, struct error *err)
{
	const struct incident *in = &m->j->incident;
	const struct fired fired = fired_of(in);
	struct record more[3] = {snapshot_record(&fired, sizeof(fired))};
	struct cut_part range = {
		.from_ns = in->from_ns,
		.to_ns = in->to_ns,
		.known_ns = m->j->taken.known_ns,
		.more = more,
		.n_more = 1,
	};

	if (m->o->text)
		more[range.n_more++] = *m->o->text;
	if (m->j->taken.names)
		more[range.n_more++] = snapshot_record(m->j->taken.names, m->j->taken.names_len);
	return cut_range(m->j->taken.source, w, &range, err);
}

/*
 * Names functions while the programs still run. An error is reported; the file is useful without
 * them.
 */
static int put_functions(struct making *m, struct writer *w, struct error *err)
{
	const struct resolve_final_options o = {.code = m->o->code,
						.keep_symbols = m->o->keep_symbols};
	struct resolve_final_stat st = {0};
	struct error why = {0};

	if (!m->o->has_samples)
		return 0;
	/* Readers find snapshots of the whole recording at its end, if there are any. */
	const struct fired fired = fired_of(&m->j->incident);
	const struct record again = snapshot_record(&fired, sizeof(fired));
	int r = writer_put(w, &again, err);
	if (r < 0)
		return r;
	r = resolve_final_put(w, m->fd, &o, &st, &why);
	if (r == -ENOSPC)
		return error_set(err, r, "%s", why.text);
	if (resolve_final_lack(r, &st, &why))
		m->j->note = why;
	return 0;
}

static int write_all(struct making *m, struct error *err)
{
	struct writer_options wo = {
		.fd = m->fd,
		.name = m->temp,
		.zstd_level = m->o->zstd_level,
		.argv = m->o->argv,
		.clock_id = CLOCK_MONOTONIC,
	};
	struct writer_stat st;
	struct writer *w;
	int r = writer_new(&w, &wo, err);

	if (r < 0)
		return r;
	r = put_range(m, w, err);
	if (r == 0)
		r = put_functions(m, w, err);
	if (r == 0)
		r = writer_finish(w, err);
	writer_stat(w, &st);
	m->j->bytes = st.bytes;
	writer_free(w);
	if (r == 0 && fdatasync(m->fd) < 0)
		r = error_errno(err, -errno, "Cannot write the file '%s' to disk", m->temp);
	return r < 0 ? r : 0;
}

/* Another process may have taken the name meanwhile. */
static int take_name(struct making *m, struct error *err)
{
	int r = -EEXIST;

	for (unsigned n = 1; r == -EEXIST && n < MOST_TRIES; n++) {
		char *temp = m->temp;

		r = record_output_rename(temp, m->path);
		if (r != -EEXIST)
			break;
		m->temp = NULL;
		r = set_names(m, n, err);
		mem_free(m->temp);
		m->temp = temp;
		r = r < 0 ? r : -EEXIST;
	}
	return r < 0 ? error_errno(err, r, "Cannot rename the file '%s' to '%s'", m->temp, m->path)
		     : 0;
}

static void give_up(struct making *m)
{
	if (m->fd >= 0) {
		record_output_remove(m->temp, &m->place);
		close(m->fd);
	}
	mem_free(m->path);
	mem_free(m->temp);
}

int incident_file_write(const struct incident_options *o, struct incident_job *j)
{
	struct making m = {.o = o, .j = j, .fd = -1};
	int r = make_file(&m, &j->err);

	if (r == 0)
		r = write_all(&m, &j->err);
	if (r == 0)
		r = take_name(&m, &j->err);
	if (r < 0) {
		give_up(&m);
		return r;
	}
	close(m.fd);
	j->path = m.path;
	mem_free(m.temp);
	return 0;
}

int incident_file_begin(const struct incident_options *o, struct incident_job *j,
			struct incident_begun *ret)
{
	struct making m = {.o = o, .j = j, .fd = -1};
	int r = make_file(&m, &j->err);

	if (r == 0)
		r = write_all(&m, &j->err);
	if (r < 0) {
		give_up(&m);
		return r;
	}
	*ret = (struct incident_begun){m.path, m.temp, m.fd, m.place, j->bytes};
	return 0;
}

void incident_begun_leave(struct incident_begun *b)
{
	if (b->fd >= 0)
		close(b->fd);
	mem_free(b->path);
	mem_free(b->temp);
	*b = (struct incident_begun){.fd = -1};
}

void incident_begun_drop(struct incident_begun *b)
{
	if (!b->temp)
		return;
	record_output_remove(b->temp, &b->place);
	incident_begun_leave(b);
}

int incident_begun_keep(struct incident_begun *b, char **ret_path, struct error *err)
{
	int r = record_output_rename(b->temp, b->path);

	if (r < 0) {
		error_errno(err, r, "Cannot rename the file '%s' to '%s'", b->temp, b->path);
	} else {
		*ret_path = b->path;
		b->path = NULL;
	}
	incident_begun_leave(b);
	return r;
}
