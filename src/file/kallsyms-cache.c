// SPDX-License-Identifier: GPL-2.0-only
/*
 * One file, "kallsyms", in a folder that nobody else may write to: the lines of /proc/kallsyms that
 * sym_load() looks at, and a last line of fixed length that says of which kernel, modules and BPF
 * programs they are and how many bytes stand before it. The line that belongs there now is made
 * anew and compared, so nothing of the file is interpreted before it is known to be whole and of
 * now. A new file takes the place of the old one by its name.
 *
 * All failures are silent for whoever asks: the cache saves time, and without it nothing else is
 * different.
 */
#include "kontend/kallsyms-cache.h"
#include "kernel.h"
#include "kontend/cachefolder.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEAL = 160 }; /* bytes of the last line */

static const char name[] = "kallsyms", new_name[] = "kallsyms.new";

/* Version 1 of the format. */
static void make_seal(const struct kallsyms_cache_state *s, size_t body, char ret[SEAL])
{
	char text[SEAL];
	int n = snprintf(text, sizeof(text),
			 "# kontend kallsyms 1, boot %s, modules %016llx, bpf %016llx, %zu bytes",
			 s->boot, (unsigned long long)s->modules, (unsigned long long)s->bpf, body);

	memset(ret, ' ', SEAL);
	memcpy(ret, text, (size_t)n < SEAL ? (size_t)n : SEAL - 1);
	ret[SEAL - 1] = '\n';
}

bool kallsyms_cache_place(char *buf, size_t size)
{
	return cachefolder_path(name, buf, size);
}

void kallsyms_text_deinit(struct kallsyms_text *t)
{
	mem_free(t->heap);
	filemap_close(&t->file);
	*t = (struct kallsyms_text){0};
}

/* The seal, if there is room for one, is that of @state. */
static bool is_sealed(const struct kallsyms_cache_state *state, const struct filemap *file)
{
	char seal[SEAL];

	if (file->len <= SEAL)
		return false;
	make_seal(state, file->len - SEAL, seal);
	return !memcmp(file->bytes + file->len - SEAL, seal, SEAL);
}

int kallsyms_cache_load(const struct kallsyms_cache_state *state, struct kallsyms_text *ret)
{
	int r, folder = cachefolder_open(false);

	*ret = (struct kallsyms_text){0};
	if (folder < 0)
		return folder;
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	r = fd < 0			       ? -errno
	    : cachefolder_is_ours(fd, S_IFREG) ? filemap_open(&ret->file, fd)
					       : -EPERM;
	if (fd >= 0)
		close(fd);
	close(folder);
	if (!r && !is_sealed(state, &ret->file)) {
		kallsyms_text_deinit(ret);
		r = -ENOENT;
	}
	if (r)
		return r;
	ret->text = ret->file.bytes;
	ret->len = ret->file.len - SEAL;
	return 0;
}

/* Padding in front of functions, every other line of some kernels, is of no use to anybody. */
static bool is_padding(const char *line, size_t len)
{
	static const char mark[] = " __pfx_";
	const char *type = memchr(line, ' ', len);

	return type && (size_t)(line + len - type) >= 2 + sizeof(mark) - 1 &&
	       !memcmp(type + 2, mark, sizeof(mark) - 1);
}

/* The lines that count, and the seal behind them. */
static char *make_file(const struct kallsyms_cache_state *state, const char *text, size_t len,
		       size_t *ret_len)
{
	char *file = mem_resize(NULL, len + 1 + SEAL, 1);
	size_t n = 0;

	for (size_t at = 0; file && at < len;) {
		const char *line = text + at, *eol = memchr(line, '\n', len - at);
		size_t size = eol ? (size_t)(eol - line) : len - at;

		at += size + 1;
		if (is_padding(line, size))
			continue;
		memcpy(file + n, line, size);
		n += size;
		file[n++] = '\n';
	}
	if (file)
		make_seal(state, n, file + n);
	*ret_len = n + SEAL;
	return file;
}

int kallsyms_cache_store(const struct kallsyms_cache_state *state, const char *text, size_t len)
{
	int folder = cachefolder_open(true);
	size_t n;

	if (folder < 0)
		return folder;
	char *file = make_file(state, text, len, &n);
	/* What a program left that was ended here would be in the way for ever. If it still runs,
	 * one of the two files becomes the cache, and only a whole one counts. */
	unlinkat(folder, new_name, 0);
	int fd =
		file ? openat(folder, new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	int r = !file ? -ENOMEM : fd < 0 ? -errno : fdio_write_all(fd, file, n);
	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	if (!r && renameat(folder, new_name, folder, name))
		r = -errno;
	if (r && fd >= 0)
		unlinkat(folder, new_name, 0);
	mem_free(file);
	close(folder);
	return r;
}
