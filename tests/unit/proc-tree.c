// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proc-tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

char tree_root[] = "/tmp/kontend-users-XXXXXX";

void tree_file_at(const char *name, const char *text, size_t len, off_t at)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", tree_root, name);
	for (char *p = path + strlen(tree_root) + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	int fd = open(path, O_WRONLY | O_CREAT | (at ? 0 : O_TRUNC), 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, text, len, at), len);
	close(fd);
}

void tree_file(const char *name, const char *text)
{
	tree_file_at(name, text, strlen(text), 0);
}

/* A thread that sleeps in a futex; @op TREE_OTHER: in read(2). */
void tree_thread(int pid, int tid, uint64_t addr, uint32_t op, uint32_t value)
{
	char name[128], text[256];

	snprintf(name, sizeof(name), "%d/task/%d/comm", pid, tid);
	snprintf(text, sizeof(text), "t%d\n", tid);
	tree_file(name, text);
	snprintf(name, sizeof(name), "%d/task/%d/syscall", pid, tid);
	if (op != TREE_OTHER)
		snprintf(text, sizeof(text),
			 "%d 0x%" PRIx64 " 0x%x 0x%x 0x0 0x0 0x0 0x7ffe 0x7f01\n", SYS_futex, addr,
			 op, value);
	else
		snprintf(text, sizeof(text), "%d 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffe 0x7f01\n",
			 SYS_read);
	tree_file(name, text);
	snprintf(name, sizeof(name), "%d/task/%d/sched", pid, tid);
	tree_file(name, "t (1, #threads: 1)\n---\nse.exec_start  :   12.000345\n");
	snprintf(name, sizeof(name), "%d/stat", tid);
	snprintf(text, sizeof(text),
		 "%d (t%d) S 1 2 3 4 -1 6 7 8 9 10 11 12 13 14 20 0 1 0 100 0 0 0 0 0 %d 0 0 0 0 0 "
		 "0 0 0 0 17 1 0\n",
		 tid, tid, 0x7000 + pid);
	tree_file(name, text);
	/* An owner of a lock that processes share is found by its number. */
	snprintf(name, sizeof(name), "%d/status", tid);
	snprintf(text, sizeof(text), "Name:\tt\nTgid:\t%d\nPPid:\t650\nNSpid:\t%d\n", pid, tid);
	tree_file(name, text);
}

int tree_set_up(void **state)
{
	*state = tree_root;
	strcpy(tree_root, "/tmp/kontend-users-XXXXXX");
	return mkdtemp(tree_root) ? 0 : -1;
}

int tree_tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", tree_root);
	return system(command) == 0 ? 0 : -1;
}
