// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sandbox of a process that reads untrusted files with a library that these may exploit. The
 * process keeps only the descriptors that it is sent, memory, and its answers. It cannot open,
 * create or execute files, map executable memory or send data elsewhere. System calls outside of
 * the list fail and do not kill, because the library tries to open files that it can do without.
 */
#include "internal.h"
#include "kontend/rights.h"
#include "kontend/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef SYS_landlock_create_ruleset
#include <linux/landlock.h>
#endif

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum { NOBODY = 65534, FILES_MOST = 64 };

static const uint64_t DATA_MOST = 1ull << 30, SPACE_MOST = 1ull << 36;

static int limit(int what, uint64_t most)
{
	struct rlimit l;

	if (getrlimit(what, &l) < 0)
		return -errno;
	l.rlim_max = l.rlim_max < most ? l.rlim_max : most;
	l.rlim_cur = l.rlim_max;
	return setrlimit(what, &l) < 0 ? -errno : 0;
}

/* A sanitizer's shadow memory takes more than any program. */
static int limit_memory(void)
{
	int r = SANITIZED_SHADOW ? 0 : limit(RLIMIT_AS, SPACE_MOST);

	return r || SANITIZED_SHADOW ? r : limit(RLIMIT_DATA, DATA_MOST);
}

/* A process without CAP_SETUID stays its user: then only the system call filter protects. */
static void become_unknown(void)
{
	if (geteuid() != 0 || syscall(SYS_setgroups, 0, NULL) < 0)
		return;
	if (syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) == 0)
		(void)!syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
}

#ifdef ARCH
#define OFFSET(field) ((uint32_t)offsetof(struct seccomp_data, field))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, OFFSET(field))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)
#define FAIL (SECCOMP_RET_ERRNO | EPERM)
#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
/* Allowed only without PROT_EXEC, argument 2 of both calls. */
#define ALLOW_MAP(nr)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4), LOAD(args[2]),                              \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), ANSWER(FAIL),               \
		ANSWER(SECCOMP_RET_ALLOW)

static int filter_calls(void)
{
	struct sock_filter code[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW_MAP(SYS_mmap),
		ALLOW_MAP(SYS_mprotect),
		ALLOW(SYS_read),
		ALLOW(SYS_pread64),
		ALLOW(SYS_recvmsg),
		ALLOW(SYS_sendto),
		ALLOW(SYS_fcntl),
		ALLOW(SYS_fstat),
#ifdef SYS_newfstatat
		ALLOW(SYS_newfstatat),
#endif
		ALLOW(SYS_lseek),
		ALLOW(SYS_close),
		ALLOW(SYS_munmap),
		ALLOW(SYS_mremap),
		ALLOW(SYS_madvise),
		ALLOW(SYS_brk),
		ALLOW(SYS_futex),
		ALLOW(SYS_clock_gettime),
		ALLOW(SYS_getrandom),
		ALLOW(SYS_setitimer),
		ALLOW(SYS_rt_sigreturn),
		ALLOW(SYS_rt_sigprocmask),
		ALLOW(SYS_getpid),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		ANSWER(FAIL),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
#else
static int filter_calls(void)
{
	return 0;
}
#endif

/* A kernel without seccomp filters leaves the other limits. */
static int filter_where_possible(void)
{
	int r = filter_calls();

	return r == -EINVAL || r == -ENOSYS ? 0 : r;
}

static int begin(const char *name, int fd)
{
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	return syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0) < 0 && errno != ENOSYS ? -errno
											 : 0;
}

int srclines_jail_rights(int fd)
{
	int r = begin("kontend-fetch", fd);

	r = r ? r : rights_give_up();
	r = r ? r : limit(RLIMIT_CORE, 0);
	return r ? r : limit(RLIMIT_NOFILE, FILES_MOST);
}

#ifdef SYS_landlock_create_ruleset
int srclines_jail_writes(const char *path)
{
	const uint64_t all = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
			     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
			     LANDLOCK_ACCESS_FS_MAKE_REG;
	struct landlock_ruleset_attr rules = {
		.handled_access_fs = all | LANDLOCK_ACCESS_FS_EXECUTE |
				     LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK |
				     LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
				     LANDLOCK_ACCESS_FS_MAKE_SYM};
	struct landlock_path_beneath_attr below = {.allowed_access = all};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0), r = 0;

	if (fd < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
	below.parent_fd = open(path, O_PATH | O_CLOEXEC | O_DIRECTORY);
	if (below.parent_fd < 0 ||
	    syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &below, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		r = -errno;
	if (below.parent_fd >= 0)
		close(below.parent_fd);
	close(fd);
	return r;
}
#else
int srclines_jail_writes(const char *path)
{
	(void)path;
	return 0;
}
#endif

int srclines_jail(int fd)
{
	int r = begin("kontend-lines", fd);

	become_unknown();
	r = r ? r : rights_give_up();
	r = r ? r : limit(RLIMIT_CORE, 0);
	r = r ? r : limit(RLIMIT_FSIZE, 0);
	r = r ? r : limit(RLIMIT_NPROC, 0);
	r = r ? r : limit(RLIMIT_NOFILE, FILES_MOST);
	r = r ? r : limit_memory();
	return r ? r : filter_where_possible();
}

void srclines_jail_budget(unsigned cpu_s, unsigned wall_s)
{
	struct itimerval cpu = {.it_value = {.tv_sec = cpu_s}};
	struct itimerval wall = {.it_value = {.tv_sec = wall_s}};

	setitimer(ITIMER_PROF, &cpu, NULL);
	setitimer(ITIMER_REAL, &wall, NULL);
}
