// SPDX-License-Identifier: GPL-2.0-only
/*
 * seccomp: which system calls may be made. A program of our own, as it is short and so is known to
 * the last instruction: libseccomp would be one more library for what is a list. A call that is not
 * in the list fails with EPERM and does not kill, as libraries try calls that they can do without;
 * but a process that calls by the numbers of another architecture, which mean other calls, is
 * killed.
 *
 * Not in it: all calls that run a program, make a socket that leads elsewhere, look into other
 * processes, load code into the kernel, or make, rename and remove files. Only arguments in
 * registers can be checked: threads and no processes (clone3 has them in memory, so it is not
 * there: the C library goes back to clone), memory that is not to be executed, signals to
 * ourselves, and the ioctl requests of a terminal. TIOCSTI is not among those: it types into the
 * shell that we were started from.
 *
 * The kernel knows a call that is allowed whatever its arguments are without running this (Linux
 * 5.11), so that the length of the list costs nothing.
 */
#include "kontend/sandbox.h"
#include "kontend/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH

static const int allowed[] = {
	/* files that are open, and memory */
	SYS_read,
	SYS_pread64,
	SYS_readv,
	SYS_write,
	SYS_pwrite64,
	SYS_writev,
	SYS_lseek,
	SYS_close,
	SYS_fstat,
	SYS_ftruncate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_fadvise64,
	SYS_dup,
	SYS_dup3,
	SYS_pipe2,
	SYS_memfd_create,
	SYS_flock,
	SYS_fstatfs,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_brk,
	SYS_msync,
	SYS_mincore,
	/* names: opening is a matter of Landlock */
	SYS_readlinkat,
	SYS_faccessat,
	SYS_getdents64,
	SYS_getcwd,
	SYS_statfs,
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_statx
	SYS_statx,
#endif
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
	/* waiting, and who we are */
	SYS_ppoll,
	SYS_pselect6,
	SYS_futex,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_gettimeofday,
	SYS_eventfd2,
	SYS_signalfd4,
	SYS_timerfd_create,
	SYS_timerfd_settime,
	SYS_timerfd_gettime,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getpgid,
	SYS_getsid,
	SYS_uname,
	SYS_sysinfo,
	SYS_getrandom,
	SYS_getrusage,
	SYS_times,
	SYS_getcpu,
	SYS_umask,
	/* threads and signals */
	SYS_set_robust_list,
	SYS_set_tid_address,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_sched_get_priority_max,
	SYS_sched_get_priority_min,
	SYS_membarrier,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigpending,
	SYS_rt_sigtimedwait,
	SYS_rt_sigsuspend,
	SYS_sigaltstack,
	SYS_restart_syscall,
	SYS_setitimer,
	SYS_getitimer,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_rseq
	SYS_rseq,
#endif
	/* sockets that are there: those who work for us */
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_sendto,
	SYS_recvfrom,
	SYS_shutdown,
	SYS_getsockopt,
#if defined(__x86_64__)
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_poll,
	SYS_select,
	SYS_dup2,
	SYS_pipe,
	SYS_time,
	SYS_getpgrp,
	SYS_epoll_wait,
	SYS_arch_prctl,
	SYS_alarm,
	SYS_pause,
#endif
#if SANITIZED_SHADOW
	/* A second process, which stops this one, looks for leaks at the end. */
	SYS_clone,
	SYS_ptrace,
	SYS_wait4,
	SYS_prctl,
	SYS_getrlimit,
	SYS_setrlimit,
	SYS_kill,
	SYS_tgkill,
	SYS_personality,
	SYS_process_vm_readv,
#ifdef SYS_getdents
	SYS_getdents,
#endif
#endif
};

static const unsigned requests[] = {
	TCGETS,	  TCSETS,   TCSETSW, TCSETSF, TIOCGWINSZ, TIOCGDEV, TIOCGPGRP,
	TIOCOUTQ, FIONREAD, TCFLSH,  TCSBRK,  TCXONC,	  FIONBIO,
};

/* No F_SETOWN: the kernel sends signals to the owner of a descriptor. */
static const unsigned commands[] = {
	F_DUPFD,      F_DUPFD_CLOEXEC, F_GETFD,	    F_SETFD,	  F_GETFL,
	F_SETFL,      F_GETLK,	       F_SETLK,	    F_SETLKW,	  F_OFD_SETLK,
	F_OFD_SETLKW, F_ADD_SEALS,     F_GET_SEALS, F_GETPIPE_SZ, F_SETPIPE_SZ,
};

