// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system call that a kernel stack is of. Each system call has a function of its own,
 * __x64_sys_flock() or __arm64_sys_flock(), which is in the stack unless its last call was a jump:
 * then the function that it jumped to is the first one inside the entry. Of these, many are named
 * after the system call, with a prefix, and a table has the others.
 */
#include "kontend/entry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Before the name of a system call: such functions are called for nothing else. */
static const char *const own[] = {
	"__x64_sys_",	"__ia32_sys_",	 "__arm64_sys_",   "__do_sys_",
	"__se_sys_",	"__x64_compat_", "__ia32_compat_", "__arm64_compat_",
	"__do_compat_", "__se_compat_",	 "__x32_compat_",  "__riscv_sys_",
	"__s390x_sys_", "__s390_sys_",	 "__powerpc_sys_", "__loongarch_sys_",
};

/* The same, but other functions call such ones, too: only of the first one inside the entry. */
static const char *const within[] = {"ksys_", "__sys_", "do_sys_", "compat_sys_", "sys_", "SyS_"};

/* These are left at the begin of some names. */
static const char *const rests[] = {"sys_", "compat_", "ia32_", "aarch32_", "x32_"};

struct pair {
	const char *key, *value;
};

/* Functions to which system calls jump: sorted. */
static const struct pair jumps[] = {
	{"__vm_munmap", "munmap"},
	{"core_sys_select", "select"},
	{"do_accept", "accept4"},
	{"do_clock_gettime", "clock_gettime"},
	{"do_clone", "clone"},
	{"do_dup2", "dup2"},
	{"do_epoll_create", "epoll_create1"},
	{"do_epoll_ctl", "epoll_ctl"},
	{"do_epoll_wait", "epoll_wait"},
	{"do_eventfd", "eventfd2"},
	{"do_execveat_common", "execve"},
	{"do_exit", "exit"},
	{"do_faccessat", "faccessat"},
	{"do_fchmodat", "fchmodat"},
	{"do_fchownat", "fchownat"},
	{"do_fcntl", "fcntl"},
	{"do_fsync", "fsync"},
	{"do_ftruncate", "ftruncate"},
	{"do_futex", "futex"},
	{"do_getdents", "getdents64"},
	{"do_getitimer", "getitimer"},
	{"do_group_exit", "exit_group"},
	{"do_io_getevents", "io_getevents"},
	{"do_linkat", "linkat"},
	{"do_madvise", "madvise"},
	{"do_mkdirat", "mkdirat"},
	{"do_mknodat", "mknodat"},
	{"do_mlock", "mlock"},
	{"do_mount", "mount"},
	{"do_mprotect_pkey", "mprotect"},
	{"do_mq_timedreceive", "mq_timedreceive"},
	{"do_mq_timedsend", "mq_timedsend"},
	{"do_msgrcv", "msgrcv"},
	{"do_msgsnd", "msgsnd"},
	{"do_pipe2", "pipe2"},
	{"do_preadv", "preadv"},
	{"do_prlimit", "prlimit64"},
	{"do_pselect", "pselect6"},
	{"do_pwritev", "pwritev"},
	{"do_readlinkat", "readlinkat"},
	{"do_readv", "readv"},
	{"do_recvmmsg", "recvmmsg"},
	{"do_renameat2", "renameat2"},
	{"do_rmdir", "rmdir"},
	{"do_select", "select"},
	{"do_semtimedop", "semtimedop"},
	{"do_sendfile", "sendfile"},
	{"do_setitimer", "setitimer"},
	{"do_shmat", "shmat"},
	{"do_shmctl", "shmctl"},
	{"do_splice", "splice"},
	{"do_symlinkat", "symlinkat"},
	{"do_sys_open", "openat"},
	{"do_sys_openat2", "openat"},
	{"do_tee", "tee"},
	{"do_tkill", "tgkill"},
	{"do_truncate", "truncate"},
	{"do_unlinkat", "unlinkat"},
	{"do_utimensat", "utimensat"},
	{"do_wait", "wait4"},
	{"do_writev", "writev"},
	{"hrtimer_nanosleep", "nanosleep"},
	{"kernel_clone", "clone"},
	{"kernel_wait4", "wait4"},
	{"kill_something_info", "kill"},
	{"ksys_mmap_pgoff", "mmap"},
	{"path_mount", "mount"},
	{"vfs_copy_file_range", "copy_file_range"},
	{"vfs_fstat", "fstat"},
	{"vfs_statx", "statx"},
	{"vm_mmap_pgoff", "mmap"},
};

/* Called otherwise in the kernel than in the manual: sorted. */
static const struct pair renamed[] = {
	{"fadvise64_64", "fadvise64"}, {"llseek", "_llseek"},	   {"mmap_pgoff", "mmap"},
	{"newfstat", "fstat"},	       {"newlstat", "lstat"},	   {"newstat", "stat"},
	{"newuname", "uname"},	       {"sendfile64", "sendfile"}, {"umount", "umount2"},
};

struct known {
	const char *function;
	enum entry_kind kind; /* ENTRY_SYSCALL: of one, without its name */
};

