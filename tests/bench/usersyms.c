// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of function names: loading files (whole, and the longest step between two frames of a
 * screen), the first and then a million lookups at places spread over the file; and the same when
 * symbols were kept the last time, how long it took from the first question to the first name.
 *
 * Arguments: files; without any, the C library, the largest known program that there is, and one of
 * 300 MB of symbols that is made for it.
 */
#include "kontend/usersyms.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOKUPS = 1000000, PLACES = 20000, LARGE = 3500000 };

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static size_t ask_symbols(struct usersyms *u, uint32_t object, uint64_t size, uint32_t n)
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

static void measure(const char *path, const char *how, bool keep)
{
	struct usersyms_config c = {.same_machine = true, .keep = keep, .keep_least_ns = 1};
	struct usersyms *u;
	struct usersym s;
	struct stat st;
	uint32_t object;
	double longest = 0, begun, t, named = 0;
	bool more = true;

	if (stat(path, &st) != 0 || usersyms_new(&u, &c, NULL) < 0)
		return;
	begun = now_ms();
	if (usersyms_object(u, path, NULL, 0, 0, &object) < 0)
		return;
	usersyms_lookup(u, object, 0, &s);
	while (more) {
		t = now_ms();
		more = usersyms_load_some(u, 0, NULL);
		longest = now_ms() - t > longest ? now_ms() - t : longest;
		if (!named &&
		    usersyms_lookup(u, object, (uint64_t)st.st_size / 9, &s) != USERSYM_PENDING)
			named = now_ms() - begun;
	}
	double load = now_ms() - begun;
	begun = now_ms();
	ask_symbols(u, object, (uint64_t)st.st_size, PLACES);
	double first = now_ms() - begun;
	begun = now_ms();
	size_t known = ask_symbols(u, object, (uint64_t)st.st_size, LOOKUPS);
	printf("%s, %s: first name after %.2f ms, done in %.1f ms, longest step %.1f ms; "
	       "first %d lookups %.1f ms; %d lookups %.1f ms, %.0f %% known\n",
	       path, how, named, load, longest, PLACES, first, LOOKUPS, now_ms() - begun,
	       100.0 * (double)known / LOOKUPS);
	usersyms_free(u);
}

static void measure_all(const char *path)
{
	measure(path, "read", false);
	measure(path, "read and kept", true);
	measure(path, "kept", true);
}

/* A program of 300 MB of symbols, which are in no order. */
static bool make_large(char *path)
{
	const uint64_t text = 0x1000, size = LARGE * 64ull, symbols = 24ull * (LARGE + 1);
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	Elf64_Ehdr h = {.e_ident = ELFMAG "\2\1\1",
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = 1,
			.e_phoff = sizeof(h),
			.e_ehsize = sizeof(h),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shoff = sizeof(h) + sizeof(Elf64_Phdr),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 5};
	const struct {
		Elf64_Nhdr head;
		char name[4];
		uint8_t id[20];
	} note = {{4, 20, NT_GNU_BUILD_ID}, "GNU", {1, 2, 3}};
	Elf64_Phdr p = {PT_LOAD, PF_X | PF_R, text, text, text, size, size, 4096};
	Elf64_Shdr s[5] = {
		[1] = {.sh_type = SHT_NOBITS,
		       .sh_flags = SHF_EXECINSTR,
		       .sh_addr = text,
		       .sh_size = size},
		[2] = {.sh_type = SHT_SYMTAB,
		       .sh_offset = text,
		       .sh_size = symbols,
		       .sh_link = 3,
		       .sh_entsize = 24},
		[3] = {.sh_type = SHT_STRTAB,
		       .sh_offset = text + symbols,
		       .sh_size = LARGE * 64ull + 1},
		[4] = {.sh_type = SHT_NOTE,
		       .sh_offset = sizeof(h) + sizeof(Elf64_Phdr) + sizeof(Elf64_Shdr) * 5,
		       .sh_size = sizeof(note)},
	};

	if (!f)
		return false;
	fwrite(&h, sizeof(h), 1, f);
	fwrite(&p, sizeof(p), 1, f);
	fwrite(s, sizeof(s), 1, f);
	fwrite(&note, sizeof(note), 1, f);
	fseek(f, (long)text + 24, SEEK_SET);
	for (uint64_t i = 0; i < LARGE; i++) {
		Elf64_Sym y = {(uint32_t)(1 + i * 64), 2, 0, 1, text + i * 7919 % LARGE * 64, 64};
		fwrite(&y, sizeof(y), 1, f);
	}
	fputc(0, f);
	for (uint64_t i = 0; i < LARGE; i++)
		fprintf(f, "_ZN5large%054" PRIu64 "%c", i, 0);
	return fclose(f) == 0;
}

int main(int argc, char **argv)
{
	char large[] = "/var/tmp/kontend-large-XXXXXX", cache[] = "/var/tmp/kontend-cache-XXXXXX";
	char command[64];
	static const char *const usual[] = {
		"/usr/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/aarch64-linux-gnu/libc.so.6",
		"/usr/bin/qemu-system-aarch64",
		"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
		"/usr/lib/aarch64-linux-gnu/libLLVM-14.so.1",
	};

	if (!mkdtemp(cache))
		return 1;
	setenv("KONTEND_CACHE", cache, 1);
	for (int i = 1; i < argc; i++)
		measure_all(argv[i]);
	for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(usual[0]); i++)
		measure_all(usual[i]);
	if (argc == 1 && make_large(large))
		measure_all(large);
	if (argc == 1)
		unlink(large);
	snprintf(command, sizeof(command), "rm -rf '%s'", cache);
	return system(command) != 0;
}
