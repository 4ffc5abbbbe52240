// SPDX-License-Identifier: GPL-2.0-only
/*
 * What names of functions cost: loading files (whole, and the longest step between two frames of a
 * screen), the first and then a million lookups at places spread over the file.
 *
 * Arguments: files; without any, the C library and the largest known program that there is.
 */
#include "kontend/usersyms.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

enum { LOOKUPS = 1000000, PLACES = 20000 };

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static size_t ask(struct usersyms *u, uint32_t object, uint64_t size, uint32_t n)
{
	uint64_t seed = 1;
	size_t known = 0;
	struct usersym s;

	for (uint32_t i = 0; i < n; i++) {
		seed = i % PLACES ? seed * 6364136223846793005u + 1442695040888963407u : 1;
		known += usersyms_lookup(u, object, (seed >> 20) % size, &s) == USERSYM_OK;
	}
	return known;
}

static void measure(const char *path)
{
	struct usersyms_config c = {.same_machine = true};
	struct usersyms *u;
	struct usersym s;
	struct stat st;
	uint32_t object;
	double longest = 0, begun, t;
	bool more = true;

	if (stat(path, &st) != 0 || usersyms_new(&u, &c, NULL) < 0)
		return;
	if (usersyms_object(u, path, NULL, 0, 0, &object) < 0)
		return;
	usersyms_lookup(u, object, 0, &s);
	begun = now_ms();
	while (more) {
		t = now_ms();
		more = usersyms_load_some(u, 0, NULL);
		longest = now_ms() - t > longest ? now_ms() - t : longest;
	}
	double load = now_ms() - begun;
	begun = now_ms();
	ask(u, object, (uint64_t)st.st_size, PLACES);
	double first = now_ms() - begun;
	begun = now_ms();
	size_t known = ask(u, object, (uint64_t)st.st_size, LOOKUPS);
	printf("%s: loaded in %.1f ms, longest step %.1f ms; first %d lookups %.1f ms; "
	       "%d lookups %.1f ms, %.0f %% known\n",
	       path, load, longest, PLACES, first, LOOKUPS, now_ms() - begun,
	       100.0 * (double)known / LOOKUPS);
	usersyms_free(u);
}

int main(int argc, char **argv)
{
	static const char *const usual[] = {
		"/usr/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/aarch64-linux-gnu/libc.so.6",
		"/usr/bin/qemu-system-aarch64",
		"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
		"/usr/lib/aarch64-linux-gnu/libLLVM-14.so.1",
	};

	for (int i = 1; i < argc; i++)
		measure(argv[i]);
	for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++)
		measure(usual[i]);
	return 0;
}
