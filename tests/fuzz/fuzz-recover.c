// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a damaged recording: an error with a sentence and nothing else, or a new file that
 * is a complete recording: recovering it again finds nothing to do, and the reader opens it. The
 * file keeps no more than there was.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/reader.h"
#include "kontend/recover.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_RECORDS = 1 << 20 };

static const char format[] = "lock\0name: contention_begin\nID: 401\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\n\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
			     "\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n"
			     "\nprint fmt: \"\"\n";
static const struct recover_format formats[] = {{format, sizeof(format) - 1}};

static void name_of(int fd, char *path, size_t room)
{
	snprintf(path, room, "/proc/self/fd/%d", fd);
}

static int recover(int from, int to, struct recover_stat *st)
{
	struct error err = {0};
	char path[64];
	struct recover_options o = {
		.path = path, .fd = to, .name = "new", .formats = formats, .n_formats = 1};

	name_of(from, path, sizeof(path));
	int r = recover_file(&o, st, &err);
	fuzz_require(r == 0 || r == RECOVER_WHOLE || (r < 0 && err.text[0]));
	fuzz_require(st->kept <= st->size);
	return r;
}

/* Its content may still be damaged, but it is a recording. */
static void read_new(int fd)
{
	struct error err = {0};
	struct record rec;
	struct source *s;
	unsigned n = 0;
	char path[64];
	int r;

	name_of(fd, path, sizeof(path));
	struct reader_options o = {.path = path, .no_symbols = true};
	if (reader_new(&s, &o, &err)) {
		fuzz_require(err.text[0]);
		return;
	}
	while ((r = source_next(s, 0, &rec, &err)) == 0) {
		fuzz_require(n++ < MOST_RECORDS);
		source_release(s, &rec);
	}
	fuzz_require(r == SOURCE_END || err.text[0]);
	source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in = memfd_create("damaged", MFD_CLOEXEC), out = memfd_create("new", MFD_CLOEXEC);
	struct recover_stat st = {0};
	long live = mem_live();

	fuzz_require(in >= 0 && out >= 0 && write(in, data, size) == (ssize_t)size);
	int r = recover(in, out, &st);
	if (r == 0) {
		int again = memfd_create("again", MFD_CLOEXEC);
		fuzz_require(st.size == size && st.records);
		fuzz_require(again >= 0 && recover(out, again, &st) == RECOVER_WHOLE);
		read_new(out);
		close(again);
	}
	close(in);
	close(out);
	fuzz_require(mem_live() == live);
	return 0;
}
