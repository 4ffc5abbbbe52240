// SPDX-License-Identifier: GPL-2.0-only
/*
 * A server and its client, in two threads of this process on two CPUs, if there are two. A request
 * is one message: the operation, a key, and a value. Each connection has one request in flight, so
 * the server always has some to answer, and no thread waits long.
 *
 * The table uses open addressing over a fixed set of keys, all of which are present from the
 * beginning. Each lookup of a key first calls the function that has the probe, or the one without.
 */
#include "kontend/bench-request.h"
#include "bind.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 16, KEYS = 1 << 14, SLOTS = 2 * KEYS, KEY = 16, VALUE = 64 };

struct message {
	char op; /* 'S', 'G' */
	char key[KEY];
	char value[VALUE];
};

struct entry {
	char key[KEY];
	char value[VALUE];
	bool used;
};

struct server {
	struct entry *slots;
	void (*hot)(void); /* the function with the probe */
	int ends[CONNECTIONS];
	uint32_t cpu;
	_Atomic uint64_t answered;
	int code; /* why it ended */
};

struct asker {
	int ends[CONNECTIONS];
	enum bench_request_op op;
	uint32_t cpu;
	atomic_bool stop;
	uint64_t random;
	int code;
};

struct pair {
	struct server server;
	struct asker asker;
};

const char *bench_request_op_name(enum bench_request_op op)
{
	return op == BENCH_REQUEST_SET ? "SET" : "GET";
}

static uint32_t hash(const char *key)
{
	uint32_t h = 2166136261u;

	for (int i = 0; i < KEY; i++)
		h = (h ^ (unsigned char)key[i]) * 16777619u;
	return h;
}

/* The entry of @key, or the free one where it belongs: there are twice as many as keys. */
static struct entry *find_entry(const struct server *s, const char *key)
{
	uint32_t at = hash(key) % SLOTS;

	s->hot();
	while (s->slots[at].used && memcmp(s->slots[at].key, key, KEY) != 0)
		at = (at + 1) % SLOTS;
	return &s->slots[at];
}

static void name_key(char key[KEY], uint32_t i)
{
	char text[KEY + 8];

	memset(key, 0, KEY);
	snprintf(text, sizeof(text), "key:%011u", i % KEYS);
	memcpy(key, text, KEY - 1);
}

static int fill(struct server *s)
{
	s->slots = mem_calloc(SLOTS, sizeof(*s->slots));
	for (uint32_t i = 0; s->slots && i < KEYS; i++) {
		char key[KEY];
		name_key(key, i);
		struct entry *e = find_entry(s, key);
		memcpy(e->key, key, KEY);
		e->used = true;
	}
	return s->slots ? 0 : -ENOMEM;
}

static void answer(struct server *s, struct message *m)
{
	struct entry *e = find_entry(s, m->key);

	if (m->op == 'S')
		memcpy(e->value, m->value, VALUE);
	else
		memcpy(m->value, e->value, VALUE);
	e->used = true;
}

/* True while the other end is open. */
static bool serve_one(struct server *s, int fd)
{
	struct message m;
	ssize_t n = recv(fd, &m, sizeof(m), 0);

	if (n <= 0)
		return false;
	answer(s, &m);
	if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) < 0)
		return false;
	atomic_fetch_add_explicit(&s->answered, 1, memory_order_relaxed);
	return true;
}

static void *serve(void *arg)
{
	struct pollfd fds[CONNECTIONS];
	struct server *s = arg;
	bool goes_on = true;

	bind_to_cpu(s->cpu);
	for (int i = 0; i < CONNECTIONS; i++)
		fds[i] = (struct pollfd){.fd = s->ends[i], .events = POLLIN};
	while (goes_on) {
		if (poll(fds, CONNECTIONS, -1) < 0 && errno != EINTR) {
			s->code = -errno;
			break;
		}
		for (int i = 0; goes_on && i < CONNECTIONS; i++)
			if (fds[i].revents)
				goes_on = serve_one(s, fds[i].fd);
	}
	return NULL;
}

static uint32_t draw(struct asker *a)
{
	a->random = a->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(a->random >> 33);
}

