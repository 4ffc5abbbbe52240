// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attempts of a hostile recording that has taken over a reader. Each succeeds without a sandbox,
 * otherwise it would show nothing: some calls have invalid arguments, so that they do no harm; then
 * an error about the arguments counts as success.
 */
#include "sandbox-attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

/* 0: it was done; else the kernel's error. */
static int code_of(long r)
{
	return r < 0 ? errno : 0;
}

static int close_after(int fd)
{
	int code = code_of(fd);

	if (fd >= 0)
		close(fd);
	return code;
}

static int read_passwd(const struct sandbox_target *t)
{
	(void)t;
	return close_after(open("/etc/passwd", O_RDONLY));
}

static int read_shadow(const struct sandbox_target *t)
{
	(void)t;
	return close_after(open("/etc/shadow", O_RDONLY));
}

static int read_by_link(const struct sandbox_target *t)
{
	(void)t;
	return close_after(open("/proc/self/root/etc/passwd", O_RDONLY));
}

static int read_memory_of_another(const struct sandbox_target *t)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->victim);
	return close_after(open(path, O_RDONLY));
}

static int list_home(const struct sandbox_target *t)
{
	(void)t;
	return close_after(open("/", O_RDONLY | O_DIRECTORY));
}

static int make_file(const struct sandbox_target *t)
{
	return close_after(open(t->new_file, O_WRONLY | O_CREAT, 0600));
}

static int write_to_file(const struct sandbox_target *t)
{
	return close_after(open(t->victim_file, O_WRONLY));
}

static int write_to_recording(const struct sandbox_target *t)
{
	return close_after(open(t->data, O_RDWR));
}

static int cut_file(const struct sandbox_target *t)
{
	return code_of(truncate(t->victim_file, 1));
}

static int remove_file(const struct sandbox_target *t)
{
	return code_of(unlink(t->victim_file));
}

static int rename_file(const struct sandbox_target *t)
{
	return code_of(rename(t->victim_file, t->new_file));
}

static int link_file(const struct sandbox_target *t)
{
	return code_of(link(t->victim_file, t->new_file));
}

static int link_symbolic(const struct sandbox_target *t)
{
	return code_of(symlink("/etc/passwd", t->new_file));
}

static int make_folder(const struct sandbox_target *t)
{
	return code_of(mkdir(t->new_file, 0700));
}

static int change_mode(const struct sandbox_target *t)
{
	return code_of(chmod(t->victim_file, 0777));
}

static int run_program(const struct sandbox_target *t)
{
	(void)t;
	char *const argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			      (char *)(uintptr_t) "exit 0", NULL};

	return code_of(execv("/bin/sh", argv));
}

/* Its file need not be anywhere. */
static int run_memory(const struct sandbox_target *t)
{
	(void)t;
	static const char script[] = "#!/bin/sh\nexit 0\n";
	char *const argv[] = {(char *)(uintptr_t) "x", NULL};
	int fd = memfd_create("x", 0);

	if (fd < 0 || write(fd, script, sizeof(script) - 1) < 0)
		return errno;
	return code_of(syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH));
}

static int make_process(const struct sandbox_target *t)
{
	(void)t;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return code_of(pid);
}

static int make_code(const struct sandbox_target *t)
{
	(void)t;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	return p == MAP_FAILED ? errno : 0;
}

static int turn_into_code(const struct sandbox_target *t)
{
	(void)t;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return code_of(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int make_socket(const struct sandbox_target *t)
{
	(void)t;
	return close_after(socket(AF_INET, SOCK_STREAM, 0));
}

static int connect_somewhere(const struct sandbox_target *t)
{
	return code_of(connect(t->loose, (const struct sockaddr *)&t->address, sizeof(t->address)));
}

static int connect_to_file(const struct sandbox_target *t)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", t->socket);
	return fd < 0 ? errno : code_of(connect(fd, (struct sockaddr *)&a, sizeof(a)));
}

/* A pair of sockets is no way out: one for datagrams sends to the address given with each. */
static int send_to_file(const struct sandbox_target *t)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int pair[2];

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", t->mailbox);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		return errno;
	return code_of(sendto(pair[0], "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
}

static int stop_another(const struct sandbox_target *t)
{
	return code_of(ptrace(PTRACE_SEIZE, t->victim, NULL, NULL));
}

static int look_into_another(const struct sandbox_target *t)
{
	char there, here;
	struct iovec a = {&here, 1}, b = {&there, 1};

	return code_of(process_vm_readv(t->victim, &a, 1, &b, 1, 0));
}

static int signal_another(const struct sandbox_target *t)
{
	return code_of(kill(t->victim, 0));
}

static int have_signals_sent(const struct sandbox_target *t)
{
	return code_of(fcntl(t->loose, F_SETOWN, t->victim));
}

static int load_bpf(const struct sandbox_target *t)
{
	(void)t;
	union bpf_attr a = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return close_after((int)syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof(a)));
}

static int open_event(const struct sandbox_target *t)
{
	(void)t;
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_SW_DUMMY,
				    .exclude_kernel = 1};

	return close_after((int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0));
}

