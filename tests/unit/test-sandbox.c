// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording that takes over its reader: a record of it is for the planted hole of this
 * program, which then does what the record says. It reads as kontend does, by the same reader, in
 * the sandbox that the verbs go into. Each attempt is a process of its own, and is made without the
 * sandbox as well, where it must get through: so it is the sandbox that stops it.
 */
#include "kontend/cut.h"
#include "kontend/sanitized.h"
#include "kontend/srclines.h"
#include "sandbox-attempts.h"
#include "sandbox/sandboxed-requests.h"
#include "synth.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char hole[] = "planted-hole";

static struct {
	struct sandbox_target t;
	char elf[128], text[128], dump[128], dump_link[128], map[128], map_link[128],
		map_twice[128];
	int listener, unix_listener, mailbox;
	struct sandboxed sandboxed;
} w;

enum { NOTHING = 200, BROKEN = 201, PARTIAL = 202 };

/* The planted hole: what a fault of the reader would be. */
static int fall_in(const struct record *r, unsigned which)
{
	const char *at =
		r->kind == RECORD_PERF ? memmem(r->data, r->len, hole, strlen(hole)) : NULL;

	return at ? sandbox_attempts[which].make(&w.t) : NOTHING;
}

static int read_all(unsigned which)
{
	struct reader_options o = {.path = w.t.data, .no_symbols = true};
	struct error err = {0};
	struct source *s;
	struct record r;
	int code, answer = NOTHING;

	sandboxed_reader(&w.sandboxed, &o);
	if (reader_new(&s, &o, &err) < 0)
		return BROKEN;
	while ((code = source_next(s, 0, &r, &err)) != SOURCE_END && code >= 0) {
		if (code == 0 && answer == NOTHING)
			answer = fall_in(&r, which);
		if (code == 0)
			source_release(s, &r);
	}
	source_free(s);
	return code == SOURCE_END ? answer : BROKEN;
}

static _Noreturn void reader_process(unsigned which, bool no_sandbox)
{
	const struct opts o = {.no_sandbox = no_sandbox};
	const struct sandboxed_wants wants = {.recordings = {w.t.data}};
	struct error err = {0};

	if (sandboxed_enter(&w.sandboxed, &o, &wants, &err) < 0)
		_exit(BROKEN);
	if (!no_sandbox && w.sandboxed.sandbox.state != SANDBOX_ON)
		_exit(PARTIAL);
	_exit(read_all(which));
}

static int status_of(pid_t pid)
{
	int status;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void put_back(void)
{
	unlink(w.t.victim_file);
	int fd = open(w.t.victim_file, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "kept\n", 5), 5);
	close(fd);
	rmdir(w.t.new_file);
	unlink(w.t.new_file);
}

static bool is_untouched(void)
{
	struct stat st;

	return access(w.t.new_file, F_OK) < 0 && stat(w.t.victim_file, &st) == 0 &&
	       st.st_size == 5 && (st.st_mode & 07777) == 0600;
}

static int attempt(unsigned which, bool no_sandbox)
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0)
		reader_process(which, no_sandbox);
	return status_of(pid);
}

static bool can_be_tried(const struct sandbox_attempt *a)
{
	return (!(a->needs & SANDBOX_ATTEMPT_ROOT) || geteuid() == 0) &&
	       (!(a->needs & SANDBOX_ATTEMPT_PLAIN) || !SANITIZED_SHADOW);
}

static void test_each_attempt_is_refused(void **state)
{
	int without, within;
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; sandbox_attempts[i].name; i++) {
		const struct sandbox_attempt *a = &sandbox_attempts[i];
		if (!can_be_tried(a))
			continue;
		put_back();
		within = attempt(i, false);
		if (within == PARTIAL)
			skip();
		bool whole = is_untouched();
		put_back();
		without = attempt(i, true);
		print_message("%-36s %s, without the sandbox %s\n", a->name,
			      within < NOTHING ? strerror(within) : "broken",
			      without == 0	  ? "done"
			      : without < NOTHING ? strerror(without)
						  : "broken");
		if (without && a->needs & SANDBOX_ATTEMPT_OPTIONAL)
			continue; /* this kernel has none of it for any process */
		assert_int_equal(without, 0);
		assert_true(within == EPERM || within == EACCES);
		assert_true(whole);
		n++;
	}
	assert_true(n >= 20);
}

#if defined(__x86_64__)
/* getpid() by the gate of 32 bits, where 20 is its number and writev() that of ours. */
static int by_another_gate(void)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	return r == getpid() ? 0 : ENOSYS;
}