/* A star stands for any rest; the first that fits counts. */
static const struct known known[] = {
	{"asm_common_interrupt", ENTRY_INTERRUPT},
	{"asm_exc_nmi", ENTRY_INTERRUPT},
	{"asm_exc_page_fault", ENTRY_FAULT},
	{"asm_exc_*", ENTRY_EXCEPTION},
	{"asm_spurious_interrupt", ENTRY_INTERRUPT},
	{"asm_sysvec_*", ENTRY_INTERRUPT},
	{"common_interrupt", ENTRY_INTERRUPT},
	{"cpu_startup_entry", ENTRY_IDLE},
	{"do_fast_syscall_32", ENTRY_SYSCALL},
	{"do_idle", ENTRY_IDLE},
	{"do_int80*", ENTRY_SYSCALL},
	{"do_mem_abort", ENTRY_FAULT},
	{"do_notify_resume", ENTRY_RETURN},
	{"do_page_fault", ENTRY_FAULT},
	{"do_syscall_64", ENTRY_SYSCALL},
	{"do_user_addr_fault", ENTRY_FAULT},
	{"el0_da", ENTRY_FAULT},
	{"el0_ia", ENTRY_FAULT},
	{"el0_svc*", ENTRY_SYSCALL},
	{"el0t_64_irq*", ENTRY_INTERRUPT},
	{"el0t_64_sync*", ENTRY_SYSCALL},
	{"el1_abort", ENTRY_FAULT},
	{"el1_interrupt", ENTRY_INTERRUPT},
	{"el0_interrupt", ENTRY_INTERRUPT},
	{"entry_INT80*", ENTRY_SYSCALL},
	{"entry_SYSCALL*", ENTRY_SYSCALL},
	{"entry_SYSENTER*", ENTRY_SYSCALL},
	{"exc_page_fault", ENTRY_FAULT},
	{"exit_to_user_mode*", ENTRY_RETURN},
	{"get_signal", ENTRY_RETURN},
	{"invoke_syscall*", ENTRY_SYSCALL},
	{"io_sq_thread", ENTRY_IO_URING},
	{"io_wq_worker", ENTRY_IO_URING},
	{"irqentry_exit_to_user_mode", ENTRY_RETURN},
	{"kthread", ENTRY_KTHREAD},
	{"start_secondary", ENTRY_IDLE},
	{"syscall_exit_to_user_mode*", ENTRY_RETURN},
	{"task_work_run", ENTRY_RETURN},
	{"vhost_task_fn", ENTRY_KTHREAD},
	{"x64_sys_call", ENTRY_SYSCALL},
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

static const char *value_of(const struct pair *pairs, size_t n, const char *key)
{
	const struct pair wanted = {key, NULL};
	const struct pair *p = bsearch(&wanted, pairs, n, sizeof(*pairs), by_key);

	return p ? p->value : NULL;
}

static const char *behind(const char *const *prefixes, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(s, prefixes[i], strlen(prefixes[i])) == 0)
			return s + strlen(prefixes[i]);
	return NULL;
}

/* Without what the compiler has added: "fsync.part.0". */
static void plain(char ret[ENTRY_NAME], const char *s)
{
	size_t n = strcspn(s, ".");

	n = n < ENTRY_NAME - 1 ? n : ENTRY_NAME - 1;
	memcpy(ret, s, n);
	ret[n] = '\0';
}

static void take_name(struct entry *e, const char *name)
{
	static const char time32[] = "_time32";
	const char *rest, *other;

	while ((rest = behind(rests, sizeof(rests) / sizeof(*rests), name)))
		name = rest;
	plain(e->name, name);
	size_t n = strlen(e->name), cut = sizeof(time32) - 1;
	if (n > cut && strcmp(e->name + n - cut, time32) == 0)
		e->name[n - cut] = '\0';
	other = value_of(renamed, sizeof(renamed) / sizeof(*renamed), e->name);
	if (other)
		plain(e->name, other);
	e->kind = *e->name ? ENTRY_SYSCALL : ENTRY_UNKNOWN;
}

/* Of the function that the entry of system calls has called, or that was jumped to. */
static void take_jump(struct entry *e, const char *function)
{
	char name[ENTRY_NAME];

	plain(name, function);
	const char *jumped = value_of(jumps, sizeof(jumps) / sizeof(*jumps), name);
	const char *rest = behind(within, sizeof(within) / sizeof(*within), name);
	if (jumped || rest)
		take_name(e, jumped ? jumped : rest);
}

static bool is(const char *pattern, const char *s)
{
	size_t n = strlen(pattern);

	return pattern[n - 1] == '*' ? strncmp(pattern, s, n - 1) == 0 : strcmp(pattern, s) == 0;
}

static enum entry_kind kind_of(const char *function)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (is(known[i].function, function))
			return known[i].kind;
	return ENTRY_UNKNOWN;
}

void entry_find(const char *const *functions, size_t n, struct entry *ret)
{
	*ret = (struct entry){.kind = ENTRY_UNKNOWN};
	for (size_t i = 0; i < n && ret->kind == ENTRY_UNKNOWN; i++) {
		const char *s = functions[i] ? functions[i] : "";
		const char *name = behind(own, sizeof(own) / sizeof(*own), s);
		enum entry_kind kind = name ? ENTRY_UNKNOWN : kind_of(s);

		if (name)
			take_name(ret, name);
		else if (kind != ENTRY_SYSCALL)
			ret->kind = kind;
		else if (i && functions[i - 1])
			take_jump(ret, functions[i - 1]);
		/* Around it are only the rest of the entry and what was there before. */
		if (kind == ENTRY_SYSCALL)
			return;
	}
}

const char *entry_text(enum entry_kind kind)
{
	static const char *const texts[ENTRY_KINDS] = {
		[ENTRY_FAULT] = "page fault",	 [ENTRY_INTERRUPT] = "interrupt",
		[ENTRY_EXCEPTION] = "exception", [ENTRY_RETURN] = "return to user",
		[ENTRY_IO_URING] = "io_uring",
	};

	return kind < ENTRY_KINDS ? texts[kind] : NULL;
}
