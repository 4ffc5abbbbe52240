/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_KERNEL_TYPES_H
#define KONTEND_KERNEL_TYPES_H
/*
 * What libperf's internal headers need of the kernel's <linux/types.h>, <linux/list.h>,
 * <linux/refcount.h> and <linux/compiler.h>, and no more. The layout of every type here equals
 * the one that libperf.a was compiled with; the product takes all other <linux/...> headers from
 * the system, which the kernel's tools/include would shadow.
 */
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;
typedef int64_t s64;
typedef int32_t s32;

typedef struct {
	int counter;
} atomic_t;

typedef struct refcount_struct {
	atomic_t refs;
} refcount_t;

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#ifndef __aligned
#define __aligned(bytes) __attribute__((aligned(bytes)))
#endif

#ifndef __packed
#define __packed __attribute__((packed))
#endif

#define list_entry(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

#endif
