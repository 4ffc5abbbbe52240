// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay [--mutate N] FILE-OR-DIRECTORY...: gives every file to a fuzz target, as it is and in N
 * damaged copies. The damage is drawn from a fixed seed, so that a failure comes again, with any
 * compiler and without a fuzzer. Each input lies in a block of exactly its size. The current input
 * is kept in `failing.bin` of the current directory when a target aborts.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPLAY_MOST = 64 << 20 };

struct replay {
	unsigned long mutations;
	unsigned long n_files, n_inputs;
	uint64_t seed;
};

/* For the signal handler alone. */
static const uint8_t *volatile replay_data;
static volatile size_t replay_size;

static void replay_keep(int sig)
{
	int fd = open("failing.bin", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd >= 0) {
		ssize_t n = write(fd, replay_data, replay_size);
		(void)n;
		close(fd);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

static uint64_t replay_random(struct replay *r, uint64_t below)
{
	r->seed ^= r->seed << 13;
	r->seed ^= r->seed >> 7;
	r->seed ^= r->seed << 17;
	return r->seed % below;
}

static void replay_one(struct replay *r, const uint8_t *data, size_t size)
{
	replay_data = data;
	replay_size = size;
	LLVMFuzzerTestOneInput(data, size);
	r->n_inputs++;
}

/* One to four times: flip a bit, set a byte, repeat or overwrite a piece by another, or cut. */
static size_t replay_damage(struct replay *r, uint8_t *data, size_t size)
{
	static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff, ' ', '\n', '\t', '[', ']'};

	for (uint64_t k = replay_random(r, 4) + 1; k && size; k--) {
		size_t at = replay_random(r, size), from = replay_random(r, size);
		size_t most = size - (at > from ? at : from);

		switch (replay_random(r, 4)) {
		case 0:
			data[at] ^= (uint8_t)(1u << replay_random(r, 8));
			break;
		case 1:
			data[at] = special[replay_random(r, sizeof(special))];
			break;
		case 2:
			memmove(data + at, data + from, replay_random(r, most) + 1);
			break;
		default:
			size = at;
			break;
		}
	}
	return size;
}

static bool replay_mutated(struct replay *r, const uint8_t *data, size_t size)
{
	for (unsigned long i = 0; i < r->mutations; i++) {
		uint8_t *copy = mem_calloc(size, 1);

		if (!copy)
			return false;
		memcpy(copy, data, size);
		size_t cut = replay_damage(r, copy, size);
		/* A sanitizer sees a read beyond the cut only if the block ends there. */
		uint8_t *exact = mem_resize(copy, cut, 1);
		if (exact)
			replay_one(r, exact, cut);
		mem_free(exact ? exact : copy);
		if (!exact)
			return false;
	}
	return true;
}

static bool replay_file(struct replay *r, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= REPLAY_MOST;
	size_t size = good ? (size_t)st.st_size : 0;
	uint8_t *data = good ? mem_calloc(size, 1) : NULL;

	good = data && read(fd, data, size) == (ssize_t)size;
	if (good) {
		replay_one(r, data, size);
		good = replay_mutated(r, data, size);
		r->n_files++;
	}
	if (!good)
		fprintf(stderr, "cannot replay %s: %s\n", path, strerror(errno));
	mem_free(data);
	if (fd >= 0)
		close(fd);
	return good;
}

static bool replay_path(struct replay *r, const char *path)
{
	DIR *dir = opendir(path);
	bool good = true;

	if (!dir)
		return replay_file(r, path);
	for (struct dirent *e; (e = readdir(dir)) != NULL;) {
		char file[4096];

		if (e->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		good &= replay_file(r, file);
	}
	closedir(dir);
	return good;
}

int main(int argc, char **argv)
{
	struct replay r = {.seed = 88172645463325252u};
	bool good = true;
	int first = 1;

	if (argc > 2 && !strcmp(argv[1], "--mutate")) {
		r.mutations = strtoul(argv[2], NULL, 10);
		first = 3;
	}
	signal(SIGABRT, replay_keep);
	signal(SIGSEGV, replay_keep);
	for (int i = first; i < argc; i++)
		good &= replay_path(&r, argv[i]);
	printf("%lu files, %lu inputs\n", r.n_files, r.n_inputs);
	return good && r.n_files ? 0 : 1;
}
