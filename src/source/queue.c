// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bounded queue: a singly linked list of items under one mutex, and an eventfd. The eventfd is
 * readable exactly while the list is long enough (by default not empty) or has a tick, or the queue
 * is closed. An item is a header followed by its bytes.
 *
 * Chunks of perf records come in three sizes, since a ring that is drained every 50 ms holds a few
 * hundred bytes or a few hundred KiB; each size has a free list. `bytes` counts every chunk that
 * exists, so max_bytes limits the memory in any case; what one flood has filled does not stay in
 * free lists. Small records (rounds, ticks, fills) have a limit of their own: a round must pass a
 * full queue, as only a round makes the consumer release chunks. Records of the prologue have no
 * limit and are freed at once.
 */
#include "kontend/queue.h"
#include "kontend/mem.h"
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { CLASS_SMALL, CLASS_4K, CLASS_16K, CLASS_64K, CLASSES, CLASS_EXACT = CLASSES };
enum { SMALL_MAX = 4096, POOLED_MOST = 4 << 20 /* bytes in the free lists */ };

static const uint32_t class_bytes[CLASSES] = {64, 4096, 16384, 65536};

struct queue_item {
	struct queue_item *next;
	uint32_t class;
	uint32_t ring;
	enum record_kind kind;
	size_t len;
	void *given; /* bytes that were handed over, instead of data[] */
	alignas(16) uint8_t data[];
};

struct queue {
	pthread_mutex_t lock;
	struct queue_item *head, **tail;
	struct queue_item *pool[CLASSES];
	size_t bytes, max_bytes, pooled;
	size_t waiting, wake; /* room that the list takes, and the size at which the reader wakes */
	size_t n_ticks;	      /* in the list */
	uint32_t n_small;
	int fd;
	bool closed;
	bool signalled;
};

int queue_new(struct queue **ret, size_t max_bytes, struct error *err)
{
	struct queue *q = mem_calloc(1, sizeof(*q));

	if (!q)
		return error_enomem(err, "the queue between the threads");
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0) {
		int code = -errno;
		mem_free(q);
		return error_errno(err, code, "Cannot make an eventfd for the queue");
	}
	pthread_mutex_init(&q->lock, NULL);
	q->tail = &q->head;
	q->max_bytes = max_bytes;
	*ret = q;
	return 0;
}

static void free_list(struct queue_item *it)
{
	while (it) {
		struct queue_item *next = it->next;
		mem_free(it->given);
		mem_free(it);
		it = next;
	}
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	free_list(q->head);
	for (int i = 0; i < CLASSES; i++)
		free_list(q->pool[i]);
	pthread_mutex_destroy(&q->lock);
	close(q->fd);
	mem_free(q);
}

/* With the lock held: makes the eventfd readable, or not, by the state of the list. */
static void update_signal(struct queue *q)
{
	bool want = q->closed || q->n_ticks || (q->head && q->waiting >= q->wake);
	uint64_t v = 1;

	if (want == q->signalled)
		return;
	ssize_t n = want ? write(q->fd, &v, sizeof(v)) : read(q->fd, &v, sizeof(v));
	if (n == sizeof(v))
		q->signalled = want;
}

static struct queue_item *item_new(size_t size, uint32_t class)
{
	struct queue_item *it = mem_calloc(1, sizeof(*it) + size);

	if (it)
		it->class = class;
	return it;
}

static struct queue_item *pool_take(struct queue *q, uint32_t class)
{
	struct queue_item *it = q->pool[class];

	if (it) {
		q->pool[class] = it->next;
		q->pooled -= class_bytes[class];
	}
	return it;
}

/* Frees kept chunks of other sizes until @need more bytes are allowed. */
static bool make_room(struct queue *q, size_t need)
{
	for (uint32_t c = CLASS_64K; c >= CLASS_4K && q->bytes + need > q->max_bytes;) {
		struct queue_item *it = pool_take(q, c);
		if (!it) {
			c--;
			continue;
		}
		q->bytes -= class_bytes[c];
		mem_free(it);
	}
	return q->bytes + need <= q->max_bytes;
}

static struct queue_item *chunk_get(struct queue *q, uint32_t class)
{
	struct queue_item *it = pool_take(q, class);

	if (it || !make_room(q, class_bytes[class]))
		return it;
	it = item_new(class_bytes[class], class);
	if (it)
		q->bytes += class_bytes[class];
	return it;
}

struct queue_item *queue_alloc(struct queue *q, size_t size, void **ret_data, size_t *ret_size)
{
	uint32_t class = CLASS_4K;

