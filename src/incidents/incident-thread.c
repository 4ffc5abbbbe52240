// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two lists under one lock: files to write, and finished ones. The thread sleeps on a condition;
 * the main thread polls a descriptor. The thread has a lower priority than the one that drains the
 * rings: a slow disk delays only the next file.
 */
#include "incident-file.h"
#include "kontend/mem.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE = 5 };

struct incident_thread {
	const struct incident_options *o;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct incident_job *first, **last; /* to be written */
	struct incident_job *done, **last_done;
	unsigned left; /* including the one being written */
	bool started, stopping;
	int fd;
	struct incident_begun begun; /* used only by the thread */
};

static struct incident_job *wait_for_one(struct incident_thread *t)
{
	struct incident_job *j;

	pthread_mutex_lock(&t->lock);
	while (!t->first && !t->stopping)
		pthread_cond_wait(&t->more, &t->lock);
	j = t->stopping ? NULL : t->first;
	if (j) {
		t->first = j->next;
		if (!t->first)
			t->last = &t->first;
	}
	pthread_mutex_unlock(&t->lock);
	return j;
}

static void hand_over(struct incident_thread *t, struct incident_job *j)
{
	uint64_t one = 1;

	j->next = NULL;
	pthread_mutex_lock(&t->lock);
	*t->last_done = j;
	t->last_done = &j->next;
	t->left--;
	pthread_mutex_unlock(&t->lock);
	while (write(t->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/*
 * Removes the oldest files over the limits. A failure concerns the disk and does not make this file
 * fail.
 */
static void trim(const struct incident_options *o, struct incident_job *j)
{
	retain_apply(o->dir, &j->keep, j->keep_ns, &j->kept, &j->kept_err);
}

/* Its end will not come: keeps the first cut as a file of its own. */
static void keep_begun(struct incident_thread *t, struct incident_job *j)
{
	struct incident_begun *b = &t->begun;
	uint64_t bytes = b->bytes;

	if (!b->temp || incident_begun_keep(b, &j->path, &j->note) < 0)
		return;
	error_set(&j->note, -EIO, "'%s' ends when the trigger fired%s%s", j->path,
		  j->err.code ? ": " : "", j->err.text);
	j->bytes = bytes;
}

static void begin_file(struct incident_thread *t, struct incident_job *j)
{
	keep_begun(t, j);
	(void)incident_file_begin(t->o, j, &t->begun); /* the error is in j->err */
}

static void write_file(struct incident_thread *t, struct incident_job *j)
{
	if (incident_file_write(t->o, j) < 0) {
		keep_begun(t, j);
		return;
	}
	incident_begun_drop(&t->begun);
	trim(t->o, j);
}

static void *work(void *arg)
{
	struct incident_thread *t = arg;
	struct incident_job *j;

	/* Without it the thread has normal priority. */
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	while ((j = wait_for_one(t))) {
		if (j->goes_on)
			begin_file(t, j);
		else
			write_file(t, j);
		backlog_taken_deinit(&j->taken);
		/* An engine of its own has found the names for the file. */
		mem_trim();
		hand_over(t, j);
	}
	return NULL;
}

int incident_thread_new(struct incident_thread **ret, const struct incident_options *o,
			struct error *err)
{
	struct incident_thread *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return error_enomem(err, "a thread that writes files");
	*t = (struct incident_thread){
		.o = o, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .begun.fd = -1};
	t->last = &t->first;
	t->last_done = &t->done;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, NULL);
	int r = t->fd < 0 ? -errno : -pthread_create(&t->thread, NULL, work, t);
	t->started = r == 0;
	if (r < 0) {
		incident_thread_free(t);
		return error_errno(err, r, "Cannot start a thread that writes files");
	}
	*ret = t;
	return 0;
}

int incident_thread_put(struct incident_thread *t, struct incident_job *j)
{
	int r = 0;

	j->next = NULL;
	pthread_mutex_lock(&t->lock);
	if (t->left >= INCIDENT_THREAD_MOST) {
		r = -EAGAIN;
	} else {
		*t->last = j;
		t->last = &j->next;
		t->left++;
		pthread_cond_signal(&t->more);
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}

struct incident_job *incident_thread_done(struct incident_thread *t)
{
	struct incident_job *j;
	uint64_t n;

	while (read(t->fd, &n, sizeof(n)) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&t->lock);
	j = t->done;
	if (j) {
		t->done = j->next;
		if (!t->done)
			t->last_done = &t->done;
	}
	pthread_mutex_unlock(&t->lock);
	return j;
}

unsigned incident_thread_left(struct incident_thread *t)
{
	unsigned n;

	pthread_mutex_lock(&t->lock);
	n = t->left;
	pthread_mutex_unlock(&t->lock);
	return n;
}

int incident_thread_fd(const struct incident_thread *t)
{
	return t->fd;
}

static void free_list(struct incident_job *j)
{
	while (j) {
		struct incident_job *next = j->next;

		incident_job_free(j);
		j = next;
	}
}

void incident_thread_free(struct incident_thread *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stopping = true;
	pthread_cond_signal(&t->more);
	pthread_mutex_unlock(&t->lock);
	if (t->started)
		pthread_join(t->thread, NULL);
	incident_begun_leave(&t->begun);
	free_list(t->first);
	free_list(t->done);
	if (t->fd >= 0)
		close(t->fd);
	pthread_cond_destroy(&t->more);
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}
