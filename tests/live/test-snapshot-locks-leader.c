// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process whose first thread has ended while others run: its mmap_lock still has its name and its
 * memory cgroup, and both once, however many threads there are.
 */
#include "kontend/snapshot-locks.h"
#include "live.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, LOOKS = 3000, LOOK_US = 10000 };

static int failures;

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static _Noreturn void leave_threads(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, sleep_on, NULL))
			_exit(1);
	}
	pthread_exit(NULL);
}

static bool leader_ended(pid_t pid)
{
	char path[64], line[128];
	bool ended = false;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		ended |= strncmp(line, "State:\tZ", 8) == 0;
	if (f)
		fclose(f);
	return ended;
}

/* How many names of a process there are, and its last one. */
static size_t names_of(const struct locksnap *s, pid_t pid, const struct locksnap_name **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_names; i++) {
		if (s->names[i].pid != pid || s->names[i].kind != LOCKSNAP_MMAP)
			continue;
		*ret = &s->names[i];
		n++;
	}
	return n;
}

static void check(struct snapshot_locks *w, pid_t pid)
{
	const struct locksnap_name *name = NULL, *own = NULL;
	struct locksnap s = {0};
	struct error err = {0};

	if (!live_check(&failures, snapshot_locks_take(w, NULL, 0, &s, &err) == 0, "no look: %s",
			err.text))
		return;
	size_t n = names_of(&s, pid, &name);
	live_check(&failures, n == 1, "%zu names of a process without its leader", n);
	/* Both of us are in one cgroup. */
	if (name && names_of(&s, getpid(), &own))
		live_check(&failures,
			   strcmp(locksnap_text(&s, name->text), locksnap_text(&s, own->text)) == 0,
			   "its memory cgroup is '%s', not '%s'", locksnap_text(&s, name->text),
			   locksnap_text(&s, own->text));
	else
		live_check(&failures, false, "no name of ourselves");
	locksnap_deinit(&s);
}

int main(void)
{
	struct snapshot_locks *w;
	struct error err = {0};

	live_need_root();
	if (snapshot_locks_new(&w, true, NULL, &err) < 0) {
		printf("%s\n", err.text);
		return LIVE_SKIP;
	}
	pid_t pid = fork();
	if (pid == 0)
		leave_threads();
	bool ended = false;
	for (int i = 0; !ended && i < LOOKS; i++) {
		usleep(LOOK_US);
		ended = leader_ended(pid);
	}
	if (live_check(&failures, ended, "the first thread did not end"))
		check(w, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	snapshot_locks_free(w);
	return failures != 0;
}
