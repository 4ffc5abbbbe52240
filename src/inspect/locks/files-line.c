// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of locks of files, as the kernel writes them in /proc/locks and in /proc/PID/fdinfo:
 *   "1: FLOCK  ADVISORY  WRITE 812 fe:00:9987759 0 EOF"
 *   "1: -> FLOCK  ADVISORY  WRITE 813 fe:00:9987759 0 EOF"
 *   "2: LEASE  BREAKING  UNLCK 814 fe:00:9987760 0 EOF"
 *   "2: -> LEASE  BREAKER   WRITE 815 <none>:0 0 EOF"
 * Lines are read by words. The number of blanks shows only the depth in a chain of waiters; all of
 * a chain wait for the same lock.
 */
#include "files.h"
#include "kontend/number.h"

#include <limits.h>
#include <string.h>

struct word {
	const char *at;
	size_t len;
};

static bool next_word(const char **at, struct word *ret)
{
	const char *p = *at;

	while (*p == ' ' || *p == '\t')
		p++;
	ret->at = p;
	while (*p && *p != ' ' && *p != '\t' && *p != '\n')
		p++;
	ret->len = (size_t)(p - ret->at);
	*at = p;
	return ret->len > 0;
}

static bool is(struct word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}

static bool kind_of(struct word w, enum filelock_kind *ret)
{
	if (is(w, "FLOCK"))
		*ret = FILELOCK_FLOCK;
	else if (is(w, "POSIX") || is(w, "OFDLCK"))
		*ret = FILELOCK_POSIX;
	else if (is(w, "LEASE"))
		*ret = FILELOCK_LEASE;
	else
		return false;
	return true;
}

static bool pid_of(struct word w, int32_t *ret)
{
	uint64_t n;

	*ret = -1;
	if (is(w, "-1"))
		return true;
	if (number_parse_n(w.at, w.len, 0, INT_MAX, &n) < 0)
		return false;
	*ret = (int32_t)n;
	return true;
}

/* "fe:00:9987759", or "<none>:0" */
static bool inode_of(struct word w, struct files_line *ret)
{
	enum { MAJOR_MOST = (1 << 12) - 1, MINOR_MOST = (1 << 20) - 1 };
	const char *p = w.at;
	uint64_t major, minor;

	ret->has_ino = false;
	if (w.len >= 6 && !memcmp(w.at, "<none>", 6))
		return true;
	if (number_take_hex(&p, &major) < 0 || major > MAJOR_MOST || *p++ != ':' ||
	    number_take_hex(&p, &minor) < 0 || minor > MINOR_MOST || *p++ != ':' ||
	    number_take(&p, UINT64_MAX, &ret->ino) < 0)
		return false;
	ret->dev = (uint32_t)(major << 20 | minor);
	ret->has_ino = true;
	return true;
}

/* "0", "EOF", or "100", "199": the last byte. */
static bool part_of(struct word start, struct word end, struct files_line *ret)
{
	uint64_t last;

	ret->past = FILELOCK_EOF;
	if (number_parse_n(start.at, start.len, 0, INT64_MAX, &ret->start) < 0)
		return false;
	if (is(end, "EOF"))
		return true;
	if (number_parse_n(end.at, end.len, ret->start, INT64_MAX - 1, &last) < 0)
		return false;
	ret->past = last + 1;
	return true;
}

bool files_line_parse(const char *line, struct files_line *ret)
{
	struct word number, kind, how, type, pid, inode, start, end;
	const char *at = line;

	*ret = (struct files_line){0};
	if (!next_word(&at, &number) || number.at[number.len - 1] != ':' || !next_word(&at, &kind))
		return false;
	ret->waits = is(kind, "->");
	if ((ret->waits && !next_word(&at, &kind)) || !kind_of(kind, &ret->kind) ||
	    !next_word(&at, &how) || !next_word(&at, &type) || !next_word(&at, &pid) ||
	    !next_word(&at, &inode) || !next_word(&at, &start) || !next_word(&at, &end))
		return false;
	ret->reads = is(type, "READ");
	return pid_of(pid, &ret->pid) && inode_of(inode, ret) && part_of(start, end, ret);
}
