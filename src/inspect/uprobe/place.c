// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target of a probe: its instruction, function and class, from the binary on disk. Read once
 * for each place, and kept while the file is unchanged.
 */
#include "internal.h"
#include "kontend/binary.h"
#include "kontend/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { BEFORE = 8, WINDOW = 48, PLACES_MAX = 4096 };

/*
 * The path as the owner of the probe sees it, whose root may be another one; else as kontend does.
 */
static bool find_file(const struct found_probe *p, char *ret, size_t size, struct stat *st)
{
	int32_t pid = p->filter_pid ? p->filter_pid : p->owner_pid;

	if (pid) {
		snprintf(ret, size, "/proc/%" PRId32 "/root%s", pid, p->path);
		if (stat(ret, st) == 0)
			return true;
	}
	snprintf(ret, size, "%s", p->path);
	return stat(ret, st) == 0;
}

static struct place *find_place(struct snapshot_uprobes *u, const struct found_probe *p)
{
	for (size_t i = 0; i < u->n_places; i++)
		if (u->places[i].offset == p->offset && u->places[i].placed == p->ino &&
		    !strcmp(u->places[i].path, p->path))
			return &u->places[i];
	return NULL;
}

static void read_hint(const struct snapshot_uprobes *u, struct place *p, const uint8_t *bytes,
		      size_t n, size_t at, uint64_t into)
{
	struct uprobe_verdict other;
	/* Padding precedes a function; it is never executed. */
	size_t from = into ? 0 : at;
	int by = uprobe_hint(p->machine, u->kernel, bytes + from, n - from, at - from, p->offset,
			     &other);

	if (by)
		snprintf(p->hint, sizeof(p->hint), "%s%d is %s%s: %s", by > 0 ? "+" : "", by,
			 *other.what ? "a " : "", *other.what ? other.what : "cheaper",
			 uprobe_class_name(other.class_));
}

static void read_symbol(struct place *p, struct binary *b, uint64_t *ret_into)
{
	char name[160];

	*ret_into = 0;
	if (!binary_symbol(b, p->offset, name, sizeof(name), ret_into, &p->debug))
		return;
	if (*ret_into)
		snprintf(p->symbol, sizeof(p->symbol), "%s+0x%" PRIx64, name, *ret_into);
	else
		snprintf(p->symbol, sizeof(p->symbol), "%s", name);
}

static void read_place(const struct snapshot_uprobes *u, struct place *p, const char *file)
{
	uint64_t before = p->offset < BEFORE ? p->offset : BEFORE, into;
	struct error err = {0};
	uint8_t bytes[WINDOW];
	struct binary *b;

	if (binary_open(&b, file, &err) < 0) {
		snprintf(p->verdict.reason, sizeof(p->verdict.reason), "%.110s", err.text);
		return;
	}
	size_t n = binary_read(b, p->offset - before, bytes, sizeof(bytes));
	p->machine = binary_machine(b);
	read_symbol(p, b, &into);
	n = n > before ? n - before : 0;
	uprobe_judge(p->machine, u->kernel, bytes + before, n < 16 ? n : 16, p->offset,
		     &p->verdict);
	p->n_bytes = p->verdict.len <= sizeof(p->bytes) ? p->verdict.len : 0;
	memcpy(p->bytes, bytes + before, p->n_bytes);
	if (n)
		read_hint(u, p, bytes, n + before, before, into);
	binary_close(b);
}

/* Is the cached state of the file current? */
static bool is_current(const struct place *p, const struct stat *st)
{
	return p->dev == st->st_dev && p->ino == st->st_ino && p->mtime == st->st_mtime;
}

/*
 * Is another file at the path of the probe now? File systems that report another device than the
 * kernel's own do not show that.
 */
static bool is_replaced(const struct found_probe *f, const struct stat *st)
{
	const uint32_t minor_bits = 20, mask = (1u << minor_bits) - 1;

	return f->ino && f->dev >> minor_bits == major(st->st_dev) &&
	       (f->dev & mask) == minor(st->st_dev) && f->ino != st->st_ino;
}

static struct place *new_place(struct snapshot_uprobes *u)
{
	if (u->n_places >= PLACES_MAX)
		u->n_places = 0; /* places of removed probes, at most */
	if (mem_grow(&u->places, &u->cap_places, u->n_places, sizeof(*u->places)) < 0)
		return NULL;
	return &u->places[u->n_places++];
}

const struct place *snapshot_uprobes_place(struct snapshot_uprobes *u, const struct found_probe *f)
{
	struct place *p = find_place(u, f);
	char file[UP_PATH + 64];
	struct stat st = {0};

	if (p && p->checked_ns == u->now_ns)
		return p;
	bool there = find_file(f, file, sizeof(file), &st);
	if (p && there && is_current(p, &st))
		return p;
	bool replaced = there && is_replaced(f, &st);
	/* It was read from the file that the probe is in. */
	if (p && p->placed && p->ino == p->placed && (replaced || !there))
		return p;
	p = p ? p : new_place(u);
	if (!p)
		return NULL;
	*p = (struct place){.offset = f->offset,
			    .dev = st.st_dev,
			    .ino = st.st_ino,
			    .mtime = st.st_mtime,
			    .placed = f->ino,
			    .checked_ns = u->now_ns};
	snprintf(p->path, sizeof(p->path), "%s", f->path);
	if (replaced)
		snprintf(p->verdict.reason, sizeof(p->verdict.reason),
			 "the binary was replaced: another file has its path now");
	else if (there)
		read_place(u, p, file);
	else
		snprintf(p->verdict.reason, sizeof(p->verdict.reason),
			 "the binary cannot be read any more");
	return p;
}