static int through_gate(bool no_sandbox)
{
	const struct opts o = {.no_sandbox = no_sandbox};
	const struct sandboxed_wants wants = {.recordings = {w.t.data}};
	struct error err = {0};
	pid_t pid = fork();

	if (pid == 0) {
		if (sandboxed_enter(&w.sandboxed, &o, &wants, &err) < 0)
			_exit(BROKEN);
		_exit(by_another_gate());
	}
	return status_of(pid);
}

static void test_another_architecture_is_the_end(void **state)
{
	(void)state;
	int without = through_gate(true);
	if (without == 256 + SIGSEGV || without == ENOSYS)
		skip(); /* no programs of 32 bits here */
	assert_int_equal(without, 0);
	assert_int_equal(through_gate(false), 256 + SIGSYS);
}
#endif

/* A request to the broker by an attacker: the error number, or 0 if the broker did it. */
static int ask_broker(enum sandboxed_request request, const char *text, int64_t number, int fd)
{
	const struct broker_ask a = {.number = number, .text = text, .fds = {fd, -1}};
	struct broker_answer ret;

	if (broker_do(&w.sandboxed.broker, request, &a, &ret) < 0)
		return BROKEN;
	if (ret.fd >= 0)
		close(ret.fd);
	return ret.number < 0 ? (int)-ret.number : 0;
}

static const struct question {
	const char *name;
	enum sandboxed_request request;
	const char *text; /* NULL: those of this test, by number */
	bool passes;
} questions[] = {
	{"the recording", BROKER_RECORDING, w.t.data, true},
	{"a file as a recording", BROKER_RECORDING, "/etc/passwd", false},
	{"a file beside it", BROKER_RECORDING, w.t.victim_file, false},
	{"a program, for its symbols", BROKER_FILE, w.elf, true},
	{"a secret, for its symbols", BROKER_FILE, "/etc/shadow", false},
	{"a list of users", BROKER_FILE, "/etc/passwd", false},
	{"a device", BROKER_FILE, "/dev/zero", false},
	{"a link that is called as sources are", BROKER_FILE, w.text, false},
	{"a jitdump", BROKER_FILE, w.dump, true},
	{"a secret that is called a jitdump", BROKER_FILE, w.dump_link, false},
	{"a JIT's map", BROKER_FILE, w.map, true},
	{"a secret that is called a JIT's map", BROKER_FILE, w.map_link, false},
	{"a JIT's map with a second name", BROKER_FILE, w.map_twice, false},
	{"a program, to find it mapped", BROKER_MAPPED, "/etc/passwd", false},
	{"a new file elsewhere", BROKER_MAKE, w.t.new_file, false},
	{"to name what was never made", BROKER_MADE, "", false},
	{"a process, with other words", BROKER_START, "-h; id", false},
	{"to ask servers, which was not allowed", BROKER_START, "00ff", false},
	{"to put an output in its place", BROKER_PUT, "", false},
	{"to save without leave", BROKER_SAVE, "x.txt", false},
	{"to write a configuration", BROKER_KEEP, "columns\nlock", false},
	{"what there is not", SANDBOXED_REQUESTS, "", false},
};

static _Noreturn void asking_process(const struct question *q)
{
	const struct opts o = {0};
	const struct sandboxed_wants wants = {.recordings = {w.t.data}};
	struct error err = {0};

	if (sandboxed_enter(&w.sandboxed, &o, &wants, &err) < 0)
		_exit(BROKEN);
	int pair[2] = {-1, -1};
	if (q->request == BROKER_START &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		_exit(BROKEN);
	_exit(ask_broker(q->request, q->text, 0,
			 q->request == BROKER_START || q->request == BROKER_SAVE
				 ? (pair[0] >= 0 ? pair[0] : 0)
				 : -1));
}

static void test_the_broker_looks_at_what_he_is_asked(void **state)
{
	(void)state;
	put_back();
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		pid_t pid = fork();

		if (pid == 0)
			asking_process(&questions[i]);
		int r = status_of(pid);
		print_message("%-40s %s\n", questions[i].name,
			      r == 0	    ? "done"
			      : r < NOTHING ? strerror(r)
					    : "broken");
		if (questions[i].passes)
			assert_int_equal(r, 0);
		else
			assert_in_range(r, 1, NOTHING - 1);
	}
	assert_true(is_untouched());
}

static struct sandboxed_wants wants_here(void)
{
	return (struct sandboxed_wants){.recordings = {w.t.data}, .here = true};
}

