// SPDX-License-Identifier: GPL-2.0-only
/*
 * flocks: processes that fight for locks of files until standard input ends: of all the file, of a
 * part of it, and of files that are there for a moment only. Now and then each takes a place in the
 * order of another.
 *
 *     flocks FOLDER PROCESSES
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 8, PARTS = 4, PATH = 4096, HOLD_US = 500, PAUSE_US = 2000, ROUNDS_PER_FILE = 50 };

static const char *folder;

static void rest(long us)
{
	const struct timespec t = {0, us * 1000};

	nanosleep(&t, NULL);
}

static int open_file(unsigned number)
{
	char path[PATH];

	snprintf(path, sizeof(path), "%s/lock-%u", folder, number);
	return open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
}

static void take_whole(int fd, unsigned round)
{
	if (flock(fd, round % 4 ? LOCK_EX : LOCK_SH))
		return;
	rest(HOLD_US);
	flock(fd, LOCK_UN);
}

static void take_part(int fd, unsigned round)
{
	struct flock part = {.l_type = F_WRLCK, .l_start = round % PARTS, .l_len = 1};

	if (fcntl(fd, round % 2 ? F_OFD_SETLKW : F_SETLKW, &part))
		return;
	rest(HOLD_US);
	part.l_type = F_UNLCK;
	fcntl(fd, round % 2 ? F_OFD_SETLK : F_SETLK, &part);
}

/* Each file is replaced after some rounds: its lock ends with its inode. */
static _Noreturn void fight(unsigned index)
{
	char name[16], path[PATH];

	snprintf(name, sizeof(name), "flock-%u", index % 1000);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned round = 0;; round++) {
		unsigned number = round / ROUNDS_PER_FILE % FILES;
		int fd = open_file(number);
		if (fd < 0)
			_exit(1);
		if (round % 3)
			take_whole(fd, round);
		else
			take_part(fd, round);
		if (round % ROUNDS_PER_FILE == index) {
			snprintf(path, sizeof(path), "%s/lock-%u", folder, number);
			unlink(path);
		}
		close(fd);
		rest(PAUSE_US);
	}
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;
	pid_t *pids = n > 0 ? calloc((size_t)n, sizeof(*pids)) : NULL;
	char byte;

	if (!pids)
		return 2;
	folder = argv[1];
	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			fight((unsigned)i);
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0 || errno == EINTR)
		errno = 0;
	int failed = 0;
	for (int i = 0; i < n; i++) {
		int status = 0;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		failed |= WIFEXITED(status);
	}
	free(pids);
	return failed;
}
