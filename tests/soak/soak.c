// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend live` for minutes beside thousands of short processes, its views switched by keys all
 * the while: what it holds must not grow with time. Descriptors, anonymous memory and the CPU time
 * it takes are noted in equal parts of the time; the first part is the warm-up, in which tables get
 * their size. Called as: soak KONTEND MORTALS SECONDS PROCESSES-PER-SECOND
 */
#include "session.h"

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 6, SKIP = 77, EXTRA_FDS = 8, PAUSE_MS = 250, TEXT = 4096 };

/* Limit of growth when a table doubles once more, and the share of CPU that is noise. */
static const uint64_t EXTRA_BYTES = 16 << 20;
static const double EXTRA_CPU = 0.5, LEAST_CPU = 0.02;

struct snapshot_source {
	unsigned fds;
	uint64_t anonymous, resident; /* bytes */
	double cpu_s, share;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static unsigned count_fds(pid_t pid)
{
	char path[64];
	unsigned n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* The size in bytes on one line of its /proc status. */
static uint64_t status_of(pid_t pid, const char *begin)
{
	char path[64], line[256];
	unsigned long long kb = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, begin, strlen(begin))) {
			kb = strtoull(line + strlen(begin), NULL, 10);
			break;
		}
	if (f)
		fclose(f);
	return kb << 10;
}

static double cpu_of(pid_t pid)
{
	char path[64], line[1024];
	unsigned long user = 0, system = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	const char *at = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (at && sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			 &system) != 2)
		user = system = 0;
	if (f)
		fclose(f);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static struct snapshot_source look_at(pid_t pid)
{
	return (struct snapshot_source){.fds = count_fds(pid),
					.anonymous = status_of(pid, "RssAnon:"),
					.resident = status_of(pid, "VmRSS:"),
					.cpu_s = cpu_of(pid)};
}

/* Shows all views, one after the other, with the pages below a row, for @seconds. */
static void use(struct session *s, double seconds)
{
	static const char *const keys[] = {"1", "2", "3", "\r", "\033", "4", "5", "6", "7",
					   "8", "9", "j", "\r", "\033", "0", "h", "9", "9"};
	const struct timespec pause = {0, PAUSE_MS * 1000000L};
	double until = now_s() + seconds;

	for (size_t i = 0; now_s() < until; i++) {
		session_send(s, keys[i % (sizeof(keys) / sizeof(*keys))]);
		nanosleep(&pause, NULL);
		session_drain(s);
		session_forget(s);
	}
}

static FILE *start_mortals(const char *program, const char *dir, const char *rate, pid_t *ret)
{
	char line[64];
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0)
		abort();
	*ret = fork();
	if (*ret == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		execl(program, program, dir, rate, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	FILE *f = fdopen(out[0], "r");
	if (!f || !fgets(line, sizeof(line), f))
		abort();
	/* Held by us: it ends when we do. */
	return fdopen(in[1], "w");
}

static int complain(const char *what, double before, double after, double most)
{
	printf("FAIL %s grew from %.4g to %.4g, more than to %.4g\n", what, before, after, most);
	return 1;
}

/* The first part is the warm-up; what the second has is compared with the last. */
static int judge(const struct snapshot_source *l)
{
	const struct snapshot_source *a = &l[1], *b = &l[PARTS - 1];
	double most_share = a->share * (1 + EXTRA_CPU) + LEAST_CPU;
	int bad = 0;

	if (b->fds > a->fds + EXTRA_FDS)
		bad |= complain("descriptors", a->fds, b->fds, a->fds + EXTRA_FDS);
	if (b->anonymous > a->anonymous + EXTRA_BYTES)
		bad |= complain("anonymous memory, MB", (double)a->anonymous / 1e6,
				(double)b->anonymous / 1e6,
				(double)(a->anonymous + EXTRA_BYTES) / 1e6);
	if (b->share > most_share)
		bad |= complain("share of a CPU", a->share, b->share, most_share);
	return bad;
}

int main(int argc, char **argv)
{
	const char *const env[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", NULL};
	char *live[] = {argc > 1 ? argv[1] : NULL, (char[]){"live"}, NULL};
	char dir[] = "/tmp/kontend-soak-XXXXXX";
	struct snapshot_source looks[PARTS + 1];
	struct session s;
	pid_t mortals;

	if (argc != 5 || atoi(argv[3]) < PARTS || !mkdtemp(dir))
		return 2;
	if (geteuid() != 0) {
		puts("skipped: needs root");
		return SKIP;
	}
	double part_s = atof(argv[3]) / PARTS;
	FILE *hold = start_mortals(argv[2], dir, argv[4], &mortals);
	session_start(&s, live, env);
	session_expect(&s, "\033[?1049h");
	use(&s, 2);
	double last = look_at(s.program).cpu_s, since = now_s();
	for (int i = 0; i < PARTS; i++) {
		use(&s, part_s);
		looks[i] = look_at(s.program);
		looks[i].share = (looks[i].cpu_s - last) / (now_s() - since);
		last = looks[i].cpu_s;
		since = now_s();
		printf("after %5.0f s: %u descriptors, %.1f MB resident, %.1f anonymous, %.1f %% "
		       "of a "
		       "CPU\n",
		       part_s * (i + 1), looks[i].fds, (double)looks[i].resident / 1e6,
		       (double)looks[i].anonymous / 1e6, looks[i].share * 100);
		fflush(stdout);
	}
	session_send(&s, "q");
	int status = session_wait(&s);
	session_end(&s);
	fclose(hold);
	waitpid(mortals, NULL, 0);
	rmdir(dir);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		printf("FAIL the session ended with status %#x\n", (unsigned)status);
		return 1;
	}
	return judge(looks);
}
