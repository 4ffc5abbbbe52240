// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process sends a head when it measures, or cannot, and another one with the answer when it was
 * asked to end. One byte asks for that; so does the end of its parent's end of the socket.
 */
#include "observer.h"
#include "kontend/mem.h"
#include "kontend/run.h"

#include <errno.h>

/* Before each message: code 0 and no text, or why there is no answer. */
struct head {
	struct error err;
};

/* Until the parent wants it to end, and then until the stream has ended. */
static int measure(const struct bench_observer_job *job, int fd, void *answer, struct error *err)
{
	const struct head begun = {0};
	struct run run = {0};
	int code = run_open(&run, job->opts, err);

	if (code == 0)
		code = run_start(&run, err);
	if (code == 0)
		code = bench_child_send(fd, &begun, sizeof(begun));
	if (code == 0)
		code = run_pump(&run, fd, 0, err);
	if (code == 0) {
		run_stop(&run);
		code = run_pump(&run, -1, 0, err);
	}
	if (code == 0)
		code = job->take(job->ctx, &run, answer, err);
	/* A setting that is not restored is a failure, too. */
	int closed = run_close(&run, err);
	return code < 0 ? code : closed;
}

static int observe(void *ctx, int fd)
{
	const struct bench_observer_job *job = ctx;
	void *answer = mem_calloc(1, job->size);
	struct head h = {0};
	int code =
		answer ? measure(job, fd, answer, &h.err) : error_enomem(&h.err, "the measurement");

	if (code < 0 && !h.err.code)
		error_errno(&h.err, code, "Cannot measure");
	if (code == 0)
		h.err = (struct error){0};
	int sent = bench_child_send(fd, &h, sizeof(h));
	if (sent == 0 && code == 0)
		sent = bench_child_send(fd, answer, job->size);
	mem_free(answer);
	return sent;
}

static int receive_head(const struct bench_observer *o, struct error *err)
{
	struct head h;

	if (bench_child_receive(o->child.fd, &h, sizeof(h), 0) < 0)
		return error_set(err, -ECHILD, "The process that measures has ended early");
	h.err.text[sizeof(h.err.text) - 1] = '\0';
	return h.err.code < 0 ? error_set(err, h.err.code, "%s", h.err.text) : 0;
}

int bench_observer_start(struct bench_observer *o, const struct bench_observer_job *job,
			 struct error *err)
{
	struct bench_observer_job copy = *job;
	int code = bench_child_start(&o->child, observe, &copy, err);

	o->size = job->size;
	if (code == 0)
		code = receive_head(o, err);
	if (code < 0)
		bench_child_end(&o->child);
	return code;
}

int bench_observer_stop(struct bench_observer *o, void *ret, struct error *err)
{
	const char byte = 0;

	/* If it has ended, its last message says why. */
	(void)bench_child_send(o->child.fd, &byte, 1);
	int code = receive_head(o, err);
	if (code == 0 && bench_child_receive(o->child.fd, ret, o->size, 0) < 0)
		code = error_set(err, -ECHILD, "The process that measures has ended early");
	bench_child_end(&o->child);
	return code;
}
