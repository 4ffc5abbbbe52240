// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command as some containers and kernels do: `without landlock|seccomp|both CMD...` has the
 * system calls of one or both fail, with the numbers that such kernels answer.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAIL(nr, code)                                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),                                             \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int landlock = strcmp(what, "seccomp") ? SYS_landlock_create_ruleset : -1;
	int seccomp = strcmp(what, "landlock") ? SYS_seccomp : -1;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		FAIL((unsigned)landlock, ENOSYS), FAIL((unsigned)seccomp, EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("without");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