/* prctl() may set only the name of the process, and names of its memory. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
static const unsigned settings[] = {PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_GET_DUMPABLE,
				    PR_SET_TIMERSLACK};

enum { CODE_MOST = 400 };

struct program {
	struct sock_filter code[CODE_MOST];
	unsigned short n;
};

static void put_instruction(struct program *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (p->n < CODE_MOST)
		p->code[p->n] = (struct sock_filter){code, jt, jf, k};
	p->n++;
}

static void load(struct program *p, size_t offset)
{
	put_instruction(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

/* The lower half, which comes first on both architectures. */
static void load_arg(struct program *p, int i)
{
	load(p, offsetof(struct seccomp_data, args) + (size_t)i * sizeof(uint64_t));
}

static void answer(struct program *p, uint32_t what)
{
	put_instruction(p, BPF_RET | BPF_K, 0, 0, what);
}

static const uint32_t fail = SECCOMP_RET_ERRNO | EPERM, missing = SECCOMP_RET_ERRNO | ENOSYS;

/* For call @nr the next @n instructions run, others skip them. */
static void if_call(struct program *p, long nr, unsigned n)
{
	put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)n, (uint32_t)nr);
}

/* Argument @arg must be one of @list. */
static void allow_of(struct program *p, long nr, int arg, const unsigned *list, size_t n)
{
	if_call(p, nr, 2 * (unsigned)n + 2);
	load_arg(p, arg);
	for (size_t i = 0; i < n; i++) {
		put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, list[i]);
		answer(p, SECCOMP_RET_ALLOW);
	}
	answer(p, fail);
}

/* Argument @arg must have none of @bits, and with @all all of them. */
static void allow_bits(struct program *p, long nr, int arg, uint32_t mask, uint32_t bits)
{
	if_call(p, nr, 5);
	load_arg(p, arg);
	put_instruction(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
	put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, bits);
	answer(p, SECCOMP_RET_ALLOW);
	answer(p, fail);
}

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

/* New sockets in pairs, which lead nowhere. Those for datagrams would: each may have an address. */
static void allow_pairs(struct program *p)
{
	if_call(p, SYS_socketpair, 6);
	load_arg(p, 0);
	put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, AF_UNIX);
	load_arg(p, 1);
	put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SOCK_SEQPACKET | SOCK_CLOEXEC);
	answer(p, SECCOMP_RET_ALLOW);
	answer(p, fail);
}

static void allow_opening(struct program *p, bool for_writing)
{
	const uint32_t never = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
	const uint32_t mask = for_writing ? never : never | O_ACCMODE | O_TRUNC;

	allow_bits(p, SYS_openat, 2, mask, 0);
#ifdef SYS_open
	allow_bits(p, SYS_open, 1, mask, 0);
#endif
}

static void build(struct program *p, bool may_open_for_writing)
{
	const unsigned self[] = {(unsigned)getpid()}, none[] = {0};

	load(p, offsetof(struct seccomp_data, arch));
	put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
	answer(p, SECCOMP_RET_KILL_PROCESS);
	load(p, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < COUNT(allowed); i++) {
		if_call(p, allowed[i], 1);
		answer(p, SECCOMP_RET_ALLOW);
	}
	allow_bits(p, SYS_mmap, 2, PROT_EXEC, 0);
	allow_bits(p, SYS_mprotect, 2, PROT_EXEC, 0);
	allow_opening(p, may_open_for_writing);
	allow_pairs(p);
	allow_of(p, SYS_ioctl, 1, requests, COUNT(requests));
	allow_of(p, SYS_fcntl, 1, commands, COUNT(commands));
	allow_of(p, SYS_prctl, 0, settings, COUNT(settings));
	allow_of(p, SYS_kill, 0, self, 1);
	allow_of(p, SYS_tgkill, 0, self, 1);
	allow_of(p, SYS_prlimit64, 0, none, 1);
	allow_bits(p, SYS_clone, 0, CLONE_THREAD | CLONE_VM | CLONE_NEWUSER,
		   CLONE_THREAD | CLONE_VM);
#ifdef SYS_clone3
	if_call(p, SYS_clone3, 1);
	answer(p, missing);
#endif
#ifdef SYS_openat2
	if_call(p, SYS_openat2, 1);
	answer(p, missing);
#endif
	answer(p, fail);
}

int sandbox_filter_calls(bool may_open_for_writing)
{
	struct program p = {.n = 0};

	build(&p, may_open_for_writing);
	if (p.n > CODE_MOST)
		return -E2BIG;
	struct sock_fprog f = {.len = p.n, .filter = p.code};
	/* Of all threads, should there be some. */
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &f);
	return r < 0 ? -errno : r > 0 ? -ESRCH : 0;
}
#else
int sandbox_filter_calls(bool may_open_for_writing)
{
	(void)may_open_for_writing;
	return -EOPNOTSUPP;
}
#endif

/* Asks the kernel which actions it knows; this sets nothing. */
int sandbox_filter(void)
{
#ifdef ARCH
	uint32_t action = SECCOMP_RET_ERRNO;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0 ? -errno : 0;
#else
	return -EOPNOTSUPP;
#endif
}
