// SPDX-License-Identifier: GPL-2.0-only
/*
 *     user-classes-cpp CASE
 *
 * As user-classes.c, with what the standard library of C++ has.
 */
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

enum { THREADS = 3 };

static std::mutex mutex;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::shared_mutex shared;
static std::condition_variable condition;
static std::condition_variable_any any;
static std::binary_semaphore binary{1}, empty{0};
static std::latch latch{1};
static std::barrier all{THREADS + 1};
static std::promise<int> promise;
static std::shared_future<int> future = promise.get_future().share();
static std::atomic<int> word{1};

struct one {
	std::function<void()> prepare, wait;
};

static void nothing()
{
}

static void sleep_on()
{
	prctl(PR_SET_NAME, "joined");
	pause();
}

template <typename Condition> static void wait_for(Condition &c)
{
	std::unique_lock<std::mutex> l(mutex);

	c.wait(l, [] { return false; });
}

static const std::map<std::string, one> cases = {
	{"L-mutex", {[] { mutex.lock(); }, [] { mutex.lock(); }}},
	{"L-recursive", {[] { recursive.lock(); }, [] { recursive.lock(); }}},
	{"L-timed",
	 {[] { timed.lock(); }, [] { (void)timed.try_lock_for(std::chrono::hours(1)); }}},
	{"L-shared-write", {[] { shared.lock(); }, [] { shared.lock(); }}},
	{"L-shared-read", {[] { shared.lock(); }, [] { shared.lock_shared(); }}},
	{"L-semaphore", {[] { binary.acquire(); }, [] { binary.acquire(); }}},
	{"W-condition", {nothing, [] { wait_for(condition); }}},
	{"W-any", {nothing, [] { wait_for(any); }}},
	{"W-semaphore", {nothing, [] { empty.acquire(); }}},
	{"W-latch", {nothing, [] { latch.wait(); }}},
	{"W-barrier", {nothing, [] { all.arrive_and_wait(); }}},
	{"W-future", {nothing, [] { (void)future.get(); }}},
	{"W-atomic", {nothing, [] { word.wait(1); }}},
	{"W-join", {nothing, [] { std::thread(sleep_on).join(); }}},
};

int main(int argc, char **argv)
{
	char end;

	if (argc < 2) {
		for (const auto &c : cases)
			puts(c.first.c_str());
		return 0;
	}
	auto c = cases.find(argv[1]);
	if (c == cases.end())
		return 2;
	c->second.prepare();
	for (int i = 0; i < THREADS; i++)
		std::thread([c] {
			prctl(PR_SET_NAME, c->first.c_str());
			c->second.wait();
		}).detach();
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	_exit(0);
}
