// SPDX-License-Identifier: GPL-2.0-only
/*
 * Downloads debug files. A download may take minutes, so a separate process does it. It runs this
 * program again and sends one message, with the file's descriptor or with the reason why there is
 * none. It needs the network and its cache, and has no other privileges.
 */
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/fdpass.h"
#include "kontend/srclines.h"
#include "kontend/text.h"
#include "optional.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* It stops by itself; else a timer ends it, else the parent does. */
enum {
	ASK_SECONDS = 120,
	TIMER_SECONDS = 130,
	END_SECONDS = 140,
	/* After so many failures no more downloads: there is no network. */
	FAILURES_MOST = 3
};

struct message {
	int error; /* 0: a descriptor follows */
	char why[FETCH_WHY];
};

const char *const srclines_fetch_argv[] = {"kontend", SRCLINES_FETCH_ARG, NULL};

/* Returns @r and stores the reason. */
static int fail(struct srclines_fetch *f, int r, const char *why)
{
	char clean[FETCH_WHY];

	snprintf(f->why, sizeof(f->why), "%s (%.128s)", srclines_reason(SRCLINES_NO_INFO),
		 text_clean(clean, sizeof(clean), why));
	return r;
}

const char *srclines_fetch_never(struct srclines_fetch *f, size_t id_len)
{
	const char *why = debuginfod_missing();

	if (!why && f->failures >= FAILURES_MOST)
		why = "debuginfod: not asked any more, as it failed before";
	if (!why && (!id_len || id_len > FETCH_ID_MOST))
		why = "debuginfod: the file has no build id";
	if (why)
		fail(f, 0, why);
	return why ? f->why : NULL;
}

const char *srclines_fetch_wrong(void)
{
	return "no debug information (debuginfod: the downloaded file has another build id, or "
	       "none)";
}

int srclines_fetch_start(struct srclines_fetch *f, const struct file_access *door,
			 const char *const *argv, uint32_t object, const uint8_t *id, size_t n)
{
	char hex[2 * FETCH_ID_MOST + 1];
	const char *args[] = {argv[0], argv[1], hex, NULL};

	if (srclines_fetch_never(f, n))
		return -ENOENT;
	text_hex(hex, id, n);
	f->object = object;
	f->begun_ns = clock_now_ns();
	int r = srclines_proc_start(&f->proc, door, args);
	if (r == 0)
		return 0;
	f->failures++;
	return fail(f, r, "debuginfod: cannot start its process");
}

/* 1; 0: nothing yet; -EPIPE: the process has ended, or sent an invalid message. */
static int receive(int from, struct message *ret, int *ret_fd)
{
	int fds[FDPASS_MOST];
	long n = fdpass_receive(from, ret, sizeof(*ret), fds, MSG_DONTWAIT);

	*ret_fd = -1;
	if (n == -EAGAIN)
		return 0;
	if (n == (long)sizeof(*ret) && ret->error <= 0 && (ret->error < 0) == (fds[0] < 0) &&
	    fds[1] < 0) {
		*ret_fd = fds[0];
		return 1;
	}
	for (size_t i = 0; i < FDPASS_MOST; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return -EPIPE;
}

int srclines_fetch_take(struct srclines_fetch *f)
{
	struct message m = {0};
	char end[FETCH_WHY];
	int r = receive(f->proc.fd, &m, &f->file);

	if (r == 0 && clock_now_ns() - f->begun_ns < END_SECONDS * 1000000000ull)
		return 0;
	srclines_proc_stop(&f->proc);
	if (r == 1 && m.error == 0)
		return 1;
	f->failures += r != 1 || m.error != -ENOENT;
	m.why[sizeof(m.why) - 1] = '\0';
	if (r == 1)
		return fail(f, m.error, m.why);
	snprintf(end, sizeof(end), "debuginfod: %s", r < 0 ? f->proc.end : "took too long");
	return fail(f, -EPIPE, end);
}

int srclines_fetch_file(struct srclines_fetch *f, uint32_t object)
{
	int fd = f->object == object ? f->file : -1;

	f->file = fd >= 0 ? -1 : f->file;
	return fd;
}

void srclines_fetch_stop(struct srclines_fetch *f)
{
	srclines_proc_stop(&f->proc);
	if (f->file >= 0)
		close(f->file);
	f->file = -1;
}

/*
 * Creates the cache folder as the library would, and sets its path, so that the sandbox can allow
 * writes there.
 */
static bool make_cache(char *ret, size_t size)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *all = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int n;

	if (own && *own)
		n = snprintf(ret, size, "%s", own);
	else if (all && *all)
		n = snprintf(ret, size, "%s/debuginfod_client", all);
	else
		n = snprintf(ret, size, "%s/.cache/debuginfod_client", home ? home : "");
	if (n <= 0 || (size_t)n >= size)
		return false;
	for (char *p = strchr(ret + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(ret, 0700);
		*p = '/';
	}
	mkdir(ret, 0700);
	struct stat st;
	return stat(ret, &st) == 0 && S_ISDIR(st.st_mode) &&
	       setenv("DEBUGINFOD_CACHE_PATH", ret, 1) == 0;
}

static int find_file(const char *build_id, struct message *m)
{
	char cache[4096];
	int r = srclines_jail_rights(SRCLINES_FD);

	if (r == 0 && !make_cache(cache, sizeof(cache)))
		r = -ENOTDIR;
	r = r ? r : srclines_jail_writes(cache);
	if (r < 0) {
		snprintf(m->why, sizeof(m->why), "debuginfod: cannot make its cache (%s)",
			 strerror(-r));
		return r;
	}
	srclines_jail_budget(0, TIMER_SECONDS);
	return debuginfod_find(build_id, ASK_SECONDS, m->why, sizeof(m->why));
}

int srclines_fetch(const char *build_id)
{
	struct message m = {0};

	if (strspn(build_id, "0123456789abcdef") != strlen(build_id))
		return 1;
	int fd = find_file(build_id, &m);
	m.error = fd < 0 ? fd : 0;
	return fdpass_send(SRCLINES_FD, &m, sizeof(m), &fd, fd >= 0, 0) < 0;
}
