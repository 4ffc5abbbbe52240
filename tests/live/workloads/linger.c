// SPDX-License-Identifier: GPL-2.0-only
/*
 * linger: a program that spends its time in linger_program() and, of the library that it loads, in
 * linger_library(), until its standard input ends or it has used 15 s of CPU time. With the
 * argument "delete" it removes the files of both first. It prints "ready" when it begins.
 *
 *     linger LIBRARY [delete]
 */
#include "over.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile uint64_t sum;

uint64_t linger_program(uint64_t n);

__attribute__((noinline)) uint64_t linger_program(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sum += i;
	return sum;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	uint64_t (*inside)(uint64_t n);
	void *symbol = library ? dlsym(library, "linger_library") : NULL;

	if (!symbol) {
		fprintf(stderr, "linger: %s\n", argc > 1 ? dlerror() : "which library?");
		return 1;
	}
	memcpy(&inside, &symbol, sizeof(inside));
	if (argc > 2 && (unlink(argv[0]) != 0 || unlink(argv[1]) != 0)) {
		perror("linger");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (!over_is()) {
		sum += linger_program(1000000);
		sum += inside(1000000);
	}
	return 0;
}
