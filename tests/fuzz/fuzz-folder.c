// SPDX-License-Identifier: GPL-2.0-only
/*
 * A folder of any files, as perf record makes some: an error with a sentence, or records to the
 * end. No descriptor stays open, nothing outside of the folder is read, and a FIFO blocks nothing.
 *
 * The input is parts, one after the other: a byte that says which file it is (NAMES) and what lies
 * there (KINDS), the length in two bytes, and the content of the file.
 */
#include "fuzz-source.h"
#include "kontend/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {
	"data", "data.0", "data.1", "data.2", "data.3", "kcore_dir/kallsyms", "kcore_dir/kcore"};

enum { NAMES = sizeof(names) / sizeof(*names), KINDS = 32, LONG = 300 << 20 };

/* All others are files. */
enum kind { LINK = 28, FIFO, FOLDER, HOLE };

static char folder[4096];
static int top = -1;

static void remove_folder(void)
{
	unlinkat(top, "kcore_dir", AT_REMOVEDIR);
	rmdir(folder);
}

static void make_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/kontend-fuzz-XXXXXX", tmp ? tmp : "/tmp");
	fuzz_require(mkdtemp(folder));
	top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fuzz_require(top >= 0 && !mkdirat(top, "kcore_dir", 0700));
	atexit(remove_folder);
}

static void make_file(const char *name, enum kind kind, const uint8_t *data, size_t size)
{
	int fd = openat(top, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	/* Longer than what is read of all files together. */
	fuzz_require(kind != HOLE || !ftruncate(fd, LONG));
	close(fd);
}

static void make_part(const char *name, enum kind kind, const uint8_t *data, size_t size)
{
	switch (kind) {
	case LINK: /* it would never end */
		fuzz_require(!symlinkat("/dev/zero", top, name));
		break;
	case FIFO:
		fuzz_require(!mkfifoat(top, name, 0600));
		break;
	case FOLDER:
		fuzz_require(!mkdirat(top, name, 0700));
		break;
	default:
		make_file(name, kind, data, size);
	}
}

/* One part of each name at most. The bits of those that were made. */
static unsigned make_parts(const uint8_t *data, size_t size)
{
	unsigned made = 0;

	while (size >= 3) {
		unsigned name = data[0] % NAMES;
		size_t n = data[1] | (size_t)data[2] << 8;

		n = n < size - 3 ? n : size - 3;
		if (!(made & 1u << name))
			make_part(names[name], (enum kind)(data[0] / NAMES % KINDS), data + 3, n);
		made |= 1u << name;
		data += 3 + n;
		size -= 3 + n;
	}
	return made;
}

static void remove_parts(unsigned made)
{
	for (unsigned i = 0; i < NAMES; i++)
		if (made & 1u << i)
			fuzz_require(!unlinkat(top, names[i], 0) ||
				     !unlinkat(top, names[i], AT_REMOVEDIR));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct reader_options o = {.path = folder, .no_symbols = true, .window_bytes = 4096};

	if (top < 0)
		make_folder();
	int before = dup(top);
	long live = mem_live();

	close(before);
	unsigned made = make_parts(data, size);
	fuzz_read(&o);
	remove_parts(made);
	int after = dup(top);
	close(after);
	fuzz_require(before == after);
	fuzz_require(mem_live() == live);
	return 0;
}
