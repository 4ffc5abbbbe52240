// SPDX-License-Identifier: GPL-2.0-only
/* Reads the call of a thread in futex(2), and the words around that of the call. */
#include "kontend/number.h"
#include "users.h"

#include <limits.h>
#include <sys/syscall.h>

static bool take_blank_hex(const char **at, uint64_t *ret)
{
	while (**at == ' ')
		++*at;
	return number_take_hex(at, ret) == 0;
}

bool users_call_parse(const char *line, struct userlock_call *ret)
{
	uint64_t number, addr, op, value;
	const char *at = line;

	if (number_take(&at, INT_MAX, &number) < 0 || number != SYS_futex ||
	    !take_blank_hex(&at, &addr) || !take_blank_hex(&at, &op) ||
	    !take_blank_hex(&at, &value))
		return false;
	*ret = (struct userlock_call){addr, (uint32_t)op, (uint32_t)value};
	return true;
}

bool users_thread_parse(const char *line, struct users_thread *ret)
{
	uint64_t number, other;
	const char *at = line;
	bool ok = users_call_parse(line, &ret->call) && number_take(&at, INT_MAX, &number) == 0;

	for (int i = 0; ok && i < 6; i++)
		ok = take_blank_hex(&at, &other);
	return ok && take_blank_hex(&at, &ret->sp) && take_blank_hex(&at, &ret->ip);
}

/* Other memory may begin or end right beside a lock. */
static void read_words(const struct userlock_call *c, users_read *read, void *arg,
		       struct userlock_words *ret)
{
	const size_t before = USERLOCK_AT * sizeof(ret->w[0]);
	uint32_t *at = ret->w + USERLOCK_AT;

	*ret = (struct userlock_words){0};
	if (read(arg, c->addr - before, ret->w, sizeof(ret->w)))
		ret->have = USERLOCK_ALL_WORDS;
	else if (read(arg, c->addr, at, USERLOCK_MUTEX_WORDS * sizeof(*at)))
		ret->have = USERLOCK_OF_MUTEX;
	else if (read(arg, c->addr, at, sizeof(*at)))
		ret->have = USERLOCK_ONE_WORD;
}

bool users_lock_find(const struct userlock_call *c, users_read *read, void *arg,
		     struct userlock_found *ret)
{
	struct userlock_words words;

	read_words(c, read, arg, &words);
	return userlock_find(c, &words, ret);
}
