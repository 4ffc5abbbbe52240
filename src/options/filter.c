// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lock types have two names: those that `perf lock` prints and those of its documentation and the
 * kernel. kontend's tables have the printed ones; in filters, words with the other names are
 * replaced. Only whole words are: function names may contain them.
 */
#include "kontend/opts-filter.h"
#include "kontend/opts.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *from, *to;
} alias_table[] = {
	{"rtmutex", "rt-mutex"},      {"rt_mutex", "rt-mutex"},	    {"percpu-rwsem", "pcpu-sem"},
	{"percpu-rwmem", "pcpu-sem"}, {"percpu_rwsem", "pcpu-sem"}, {"pcpu_sem", "pcpu-sem"},
};

static const char delimiters[] = " \t!:=<>~|()\"";

/* The replacement for the word of @len bytes; NULL: keep it. */
static const char *other_name(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(alias_table) / sizeof(*alias_table); i++)
		if (strlen(alias_table[i].from) == len &&
		    memcmp(alias_table[i].from, word, len) == 0)
			return alias_table[i].to;
	return NULL;
}

static int append(char *ret, size_t size, size_t *used, const char *s, size_t len)
{
	if (*used + len >= size)
		return -E2BIG;
	memcpy(ret + *used, s, len);
	*used += len;
	ret[*used] = '\0';
	return 0;
}

int opts_filter(const char *filter, char *ret, size_t size, struct error *err)
{
	size_t used = 0;
	int r = append(ret, size, &used, "", 0);

	while (r == 0 && *filter) {
		size_t len = strcspn(filter, delimiters);
		const char *name = other_name(filter, len);

		if (len)
			r = name ? append(ret, size, &used, name, strlen(name))
				 : append(ret, size, &used, filter, len);
		filter += len;
		if (r == 0 && *filter)
			r = append(ret, size, &used, filter++, 1);
	}
	if (r < 0)
		return error_set(err, -EINVAL, "--filter: give fewer than %zu bytes", size);
	return 0;
}
