// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of C++ that are locks of programs, or have one: for test-members.c, which compiles it. Prints the name and the
 * place of each, as bytes after the file's first one in memory.
 */
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>

extern "C" const char __ehdr_start;

class base {
public:
	virtual ~base() {}
	int n;
	std::mutex guard;
};

class empty {
};

class derived : public empty, public base {
public:
	std::shared_mutex table;
	static std::mutex all;
};

std::mutex derived::all;

struct virtual_base : virtual base {
	pthread_mutex_t own;
};

template <typename T> struct holder {
	T first, second;
};

namespace app
{
struct state {
	struct {
		long pad;
		sem_t ready;
	};
	union {
		uint64_t raw[8];
		pthread_rwlock_t rw;
	};
	union {
		int a;
		unsigned b;
	} either;
	unsigned bits : 3;
	uint32_t word;
};
state one;
derived objects[4];
holder<holder<std::mutex>> nested;
std::recursive_mutex again;
} // namespace app

virtual_base far_base;

static std::mutex &inside()
{
	static derived local;

	return local.guard;
}

static void say(const char *name, const void *at)
{
	printf("%s %zx\n", name, (size_t)((const char *)at - &__ehdr_start));
}

int main()
{
	say("app::one.ready", &app::one.ready);
	say("app::one.rw", &app::one.rw);
	say("app::one.either", &app::one.either);
	say("app::one.word", &app::one.word);
	say("app::one.raw[7]", (const char *)&app::one.rw + sizeof(app::one.rw));
	say("app::objects[2].guard", &app::objects[2].guard);
	say("app::objects[3].table", &app::objects[3].table);
	say("app::nested.second.first", &app::nested.second.first);
	say("app::again", &app::again);
	say("derived::all", &derived::all);
	say("far_base.own", &far_base.own);
	/* Where a virtual base is follows from the object, not from its type. */
	say("far_base+", &far_base.guard);
	say("inside()::local.guard", &inside());
	return 0;
}
