/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_KFUNC_CALL_H
#define KONTEND_INSPECT_KFUNC_CALL_H

/*
 * In programs of a section "kfunc/NAME" calls of this helper, which there is not, become calls of
 * the kernel's function NAME when they are loaded. libbpf does it for functions that are declared,
 * but reads all of the kernel's types for that, and asks for what takes CAP_SYS_ADMIN.
 */
#define KFUNC_CALL 0x6b66756e

#endif
