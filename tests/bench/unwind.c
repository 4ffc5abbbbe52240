// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks a second from dumps of 4 KiB, of ten frames each and of those outside of them, on one
 * core: the same few stacks again and again, as samples of a busy program are.
 */
#include "stackshot.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { STACKS = 100000, MOST = 10 };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	struct unwind_config how = {.way = argc > 1 && !strcmp(argv[1], "libdw") ? UNWIND_LIBDW
										 : UNWIND_BEST};
	static struct stackshot shots[4];
	struct usersyms_config c = {.same_machine = true};
	struct error err = {0};
	struct usersyms *files;
	struct unwind *u;
	struct unwind_space *s;
	struct unwind_frame frames[MOST];
	enum unwind_end end;
	size_t n = 0;

	if (usersyms_new(&files, &c, &err) < 0 || unwind_new(&u, files, &how, &err) < 0 ||
	    unwind_space_new(&s, u) < 0) {
		printf("%s\n", err.text);
		return 77;
	}
	for (unsigned i = 0; i < 4; i++)
		if (!stackshot_take(&shots[i], files, 9 + i))
			return 77;
	unwind_space_set(s, shots[0].maps, shots[0].n_maps);
	double begun = now_s();
	for (unsigned i = 0; i < 4; i++) {
		struct unwind_sample x = stackshot_sample(&shots[i]);
		unwind_stack(s, &x, frames, MOST, &end);
	}
	double first = now_s() - begun;
	begun = now_s();
	for (unsigned i = 0; i < STACKS; i++) {
		struct unwind_sample x = stackshot_sample(&shots[i % 4]);
		x.stack_len = x.stack_len < 4096 ? x.stack_len : 4096;
		n += unwind_stack(s, &x, frames, MOST, &end);
	}
	double took = now_s() - begun;
	printf("first stacks %.2f ms; %.0f stacks/s of %.1f frames, %.0f ns a frame\n", first * 1e3,
	       STACKS / took, (double)n / STACKS, took * 1e9 / (double)n);
	unwind_space_free(s);
	unwind_free(u);
	usersyms_free(files);
	return 0;
}
