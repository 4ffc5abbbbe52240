// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPython: the lock of the interpreter (GIL). Threads that wait for it sleep on a condition
 * variable in it, for 5 ms each time; so the word on which they sleep says that it is that lock,
 * and the lock names the state of the thread that has it, which has its number.
 *
 * 3.13 and later say where all of that is, at the begin of _PyRuntime. In 3.11 and 3.12 the places
 * are those of 64-bit Linux. A place that is wrong leads to no word on which a thread sleeps.
 */
#include "internal.h"

#include <linux/futex.h>
#include <string.h>

enum { V_3_11 = 0x30b, V_3_12, V_3_13, V_3_14, INTERPRETERS_MOST = 16 };
/* In the lock, of all these versions. */
enum { GIL_HOLDER = 8, GIL_LOCKED = 16, GIL_CONDITION = 32, CONDITION_SIZE = 48 };
static const uint64_t PLACE_MOST = 1 << 20;

struct places {
	uint64_t interpreters, next, gil; /* in _PyRuntime; in an interpreter, of a pointer */
	uint64_t number;		  /* in the state of a thread */
};

/* The first words of _PyRuntime: places, of which a few are used. */
enum { W_COOKIE, W_VERSION, W_THREADED, W_INTERPRETERS = 5 };

bool python_words(const struct runtime_process *p, const struct runtime *t, uint64_t *ret, size_t n)
{
	return p->read(p->arg, t->symbols[PYTHON_RUNTIME], ret, n * sizeof(*ret)) &&
	       memcmp(&ret[W_COOKIE], "xdebugpy", 8) == 0 && ret[W_VERSION] >> 16 == t->version;
}

static bool read_places(const struct runtime_process *p, const struct runtime *t,
			struct places *ret)
{
	static const struct {
		uint8_t next, gil, number;
	} at[] = {{8, 14, 25}, {8, 15, 28}};
	uint64_t words[32];
	size_t i = t->version - V_3_13;

	if (!python_words(p, t, words, sizeof(words) / sizeof(*words)))
		return false;
	*ret = (struct places){words[W_INTERPRETERS], words[at[i].next], words[at[i].gil],
			       words[at[i].number]};
	return ret->interpreters < PLACE_MOST && ret->next < PLACE_MOST && ret->gil < PLACE_MOST &&
	       ret->number < PLACE_MOST;
}

static bool open_python(const struct runtime_process *p, struct runtime *t)
{
	uint64_t version;

	if (!runtime_read_u64(p, t->symbols[PYTHON_VERSION], &version))
		return false;
	t->version = (uint32_t)(version >> 16);
	return t->version >= V_3_11 && t->version <= V_3_14;
}

static bool is_asleep_in(uint64_t gil, const struct userlock_call *call)
{
	return gil && call->addr - gil - GIL_CONDITION < CONDITION_SIZE;
}

/* Each interpreter has a lock, or uses that of another one. */
static bool find_gil(const struct runtime_process *p, const struct runtime *t,
		     const struct places *at, const struct userlock_call *call, uint64_t *ret)
{
	uint64_t interpreter;

	if (!runtime_read_u64(p, t->symbols[PYTHON_RUNTIME] + at->interpreters, &interpreter))
		return false;
	for (size_t i = 0; interpreter && i < INTERPRETERS_MOST; i++) {
		if (!runtime_read_u64(p, interpreter + at->gil, ret))
			return false;
		if (is_asleep_in(*ret, call))
			return true;
		if (!runtime_read_u64(p, interpreter + at->next, &interpreter))
			return false;
	}
	return false;
}

/* The owner; 0: it is being handed over. */
static bool read_gil(const struct runtime_process *p, uint64_t gil, uint64_t number_at,
		     uint32_t *ret)
{
	uint64_t holder, number = 0;
	uint32_t locked;

	*ret = 0;
	if (!runtime_read_u32(p, gil + GIL_LOCKED, &locked) || locked > 1 ||
	    !runtime_read_u64(p, gil + GIL_HOLDER, &holder))
		return false;
	if (locked && holder && runtime_read_u64(p, holder + number_at, &number) &&
	    number <= FUTEX_TID_MASK)
		*ret = (uint32_t)number;
	return true;
}

static bool find_wait(struct runtimes *r, const struct runtime_process *p, const struct runtime *t,
		      const struct runtime_thread *thread, struct runtime_lock *ret)
{
	const struct userlock_call *call = thread->call;
	struct places at = {40, 0, 384, 144}; /* of 3.12 */
	uint64_t gil;

	(void)r;
	if (!call || (call->op & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET)
		return false;
	if (t->version == V_3_11) {
		at.number = 160;
		gil = t->symbols[PYTHON_RUNTIME] + 360;
		if (!is_asleep_in(gil, call))
			return false;
	} else if ((t->version >= V_3_13 && !read_places(p, t, &at)) ||
		   !find_gil(p, t, &at, call, &gil)) {
		return false;
	}
	memcpy(ret->name, "GIL", sizeof("GIL"));
	ret->at = gil;
	ret->where = gil;
	return read_gil(p, gil, at.number, &ret->owner);
}

const struct runtime_type runtime_python = {
	.program = "python3",
	.library = "libpython3",
	.symbols = {[PYTHON_RUNTIME] = "_PyRuntime",
		    [PYTHON_VERSION] = "Py_Version",
		    [PYTHON_EVAL] = "_PyEval_EvalFrameDefault"},
	.needed = 2,
	.open = open_python,
	.find = find_wait,
	.calls = python_calls,
	.code = PYTHON_EVAL,
	.by_word = true,
};
