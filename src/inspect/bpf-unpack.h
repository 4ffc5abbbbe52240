/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_BPF_UNPACK_H
#define KONTEND_INSPECT_BPF_UNPACK_H

#include <stddef.h>

struct bpf_object;
struct bpf_object_open_opts;

/* Opens an object as bpf-strip.py packs it. NULL with errno. bpf_object__close() it. */
struct bpf_object *bpf_open(const char *packed, size_t len,
			    const struct bpf_object_open_opts *opts);

#endif
