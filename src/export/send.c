// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request to a collector of OTLP, by libcurl, which is loaded when it is used, as it brings two
 * dozen libraries with it. A process that has read a stranger's recording may not do that: the
 * request is made outside of the sandbox, with bytes that are complete by then.
 *
 * Nor has libcurl the rights of root for the answer of a collector: a process of its own sends. It
 * has the file, a pipe for the result, and no rights but to connect and to read public files.
 */
#include "kontend/send.h"
#include "kontend/fdio.h"
#include "kontend/library.h"
#include "kontend/pprof.h"
#include "kontend/sandbox.h"
#include "kontend/text.h"
#include "version.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SONAME "libcurl.so.4"

enum { ANSWER = 16 << 10, WORDS = 200, CONNECT_MS = 10000, ALL_MS = 30000 };
/* Numbers of descriptors in the process that sends. */
enum { FILE_FD = STDERR_FILENO + 1, PIPE_FD, ABOVE };

struct library {
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_setopt) *setopt;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_getinfo) *getinfo;
	__typeof__(curl_easy_cleanup) *cleanup;
	__typeof__(curl_easy_strerror) *strerror;
	__typeof__(curl_slist_append) *append;
	__typeof__(curl_slist_free_all) *free_all;
};

struct sending {
	struct library lib;
	int fd;
	off_t at;
	int read_code; /* of a file that could not be read; 0: it was */
	size_t n;      /* of the answer */
	bool cut;      /* there was more of it */
	char answer[ANSWER];
	char why[CURL_ERROR_SIZE];
};

bool send_is_address(const char *to)
{
	return to && (strncasecmp(to, "http://", 7) == 0 || strncasecmp(to, "https://", 8) == 0);
}

static const struct library_function functions[] = {
	LIBRARY_FUNCTION(struct library, init, curl_easy_init),
	LIBRARY_FUNCTION(struct library, setopt, curl_easy_setopt),
	LIBRARY_FUNCTION(struct library, perform, curl_easy_perform),
	LIBRARY_FUNCTION(struct library, getinfo, curl_easy_getinfo),
	LIBRARY_FUNCTION(struct library, cleanup, curl_easy_cleanup),
	LIBRARY_FUNCTION(struct library, strerror, curl_easy_strerror),
	LIBRARY_FUNCTION(struct library, append, curl_slist_append),
	LIBRARY_FUNCTION(struct library, free_all, curl_slist_free_all),
};

static const struct library_spec library = {SONAME, functions,
					    sizeof(functions) / sizeof(functions[0]), "send",
					    "libcurl4, or write a file and send it with curl(1)"};

int send_check(struct error *err)
{
	struct library lib;

	return library_load(&library, &lib, err);
}

static size_t give_body(char *to, size_t size, size_t n, void *ctx)
{
	struct sending *s = ctx;
	ssize_t got = pread(s->fd, to, size * n, s->at);

	if (got < 0) {
		s->read_code = -errno;
		return CURL_READFUNC_ABORT;
	}
	s->at += got;
	return (size_t)got;
}

/* The begin of a long answer is enough. */
static size_t take_answer(char *from, size_t size, size_t n, void *ctx)
{
	struct sending *s = ctx;
	size_t all = size * n, room = sizeof(s->answer) - s->n;

	s->cut |= all > room;
	memcpy(s->answer + s->n, from, all < room ? all : room);
	s->n += all < room ? all : room;
	return all;
}

static bool set_up(struct sending *s, CURL *c, const char *to, off_t bytes)
{
	const struct library *l = &s->lib;

	return !l->setopt(c, CURLOPT_URL, to) && !l->setopt(c, CURLOPT_POST, 1L) &&
	       !l->setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes) &&
	       !l->setopt(c, CURLOPT_READFUNCTION, give_body) &&
	       !l->setopt(c, CURLOPT_READDATA, s) &&
	       !l->setopt(c, CURLOPT_WRITEFUNCTION, take_answer) &&
	       !l->setopt(c, CURLOPT_WRITEDATA, s) && !l->setopt(c, CURLOPT_ERRORBUFFER, s->why) &&
	       !l->setopt(c, CURLOPT_NOSIGNAL, 1L) &&
	       !l->setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") &&
	       !l->setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) &&
	       !l->setopt(c, CURLOPT_TIMEOUT_MS, (long)ALL_MS) &&
	       !l->setopt(c, CURLOPT_USERAGENT, "kontend/" KONTEND_VERSION);
}

/* NULL: no memory. */
static struct curl_slist *headers(const struct library *l)
{
	static const char *const all[] = {"Content-Type: application/x-protobuf",
					  "Content-Encoding: gzip", "Expect:"};
	struct curl_slist *list = NULL;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct curl_slist *longer = l->append(list, all[i]);
		if (!longer) {
			l->free_all(list);
			return NULL;
		}
		list = longer;
	}
	return list;
}

