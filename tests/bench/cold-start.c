// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long kontend live takes from its exec to the first frame, and to the first frame that names a
 * function of the kernel: what is drawn is searched for words that /proc/kallsyms has. Runs of each
 * view; the medians are printed, with the CPU time used until the name was there.
 *
 *     cold-start KONTEND [RUNS [ARGUMENTS]]
 */
#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <search.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIP = 77, RUNS = 5, RUNS_MOST = 100, MOST_MS = 10000, WORD = 64, NAMES = 1 << 19 };

struct words {
	char word[WORD];
	size_t len;
	bool in_escape;
};

struct start {
	double frame_ms, name_ms, cpu_ms;
	char name[WORD];
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* CPU time of all threads so far. */
static double cpu_ms(pid_t pid)
{
	struct timespec ts = {0};
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Names of functions with an underscore: a screen has no other such words but this one. */
static bool is_telling(const char *word)
{
	return strlen(word) > 6 && strchr(word, '_') && strcmp(word, "mmap_lock") != 0;
}

static bool read_names(void)
{
	char line[1024], name[512], type;
	unsigned long long addr, any = 0;
	FILE *f = fopen("/proc/kallsyms", "re");

	if (!f || !hcreate(NAMES))
		return false;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %511s", &addr, &type, name) != 3 ||
		    tolower((unsigned char)type) != 't' || !is_telling(name))
			continue;
		any |= addr;
		ENTRY e = {.key = strdup(name)};
		if (e.key)
			hsearch(e, ENTER);
	}
	fclose(f);
	return any != 0;
}

/* One byte of the drawn output. True: a name of the kernel ended there. */
static bool feed(struct words *w, char c)
{
	if (w->in_escape) {
		w->in_escape = !(c >= '@' && c <= '~' && c != '[');
		return false;
	}
	if (isalnum((unsigned char)c) || c == '_') {
		w->word[w->len] = c;
		w->len += w->len < WORD - 1;
		return false;
	}
	w->in_escape = c == '\033';
	w->word[w->len] = '\0';
	w->len = 0;
	ENTRY e = {.key = w->word};
	return is_telling(w->word) && hsearch(e, FIND);
}

static pid_t start(const char *const *argv, int *ret_fd)
{
	struct winsize size = {.ws_row = 50, .ws_col = 160};
	pid_t pid = forkpty(ret_fd, NULL, NULL, &size);

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setenv("TERM", "xterm-256color", 1);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* Reads what is drawn until it has a name; false: it has none. */
static bool watch(int fd, double begun, struct start *s)
{
	struct words w = {0};
	char buf[1 << 14];

	while (now_ms() - begun < MOST_MS) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (poll(&p, 1, MOST_MS) <= 0)
			return false;
		ssize_t n = read(fd, buf, sizeof(buf));
		double now = now_ms();
		if (n <= 0)
			return false;
		s->frame_ms = s->frame_ms > 0 ? s->frame_ms : now - begun;
		for (ssize_t i = 0; i < n; i++) {
			if (!feed(&w, buf[i]))
				continue;
			s->name_ms = now - begun;
			snprintf(s->name, sizeof(s->name), "%s", w.word);
			return true;
		}
	}
	return false;
}

static bool measure(const char *const *argv, struct start *s)
{
	char buf[1 << 14];
	int fd, status;
	double begun = now_ms();
	pid_t pid = start(argv, &fd);

	if (pid < 0)
		return false;
	bool named = watch(fd, begun, s);
	s->cpu_ms = cpu_ms(pid);
	if (write(fd, "q", 1) != 1)
		kill(pid, SIGTERM);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
	waitpid(pid, &status, 0);
	return named && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(const struct start *s, size_t n, size_t offset)
{
	double v[RUNS_MOST];

	for (size_t i = 0; i < n; i++)
		memcpy(&v[i], (const char *)&s[i] + offset, sizeof(v[i]));
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static bool measure_view(const char *const *argv, const char *what, size_t runs)
{
	struct start s[RUNS_MOST] = {0};

	for (size_t i = 0; i < runs; i++) {
		if (measure(argv, &s[i]))
			continue;
		printf("FAIL %s: no name of the kernel on its screen within %d s\n", what,
		       MOST_MS / 1000);
		return false;
	}
	printf("%-24s first frame %4.0f ms, first name of the kernel %4.0f ms (goal: 300 ms), "
	       "%4.0f ms CPU until then; %s\n",
	       what, median(s, runs, offsetof(struct start, frame_ms)),
	       median(s, runs, offsetof(struct start, name_ms)),
	       median(s, runs, offsetof(struct start, cpu_ms)), s[0].name);
	return true;
}

int main(int argc, char **argv)
{
	size_t runs = argc > 2 ? (size_t)atoi(argv[2]) : RUNS;

	if (argc < 2 || runs < 1 || runs > RUNS_MOST) {
		fprintf(stderr, "usage: cold-start KONTEND [RUNS [ARGUMENTS]]\n");
		return 129;
	}
	if (geteuid() || !read_names()) {
		printf("skipped: needs root, and a kernel that shows its symbols\n");
		return SKIP;
	}
	if (argc > 3) {
		argv[2] = argv[1];
		return !measure_view((const char *const *)argv + 2, argv[3], runs);
	}
	const char *hot[] = {argv[1], "live", "--view", "hot", NULL};
	const char *plain[] = {argv[1], "live", "--view", "hot", "--no-bpf", NULL};
	const char *demo[] = {argv[1], "live", "--demo", NULL};
	bool good = measure_view(hot, "--view hot", runs);
	good &= measure_view(plain, "--view hot --no-bpf", runs);
	good &= measure_view(demo, "--demo", runs);
	return !good;
}