	while (class < CLASS_64K && size > class_bytes[class])
		class ++;
	pthread_mutex_lock(&q->lock);
	struct queue_item *it = chunk_get(q, class);
	pthread_mutex_unlock(&q->lock);
	if (it) {
		*ret_data = it->data;
		*ret_size = class_bytes[class];
	}
	return it;
}

static size_t room_of(const struct queue_item *it)
{
	return it->class == CLASS_EXACT ? it->len : class_bytes[it->class];
}

static void append(struct queue *q, struct queue_item *it)
{
	it->next = NULL;
	*q->tail = it;
	q->tail = &it->next;
	q->waiting += room_of(it);
	q->n_ticks += it->kind == RECORD_TICK;
	update_signal(q);
}

void queue_push(struct queue *q, struct queue_item *it, enum record_kind kind, uint32_t ring,
		size_t len)
{
	it->kind = kind;
	it->ring = ring;
	it->len = len;
	pthread_mutex_lock(&q->lock);
	append(q, it);
	pthread_mutex_unlock(&q->lock);
}

/* With the lock held: back to its pool, or to the heap. */
static void recycle(struct queue *q, struct queue_item *it)
{
	if (it->class == CLASS_EXACT) {
		mem_free(it->given);
		mem_free(it);
		return;
	}
	if (it->class == CLASS_SMALL)
		q->n_small--;
	if (q->pooled + class_bytes[it->class] > POOLED_MOST) {
		q->bytes -= it->class == CLASS_SMALL ? 0 : class_bytes[it->class];
		mem_free(it);
		return;
	}
	q->pooled += class_bytes[it->class];
	it->next = q->pool[it->class];
	q->pool[it->class] = it;
}

void queue_cancel(struct queue *q, struct queue_item *it)
{
	pthread_mutex_lock(&q->lock);
	recycle(q, it);
	pthread_mutex_unlock(&q->lock);
}

int queue_put(struct queue *q, enum record_kind kind, uint32_t ring, const void *data, size_t len)
{
	struct queue_item *it = NULL;

	if (len > class_bytes[CLASS_SMALL])
		return -EINVAL;
	pthread_mutex_lock(&q->lock);
	if (q->n_small < SMALL_MAX) {
		it = pool_take(q, CLASS_SMALL);
		if (!it)
			it = item_new(class_bytes[CLASS_SMALL], CLASS_SMALL);
	}
	if (it) {
		q->n_small++;
		it->kind = kind;
		it->ring = ring;
		it->len = len;
		memcpy(it->data, data, len);
		append(q, it);
	}
	pthread_mutex_unlock(&q->lock);
	return it ? 0 : -ENOBUFS;
}

int queue_put_always(struct queue *q, enum record_kind kind, uint32_t ring, const void *data,
		     size_t len)
{
	struct queue_item *it = item_new(len, CLASS_EXACT);

	if (!it)
		return -ENOMEM;
	if (len)
		memcpy(it->data, data, len);
	queue_push(q, it, kind, ring, len);
	return 0;
}

int queue_give(struct queue *q, enum record_kind kind, uint32_t ring, void *data, size_t len)
{
	struct queue_item *it = item_new(0, CLASS_EXACT);

	if (!it)
		return -ENOMEM;
	it->given = data;
	queue_push(q, it, kind, ring, len);
	return 0;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	update_signal(q);
	pthread_mutex_unlock(&q->lock);
}

int queue_pop(struct queue *q, struct record *ret)
{
	pthread_mutex_lock(&q->lock);
	struct queue_item *it = q->head;
	int r = it ? 0 : q->closed ? QUEUE_END : QUEUE_EMPTY;

	if (it) {
		q->head = it->next;
		if (!q->head)
			q->tail = &q->head;
		q->waiting -= room_of(it);
		q->n_ticks -= it->kind == RECORD_TICK;
		update_signal(q);
	}
	pthread_mutex_unlock(&q->lock);
	if (it)
		*ret = (struct record){it->kind, it->ring, it->given ? it->given : it->data,
				       it->len, it};
	return r;
}

void queue_release(struct queue *q, struct record *r)
{
	struct queue_item *it = r->owner;

	if (!it)
		return;
	r->owner = NULL;
	pthread_mutex_lock(&q->lock);
	recycle(q, it);
	pthread_mutex_unlock(&q->lock);
}

void queue_set_wake(struct queue *q, size_t bytes)
{
	q->wake = bytes;
}

int queue_fd(const struct queue *q)
{
	return q->fd;
}

size_t queue_bytes(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	size_t n = q->bytes;
	pthread_mutex_unlock(&q->lock);
	return n;
}
