// SPDX-License-Identifier: GPL-2.0-only
/*
 * The running kernel's memory by each way that there is here: its banner is that of /proc/version,
 * both ways say the same of a function, and nothing is read where nothing is.
 *
 *     test-live-ktext
 */
#include "kontend/disasm.h"
#include "kontend/ktext.h"
#include "live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_LEN = 20000 };

static int failures;

static uint64_t address_of(const char *wanted)
{
	unsigned long long addr, found = 0;
	char line[512], name[256], type;
	FILE *f = fopen("/proc/kallsyms", "re");

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %255s", &addr, &type, name) == 3 && !strcmp(name, wanted))
			found = addr;
	if (f)
		fclose(f);
	return found;
}

static void check_banner(struct ktext *k, const char *way)
{
	uint64_t addr = address_of("linux_banner");
	char version[512] = "", banner[512] = "";
	size_t n = 0;
	FILE *f = fopen("/proc/version", "re");

	if (f && !fgets(version, sizeof(version), f))
		version[0] = '\0';
	if (f)
		fclose(f);
	/* Distributions append their own text to the banner. */
	version[strcspn(version, "\n")] = '\0';
	/* Kernels without CONFIG_KALLSYMS_ALL do not say where it is. */
	if (!addr)
		return;
	int code = ktext_read(k, addr, banner, strlen(version), &n);
	live_check(&failures, code == 0 && n == strlen(version) && !strcmp(banner, version),
		   "the banner by %s is \"%s\" (%d)", way, banner, code);
}

/* Nearly all of it is instructions that the disassembler knows. */
static void check_code(const uint8_t *text, size_t len, uint64_t addr, const char *way)
{
	struct disasm *d;
	struct disasm_line l;
	size_t known = 0, n = 0;

	if (disasm_open(&d, disasm_machine_here(), NULL) < 0)
		return;
	for (size_t at = 0; disasm_line(d, text, len, at, addr, &l); at += l.length, n++)
		known += l.kind != DISASM_UNKNOWN;
	disasm_close(d);
	live_check(&failures, n > len / 16 && known > n * 9 / 10,
		   "by %s %zu of %zu instructions are known", way, known, n);
}

static bool read_text(const char *kcore, uint64_t addr, uint8_t *text)
{
	struct ktext *k;
	struct error err = {0};
	size_t n = 0;

	if (ktext_open(&k, kcore, &err) < 0) {
		printf("%s\n", err.text);
		return false;
	}
	const char *way = ktext_way_name(ktext_way(k));
	int code = ktext_read(k, addr, text, TEXT_LEN, &n);
	printf("%s: %zu bytes at 0x%" PRIx64 "\n", way, n, addr);
	if (live_check(&failures, code == 0 && n == TEXT_LEN, "%zu bytes by %s (%d)", n, way, code))
		check_code(text, n, addr, way);
	check_banner(k, way);
	live_check(&failures, ktext_read(k, 16, text + TEXT_LEN, 1, &n) == -EFAULT,
		   "something is read at address 16");
	ktext_close(k);
	return true;
}

int main(void)
{
	static uint8_t a[TEXT_LEN + 1], b[TEXT_LEN + 1];

	live_need_root();
	uint64_t addr = address_of("schedule");
	if (!addr) {
		printf("/proc/kallsyms does not say where schedule() is\n");
		return LIVE_SKIP;
	}
	bool by_bpf = read_text("/nonexistent", addr, a);
	bool by_any = read_text(NULL, addr, b);
	if (!by_any)
		return LIVE_SKIP;
	if (by_bpf)
		live_check(&failures, memcmp(a, b, 64) == 0, "two ways, two texts");
	return failures ? 1 : 0;
}