static int refused(const struct sending *s, const char *to, long status, struct error *err)
{
	char clean[WORDS], words[WORDS];
	size_t n = 0;

	/* Of several lines the first. */
	for (; n < s->n && n + 1 < sizeof(words) && s->answer[n] != '\n' && s->answer[n] != '\r';
	     n++)
		words[n] = s->answer[n];
	words[n] = '\0';
	return error_set(err, -EIO, "'%s' did not take the profile: it answers %ld%s%s%s", to,
			 status, n ? ": " : "", text_clean(clean, sizeof(clean), words),
			 status == 404
				 ? "; a collector takes profiles only where that is switched on, "
				   "at /v1development/profiles"
				 : "");
}

/* It may say that it took all but some; an empty answer is that it took all. */
static int understand(const struct sending *s, const char *to, long status, struct error *err)
{
	char clean[WORDS], why[WORDS];
	int64_t left_out;

	if (status < 200 || status > 299)
		return refused(s, to, status, err);
	if (s->cut || pprof_otlp_left_out(s->answer, s->n, &left_out, why, sizeof(why)) < 0)
		return error_set(
			err, -EIO,
			"'%s' answered %ld without a valid OTLP response: it may or may not "
			"have taken the profile",
			to, status);
	text_clean(clean, sizeof(clean), why);
	if (left_out)
		return error_set(err, -EIO, "'%s' did not take %lld of the profiles: %s", to,
				 (long long)left_out, clean);
	/* It took all of them, and may have something to say. */
	return *clean ? error_set(err, 1, "'%s' took the profile, and says: %s", to, clean) : 0;
}

static int perform(struct sending *s, CURL *c, const char *to, struct error *err)
{
	CURLcode code = s->lib.perform(c);
	long status = 0;

	if (code == CURLE_OK)
		code = s->lib.getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	if (s->read_code)
		return error_errno(err, s->read_code, "Cannot read the profile to send");
	if (code != CURLE_OK)
		return error_set(err, -EIO, "Cannot send to '%s': %s", to,
				 *s->why ? s->why : s->lib.strerror(code));
	return understand(s, to, status, err);
}

static int send_it(int fd, const char *to, struct error *err)
{
	struct sending s = {.fd = fd};
	struct stat st;
	int r = library_load(&library, &s.lib, err);

	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "Cannot read the profile to send");
	CURL *c = s.lib.init();
	struct curl_slist *list = c ? headers(&s.lib) : NULL;

	if (list && set_up(&s, c, to, st.st_size) && !s.lib.setopt(c, CURLOPT_HTTPHEADER, list))
		r = perform(&s, c, to, err);
	else
		r = error_set(err, -EINVAL,
			      "Cannot send to '%s': it is no address that libcurl takes", to);
	s.lib.free_all(list);
	if (c)
		s.lib.cleanup(c);
	return r;
}

/* The result of the process that sends. */
struct result {
	int code;
	struct error err;
};

/* The file and the pipe get the first numbers after the standard streams; all else is closed. */
static int keep_both(int fd, int pipe)
{
	int from = fcntl(fd, F_DUPFD_CLOEXEC, ABOVE), to = fcntl(pipe, F_DUPFD_CLOEXEC, ABOVE);

	if (from < 0 || to < 0 || dup2(from, FILE_FD) < 0 || dup2(to, PIPE_FD) < 0)
		return -errno;
	return syscall(SYS_close_range, PIPE_FD + 1, ~0u, 0) < 0 && errno != ENOSYS ? -errno : 0;
}

static _Noreturn void work(int fd, int pipe, const char *to)
{
	struct result result = {0};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "kontend-send");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int r = keep_both(fd, pipe);
	if (r < 0)
		_exit(1);
	alarm(ALL_MS / 1000 + CONNECT_MS / 1000);
	r = sandbox_only_connect();
	prctl(PR_SET_DUMPABLE, 0);
	result.code = r < 0 ? error_errno(&result.err, r, "Cannot give up the rights to send")
			    : send_it(FILE_FD, to, &result.err);
	(void)!write(PIPE_FD, &result, sizeof(result));
	_exit(0);
}

static int wait_for(int pipe, pid_t pid, const char *to, struct error *err)
{
	struct result result;
	ssize_t n = fdio_read(pipe, &result, sizeof(result));

	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(result))
		return error_set(err, -EIO,
				 "Cannot send to '%s': the process that does it has ended before "
				 "there was an answer",
				 to);
	if (result.code)
		*err = result.err;
	return result.code;
}

int send_profile(int fd, const char *to, struct error *err)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "Cannot make a pipe to the process that sends");
	pid_t pid = fork();
	if (pid == 0)
		work(fd, pair[1], to);
	int r = pid < 0 ? -errno : 0;
	close(pair[1]);
	r = r < 0 ? error_errno(err, r, "Cannot start the process that sends")
		  : wait_for(pair[0], pid, to, err);
	close(pair[0]);
	return r;
}