/* These are to be refused before they look at what they are given, which makes no sense. */
static int mount_something(const struct sandbox_target *t)
{
	return mount(NULL, t->new_file, NULL, MS_BIND, NULL) < 0 && errno == ENOENT ? 0 : errno;
}

static int load_module(const struct sandbox_target *t)
{
	(void)t;
	return syscall(SYS_init_module, NULL, 1, "") < 0 && errno != EPERM ? 0 : EPERM;
}

static int leave_namespace(const struct sandbox_target *t)
{
	(void)t;
	return code_of(unshare(CLONE_NEWNS));
}

static int become_root_again(const struct sandbox_target *t)
{
	(void)t;
	return code_of(setresuid(0, 0, 0));
}

static int type_into_terminal(const struct sandbox_target *t)
{
	return code_of(ioctl(t->terminal, TIOCSTI, "x"));
}

static int use_ring(const struct sandbox_target *t)
{
	(void)t;
	return syscall(SYS_io_uring_setup, 1, NULL) < 0 && errno == EFAULT ? 0 : errno;
}

static int thread_code;

static void *in_thread(void *arg)
{
	thread_code = read_passwd(arg);
	return NULL;
}

static int read_in_thread(const struct sandbox_target *t)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, (void *)(uintptr_t)t) != 0)
		return ECHILD; /* what a program must be able to do */
	pthread_join(thread, NULL);
	return thread_code;
}

const struct sandbox_attempt sandbox_attempts[] = {
	{"read a file", read_passwd},
	{"read a secret", read_shadow, SANDBOX_ATTEMPT_ROOT},
	{"read by a way around", read_by_link},
	{"read in a thread", read_in_thread},
	{"read the memory of another process", read_memory_of_another},
	{"list a folder", list_home},
	{"make a file", make_file},
	{"write to a file", write_to_file},
	{"write to the recording", write_to_recording},
	{"cut a file", cut_file},
	{"remove a file", remove_file},
	{"rename a file", rename_file},
	{"link a file", link_file},
	{"make a link", link_symbolic},
	{"make a folder", make_folder},
	{"change rights", change_mode},
	{"run a program", run_program},
	{"run a program from memory", run_memory},
	{"fork", make_process, SANDBOX_ATTEMPT_PLAIN},
	{"map code", make_code},
	{"turn data into code", turn_into_code},
	{"make a socket", make_socket},
	{"connect a socket that is there", connect_somewhere},
	{"connect to a local service", connect_to_file},
	{"send to a local service", send_to_file},
	{"trace another process", stop_another},
	{"read another process", look_into_another},
	{"send a signal", signal_another},
	{"have signals sent", have_signals_sent},
	{"load BPF", load_bpf, SANDBOX_ATTEMPT_ROOT},
	{"open a perf event", open_event},
	{"mount", mount_something, SANDBOX_ATTEMPT_ROOT},
	{"load a module", load_module, SANDBOX_ATTEMPT_ROOT},
	{"make a namespace", leave_namespace, SANDBOX_ATTEMPT_ROOT},
	{"become root", become_root_again, SANDBOX_ATTEMPT_ROOT},
	{"type into the terminal", type_into_terminal,
	 SANDBOX_ATTEMPT_ROOT | SANDBOX_ATTEMPT_OPTIONAL},
	{"use io_uring", use_ring, SANDBOX_ATTEMPT_OPTIONAL},
	{NULL},
};