/* A request on each connection, then all the answers. */
static int ask_all(struct asker *a)
{
	struct message m = {.op = a->op == BENCH_REQUEST_SET ? 'S' : 'G'};

	for (int i = 0; i < CONNECTIONS; i++) {
		name_key(m.key, draw(a));
		if (send(a->ends[i], &m, sizeof(m), MSG_NOSIGNAL) < 0)
			return -errno;
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		ssize_t n = recv(a->ends[i], &m, sizeof(m), 0);
		if (n != (ssize_t)sizeof(m))
			return n < 0 ? -errno : -EPIPE;
	}
	return 0;
}

static void *run_client(void *arg)
{
	struct asker *a = arg;

	bind_to_cpu(a->cpu);
	while (a->code == 0 && !atomic_load_explicit(&a->stop, memory_order_relaxed))
		a->code = ask_all(a);
	/* The server notices and ends. */
	for (int i = 0; i < CONNECTIONS; i++)
		shutdown(a->ends[i], SHUT_RDWR);
	return NULL;
}

/* CPU time of a thread; 0: unknown */
static uint64_t cpu_ns(pthread_t thread)
{
	struct timespec t;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void measure(const struct server *s, pthread_t thread, uint32_t parts, uint64_t part_ns,
		    struct bench_request_row *r)
{
	struct bench_parts p = {0};

	clock_sleep_ns(part_ns / 4);
	uint64_t cpu = cpu_ns(thread);
	for (uint32_t i = 0; i < parts; i++) {
		uint64_t t0 = clock_now_ns(), n0 = atomic_load(&s->answered);
		clock_sleep_ns(part_ns);
		uint64_t ns = clock_now_ns() - t0, n = atomic_load(&s->answered) - n0;
		bench_parts_add(&p, n, ns);
	}
	r->took = bench_parts_sum(&p, cpu_ns(thread) - cpu);
}

static int connect_both(struct pair *p)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
			return -errno;
		p->server.ends[i] = ends[0];
		p->asker.ends[i] = ends[1];
	}
	return 0;
}

static int choose_cpus(struct pair *p)
{
	uint32_t *online = NULL;
	size_t n = 0;
	int code = cpulist_read("online", &online, &n);

	if (code == 0 && n) {
		p->server.cpu = online[0];
		p->asker.cpu = online[n - 1];
	}
	mem_free(online);
	return code;
}

static int run(struct pair *p, uint32_t parts, uint64_t part_ns, struct bench_request_row *r)
{
	pthread_t server, asker;
	int code = -pthread_create(&server, NULL, serve, &p->server);

	if (code)
		return code;
	code = -pthread_create(&asker, NULL, run_client, &p->asker);
	if (code == 0) {
		measure(&p->server, server, parts, part_ns, r);
		atomic_store(&p->asker.stop, true);
		pthread_join(asker, NULL);
	} else {
		shutdown(p->server.ends[0], SHUT_RDWR);
	}
	pthread_join(server, NULL);
	code = code ? code : p->server.code;
	return code ? code : p->asker.code;
}

static int set_up(struct pair *p, const struct bench_request_row *r)
{
	for (int i = 0; i < CONNECTIONS; i++)
		p->server.ends[i] = p->asker.ends[i] = -1;
	p->asker.op = r->op;
	p->server.hot = uprobe_target_function(r->kind);
	int code = choose_cpus(p);
	code = code ? code : fill(&p->server);
	return code ? code : connect_both(p);
}

static void tear_down(struct pair *p)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		if (p->server.ends[i] >= 0)
			close(p->server.ends[i]);
		if (p->asker.ends[i] >= 0)
			close(p->asker.ends[i]);
	}
	mem_free(p->server.slots);
}

int bench_request_row(struct bench_request_row *row, uint32_t parts, uint64_t part_ns,
		      struct error *err)
{
	int fd = row->probed ? uprobe_target_place(row->kind, row->is_return, err) : -1;
	struct pair p = {0};

	if (row->probed && fd < 0)
		return fd;
	int code = set_up(&p, row);
	code = code ? code : run(&p, parts, part_ns, row);
	tear_down(&p);
	if (fd >= 0)
		close(fd);
	return code < 0 ? error_errno(err, code, "Cannot run the server and its client") : 0;
}