/* Names in the folder that was open before, and ways that lead there: by path there is none. */
static int make_and_name(void)
{
	char path[200];
	int r = ask_broker(BROKER_MAKE, "made", 0, -1);

	/* No name before all is written, and none after it is given up. */
	if (r || access("made", F_OK) == 0)
		return r ? r : BROKEN;
	r = ask_broker(BROKER_MADE, "", 1, -1);
	if (r || access("made", F_OK) == 0 || ask_broker(BROKER_MADE, "", 0, -1) != ENOENT)
		return r ? r : BROKEN;
	r = ask_broker(BROKER_MAKE, "made", 0, -1);
	if (r || ask_broker(BROKER_MADE, "", 0, -1) || access("made", F_OK) < 0)
		return r ? r : BROKEN;
	snprintf(path, sizeof(path), "%s/made", w.t.dir);
	if (ask_broker(BROKER_MAKE, path, 0, -1) != EPERM ||
	    ask_broker(BROKER_MAKE, "./made", 0, -1) != EPERM)
		return BROKEN;
	/* An existing file is not opened again. */
	return ask_broker(BROKER_MAKE, "kept", 0, -1) == EEXIST ? 0 : BROKEN;
}

static void test_the_broker_makes_names_in_one_folder(void **state)
{
	char made[200];

	(void)state;
	put_back();
	pid_t pid = fork();
	if (pid == 0) {
		const struct opts o = {0};
		const struct sandboxed_wants wants = wants_here();
		struct error err = {0};

		if (chdir(w.t.dir) < 0 || sandboxed_enter(&w.sandboxed, &o, &wants, &err) < 0)
			_exit(BROKEN);
		_exit(make_and_name());
	}
	assert_int_equal(status_of(pid), 0);
	snprintf(made, sizeof(made), "%s/made", w.t.dir);
	assert_int_equal(unlink(made), 0);
	assert_true(is_untouched());
}

/* The name is another file's by then: that one stays, and what was made gets none. */
static void test_the_broker_replaces_nothing(void **state)
{
	int go[2], done[2];
	char c = 0;

	(void)state;
	put_back();
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		const struct opts o = {0};
		const struct sandboxed_wants wants = wants_here();
		struct error err = {0};

		if (chdir(w.t.dir) < 0 || sandboxed_enter(&w.sandboxed, &o, &wants, &err) < 0 ||
		    ask_broker(BROKER_MAKE, "new", 0, -1) || write(done[1], "x", 1) != 1 ||
		    read(go[0], &c, 1) != 1)
			_exit(BROKEN);
		_exit(ask_broker(BROKER_MADE, "", 0, -1) == EEXIST ? 0 : BROKEN);
	}
	assert_int_equal(read(done[0], &c, 1), 1);
	assert_int_equal(rename(w.t.victim_file, w.t.new_file), 0);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(status_of(pid), 0);
	assert_int_equal(rename(w.t.new_file, w.t.victim_file), 0);
	close(go[0]);
	close(go[1]);
	close(done[0]);
	close(done[1]);
}

/* He ends only whom he has begun. */
static void test_the_broker_ends_nobody_else(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		const struct opts o = {0};
		const struct sandboxed_wants wants = {.recordings = {w.t.data}};
		struct error err = {0};

		if (sandboxed_enter(&w.sandboxed, &o, &wants, &err) < 0)
			_exit(BROKEN);
		_exit(ask_broker(BROKER_STOP, "", w.t.victim, -1));
	}
	assert_in_range(status_of(pid), 1, NOTHING - 1);
	assert_int_equal(kill(w.t.victim, 0), 0);
	assert_int_equal(waitpid(w.t.victim, NULL, WNOHANG), 0);
}

