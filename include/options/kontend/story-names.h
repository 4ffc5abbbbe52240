/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_STORY_NAMES_H
#define KONTEND_STORY_NAMES_H

/* Names of the stories, in the order of their table (src/story/stories.c). */
#define STORY_NAMES "slots faults rotation uprobes mmap fork java flock cgroup"

#endif
