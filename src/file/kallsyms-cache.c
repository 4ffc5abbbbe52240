// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cache (cachefile.h) for those lines of /proc/kallsyms that sym_load() uses, with a check that
 * they are current. The kernel image moves only with a boot; modules are listed with their
 * addresses; and the ids of BPF programs and of the links of their trampolines are never reused.
 * Pages of ftrace and kprobes have no such list, but their names only say what kind of page it is,
 * and other code at the same addresses would change one of the lists.
 *
 * Failures are silent: the cache only saves time.
 */
#include "kernel.h"
#include "kontend/cachefile.h"
#include "kontend/fdio.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/thisboot.h"
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_IDS = 65536 };

/* "name size users dependents state address [taints]": the hash omits users and dependents. */
uint64_t kallsyms_cache_modules(const char *text)
{
	static const bool counts[] = {true, true, false, false, true, true};
	uint64_t h = HASH_START;

	while (*text) {
		size_t line = strcspn(text, "\n");
		const char *p = text;

		for (size_t i = 0; i < sizeof(counts) && p < text + line; i++) {
			size_t word = strcspn(p, " \n");
			if (counts[i])
				h = hash_bytes(hash_bytes(h, p, word), " ", 1);
			p += word + (p[word] == ' ');
		}
		text += line + (text[line] == '\n');
	}
	return h;
}

/* A kernel without modules has no such file. */
static int modules(uint64_t *ret)
{
	char *text = NULL;
	size_t len;
	int r = fdio_read_file("/proc/modules", &text, &len);

	if (r && r != -ENOENT)
		return r;
	*ret = kallsyms_cache_modules(r ? "" : text);
	mem_free(text);
	return 0;
}

/* The ids of all programs or of all links. Kernels without BPF have none. */
static int bpf_ids(int command, uint64_t *h)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	for (unsigned n = 0; n < MOST_IDS; n++) {
		if (syscall(SYS_bpf, command, &attr, sizeof(attr)))
			return errno == ENOENT || errno == ENOSYS ? 0 : -errno;
		*h = hash_bytes(*h, &attr.next_id, sizeof(attr.next_id));
		attr.start_id = attr.next_id;
	}
	return -E2BIG;
}

int kallsyms_cache_now(struct kallsyms_cache_state *ret)
{
	struct kallsyms_cache_state s = {.bpf = HASH_START};
	int r = thisboot_id(s.boot);

	if (!r)
		r = modules(&s.modules);
	if (!r)
		r = bpf_ids(BPF_PROG_GET_NEXT_ID, &s.bpf);
	if (!r)
		r = bpf_ids(BPF_LINK_GET_NEXT_ID, &s.bpf);
	if (!r)
		*ret = s;
	return r;
}

static struct cachefile_key key_of(const struct kallsyms_cache_state *s)
{
	struct cachefile_key key = {.name = "kallsyms", .form = {"kallsym2"}};

	_Static_assert(sizeof(*s) <= sizeof(key.stamp), "room");
	memcpy(key.stamp, s, sizeof(*s));
	return key;
}

void kallsyms_text_deinit(struct kallsyms_text *t)
{
	mem_free(t->heap);
	cachefile_close(t->kept);
	filemap_close(&t->file);
	*t = (struct kallsyms_text){0};
}

/* The caller reads all of it soon, so all checksums are verified at once. */
int kallsyms_cache_load(const struct kallsyms_cache_state *state, struct kallsyms_text *ret)
{
	const struct cachefile_key key = key_of(state);

	*ret = (struct kallsyms_text){0};
	int r = cachefile_open(&ret->kept, &key);
	if (r < 0)
		return r;
	const struct cachefile_part text = cachefile_part(ret->kept, 0);
	if (!cachefile_is_sound(ret->kept, text.bytes, text.len)) {
		kallsyms_text_deinit(ret);
		return -EBADMSG;
	}
	ret->text = text.bytes;
	ret->len = text.len;
	return 0;
}

/* Padding in front of functions, every other line of some kernels: no symbol lookup needs it. */
static bool is_padding(const char *line, size_t len)
{
	static const char mark[] = " __pfx_";
	const char *type = memchr(line, ' ', len);

	return type && (size_t)(line + len - type) >= 2 + sizeof(mark) - 1 &&
	       !memcmp(type + 2, mark, sizeof(mark) - 1);
}

size_t kallsyms_without_padding(const char *text, size_t len, char *ret)
{
	size_t n = 0;

	for (size_t at = 0; at < len;) {
		const char *line = text + at, *eol = memchr(line, '\n', len - at);
		size_t size = eol ? (size_t)(eol - line) : len - at;

		at += size + 1;
		if (is_padding(line, size))
			continue;
		memcpy(ret + n, line, size);
		n += size;
		ret[n++] = '\n';
	}
	return n;
}

int kallsyms_cache_store(const struct kallsyms_cache_state *state, const char *text, size_t len)
{
	const struct cachefile_key key = key_of(state);
	char *lines = mem_resize(NULL, len + 1, 1);

	if (!lines)
		return -ENOMEM;
	const struct cachefile_part parts[CACHEFILE_PARTS] = {
		{lines, kallsyms_without_padding(text, len, lines)}};
	int r = cachefile_store(&key, parts);
	mem_free(lines);
	return r;
}