static void make_recording(void)
{
	const struct record_host host = {.clock_ns = 1, .cpus = 1};
	struct synth *s = synth_new(1);
	struct error err = {0};
	struct writer_options o = {.clock_id = 1};
	struct writer *out;

	synth_prologue(s, synth_kallsyms);
	synth_record(s, RECORD_HOST, 0, &host, sizeof(host));
	synth_comm(s, 0, 100, 7, 7, hole);
	synth_tick(s, 1000000000);
	synth_tick(s, 2000000000);
	o.fd = open(w.t.data, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(o.fd >= 0);
	struct source *source = synth_source(s);
	assert_int_equal(writer_new(&out, &o, &err), 0);
	assert_int_equal(
		cut_range(source, out, &(struct cut_part){.from_ns = 0, .to_ns = 2000000000}, &err),
		0);
	assert_int_equal(writer_finish(out, &err), 0);
	writer_free(out);
	source_free(source);
	synth_free(s);
	close(o.fd);
}

static void open_sockets(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	socklen_t n = sizeof(w.t.address);

	w.t.address = (struct sockaddr_in){.sin_family = AF_INET,
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	w.listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(w.listener, (struct sockaddr *)&w.t.address, sizeof(w.t.address)), 0);
	assert_int_equal(listen(w.listener, 8), 0);
	assert_int_equal(getsockname(w.listener, (struct sockaddr *)&w.t.address, &n), 0);
	w.t.loose = socket(AF_INET, SOCK_STREAM, 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", w.t.socket);
	w.unix_listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(w.unix_listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(w.unix_listener, 8), 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", w.t.mailbox);
	w.mailbox = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(w.mailbox, (struct sockaddr *)&a, sizeof(a)), 0);
}

static void put_file(const char *path, const char *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
	close(fd);
}

/* Files of just-in-time compilers, and what others would have passed on under their names. */
static void make_jit_files(void)
{
	snprintf(w.dump, sizeof(w.dump), "%s/jit-7.dump", w.t.dir);
	snprintf(w.dump_link, sizeof(w.dump_link), "%s/jit-8.dump", w.t.dir);
	snprintf(w.map, sizeof(w.map), "%s/perf-7.map", w.t.dir);
	snprintf(w.map_link, sizeof(w.map_link), "%s/perf-8.map", w.t.dir);
	snprintf(w.map_twice, sizeof(w.map_twice), "%s/perf-9.map", w.t.dir);
	put_file(w.dump, "DTiJ");
	put_file(w.map, "7f0000001000 2a function\n");
	put_file(w.map_twice, "7f0000001000 2a function\n");
	assert_int_equal(symlink(w.t.victim_file, w.dump_link), 0);
	assert_int_equal(symlink(w.t.victim_file, w.map_link), 0);
	snprintf(w.text, sizeof(w.text), "%s/second", w.t.dir);
	assert_int_equal(link(w.map_twice, w.text), 0);
}

static int set_up(void **state)
{
	int other;

	(void)state;
	snprintf(w.t.dir, sizeof(w.t.dir), "/tmp/kontend-sandbox-XXXXXX");
	assert_non_null(mkdtemp(w.t.dir));
	snprintf(w.t.data, sizeof(w.t.data), "%s/hostile.data", w.t.dir);
	snprintf(w.t.victim_file, sizeof(w.t.victim_file), "%s/kept", w.t.dir);
	snprintf(w.t.new_file, sizeof(w.t.new_file), "%s/new", w.t.dir);
	snprintf(w.t.socket, sizeof(w.t.socket), "%s/socket", w.t.dir);
	snprintf(w.t.mailbox, sizeof(w.t.mailbox), "%s/mailbox", w.t.dir);
	make_jit_files();
	snprintf(w.text, sizeof(w.text), "%s/source.c", w.t.dir);
	assert_int_equal(symlink("/etc/passwd", w.text), 0);
	ssize_t len = readlink("/proc/self/exe", w.elf, sizeof(w.elf) - 1);
	assert_true(len > 0);
	make_recording();
	open_sockets();
	assert_int_equal(openpty(&w.t.terminal, &other, NULL, NULL, NULL), 0);
	w.t.victim = fork();
	if (w.t.victim == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kill(w.t.victim, SIGKILL);
	waitpid(w.t.victim, NULL, 0);
	unlink(w.t.data);
	unlink(w.t.victim_file);
	unlink(w.t.new_file);
	unlink(w.t.socket);
	unlink(w.t.mailbox);
	unlink(w.text);
	unlink(w.dump);
	unlink(w.dump_link);
	unlink(w.map);
	unlink(w.map_link);
	unlink(w.map_twice);
	snprintf(w.text, sizeof(w.text), "%s/second", w.t.dir);
	unlink(w.text);
	return rmdir(w.t.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_attempt_is_refused),
#if defined(__x86_64__)
		cmocka_unit_test(test_another_architecture_is_the_end),
#endif
		cmocka_unit_test(test_the_broker_looks_at_what_he_is_asked),
		cmocka_unit_test(test_the_broker_makes_names_in_one_folder),
		cmocka_unit_test(test_the_broker_replaces_nothing),
		cmocka_unit_test(test_the_broker_ends_nobody_else),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
