// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that choose waits, as one text in the filter language: each is a group of alternatives,
 * and all groups must hold.
 */
#include "kontend/filter-options.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/textbuf.h"
#include "kontend/units.h"
#include "kontend/wait-filter.h"

#include <errno.h>
#include <string.h>

struct maker {
	struct textbuf filter, words;
	struct error *err;
};

static void put_text(struct maker *m, const char *s)
{
	textbuf_str(&m->filter, s);
}

static void say_option(struct maker *m, const char *what, const char *value)
{
	if (textbuf_len(&m->words))
		textbuf_str(&m->words, ", ");
	textbuf_str(&m->words, what);
	textbuf_char(&m->words, ' ');
	textbuf_str(&m->words, value);
}

static void put_quoted(struct maker *m, const char *key, const char *value)
{
	put_text(m, key);
	textbuf_char(&m->filter, '"');
	put_text(m, value);
	textbuf_char(&m->filter, '"');
}

/* @text as a part of a regular expression, in which it stands for itself. */
static void put_escaped(struct maker *m, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr(".[]{}()*+?^$|\\", text[i]))
			textbuf_char(&m->filter, '\\');
		textbuf_char(&m->filter, text[i]);
	}
}

/* One of a list: a number, or of a process its name, which is followed by "/" and its pid. */
static void put_id(struct maker *m, const char *key, const char *word, size_t len)
{
	bool number = strspn(word, "0123456789") >= len;

	put_text(m, number ? key : "process~\"^");
	put_text(m, number ? "=" : "");
	put_escaped(m, word, len);
	put_text(m, number ? "" : "/[0-9]\"");
}

/* "812,900" as "(pid=812|pid=900) " */
static int put_ids(struct maker *m, const char *key, const char *list, bool names)
{
	size_t n = strlen(list);

	if (!n || list[0] == ',' || list[n - 1] == ',' || strstr(list, ",,") ||
	    (!names && list[strspn(list, "0123456789,")]) || strchr(list, '"'))
		return error_set(m->err, -EINVAL, "--%s '%s' is no list: write it like 812,%s", key,
				 list, names ? "postgres" : "900");
	say_option(m, key, list);
	put_text(m, "(");
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		put_text(m, p == list ? "" : "|");
		put_id(m, key, p, len);
		p += len;
		if (!*p)
			break;
	}
	put_text(m, ") ");
	return 0;
}

/* Each run of CPUs is a group: "(!cpu<2 !cpu>5)". */
static void put_runs(struct maker *m, const uint32_t *cpus, size_t n)
{
	for (size_t i = 0, to; i < n; i = to + 1) {
		for (to = i; to + 1 < n && cpus[to + 1] == cpus[to] + 1;)
			to++;
		put_text(m, i ? "|(!cpu<" : "((!cpu<");
		textbuf_u64(&m->filter, cpus[i]);
		put_text(m, " !cpu>");
		textbuf_u64(&m->filter, cpus[to]);
		put_text(m, ")");
	}
	put_text(m, ") ");
}

static int put_cpus(struct maker *m, const char *list)
{
	uint32_t *cpus;
	size_t n;
	int r = cpulist_parse(list, &cpus, &n);

	if (r < 0 || !n)
		return error_set(m->err, -EINVAL, "--cpu '%s' is no CPU list: write it like 0,2-5",
				 list);
	say_option(m, "CPU", list);
	put_runs(m, cpus, n);
	mem_free(cpus);
	return 0;
}

/* The path, or what is below it. */
static int put_cgroup(struct maker *m, const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (*path != '/')
		return error_set(m->err, -EINVAL,
				 "--cgroup '%s': give a path of the recording, like /system.slice",
				 path);
	say_option(m, "cgroup", path);
	if (len == 1)
		return 0;
	put_text(m, "(cgroup=\"");
	for (size_t i = 0; i < len; i++)
		textbuf_char(&m->filter, path[i]);
	put_text(m, "\"|cgroup~\"^");
	put_escaped(m, path, len);
	put_text(m, "/\") ");
	return 0;
}

static bool is_address(const char *s)
{
	return s[0] == '0' && s[1] == 'x' && s[2] &&
	       !s[2 + strspn(s + 2, "0123456789abcdefABCDEF")];
}

/* A name is looked for where users expect it: in that of the lock, its kind and its type. */
static void put_lock(struct maker *m, const char *name)
{
	if (is_address(name)) {
		put_text(m, "lock=");
		put_text(m, name);
		put_text(m, " ");
		return;
	}
	put_quoted(m, "(name:", name);
	put_quoted(m, "|object:", name);
	put_quoted(m, "|kind:", name);
	put_text(m, ") ");
}

static int check_name(struct maker *m, const char *option, const char *name)
{
	if (!name || !strchr(name, '"'))
		return 0;
	return error_set(m->err, -EINVAL, "--%s '%s': there are no quotes in names", option, name);
}

static int put_names(struct maker *m, const struct opts *o)
{
	if (check_name(m, "lock", o->lock) < 0 || check_name(m, "caller", o->caller) < 0 ||
	    check_name(m, "stack", o->stack) < 0 || check_name(m, "cgroup", o->cgroup) < 0)
		return -EINVAL;
	if (o->lock) {
		say_option(m, "lock", o->lock);
		put_lock(m, o->lock);
	}
	if (o->caller) {
		say_option(m, "caller", o->caller);
		put_quoted(m, "caller:", o->caller);
		put_text(m, " ");
	}
	if (o->stack) {
		say_option(m, "call chain with", o->stack);
		put_quoted(m, "stack:", o->stack);
	}
	return 0;
}

/* Does the verb read what has been measured? */
static bool reads(const struct opts *o)
{
	return o->input || opts_plays(o) || o->verb == VERB_DIFF;
}

int filter_options(const struct opts *o, struct filter_options *ret, struct error *err)
{
	struct maker m = {textbuf_make(ret->filter, sizeof(ret->filter)),
			  textbuf_make(ret->words, sizeof(ret->words)), err};
	char time[UNITS_BUF];
	int r = put_names(&m, o);

	if (r == 0 && reads(o) && o->pids)
		r = put_ids(&m, "pid", o->pids, true);
	if (r == 0 && reads(o) && o->tids)
		r = put_ids(&m, "tid", o->tids, false);
	if (r == 0 && reads(o) && o->cpus)
		r = put_cpus(&m, o->cpus);
	if (r == 0 && reads(o) && o->cgroup)
		r = put_cgroup(&m, o->cgroup);
	if (o->verb == VERB_CUT && o->filter) {
		say_option(&m, "with", o->filter);
		put_text(&m, "(");
		put_text(&m, o->filter);
		put_text(&m, ")");
	}
	if (o->lengths)
		say_option(&m, "of", o->lengths);
	if (o->min_wait_ns)
		say_option(&m, "of at least", units_ns(time, o->min_wait_ns));
	textbuf_end(&m.words);
	textbuf_end(&m.filter);
	if (r == 0 && textbuf_len(&m.filter) + 1 >= sizeof(ret->filter))
		r = error_set(err, -EINVAL, "The filter of these options takes more than %d bytes",
			      FILTER_OPTIONS_TEXT);
	return r < 0 ? r : wait_filter_check(ret->filter, err);
}
