/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_KFUNC_CALL_H
#define KONTEND_INSPECT_KFUNC_CALL_H

/*
 * In raw tracepoints calls of these helpers, which there are not, become calls of the kernel's
 * functions when they are loaded. libbpf does it for functions that are declared, but reads all of
 * the kernel's types for that, and asks for what takes CAP_SYS_ADMIN. Where the kernel has no such
 * function the call stays, and must not be reached.
 */
#define KFUNC_GET_KMEM_CACHE 0x6b66756e
#define KFUNC_RDONLY_CAST 0x6b66756f

#endif
