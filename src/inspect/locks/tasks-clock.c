// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's clock of a CPU, as /proc/PID/sched has the times at which tasks ran. On a machine
 * that has been up for hours those of two CPUs may differ by a second.
 */
#include "files.h"
#include "tasks.h"

bool tasks_clock_ahead(struct tasks_clocks *c, const char *proc, int cpu, int64_t *ret)
{
	cpu_set_t one;

	for (size_t i = 0; i < c->n; i++) {
		*ret = c->of[i].ahead_ns;
		if (c->of[i].cpu == cpu)
			return c->of[i].known;
	}
	if (c->n == sizeof(c->of) / sizeof(c->of[0]) || cpu < 0 || cpu >= CPU_SETSIZE)
		return false;
	struct tasks_clock *to = &c->of[c->n++];
	*to = (struct tasks_clock){.cpu = cpu};
	if (!c->is_moved && sched_getaffinity(0, sizeof(c->before), &c->before) < 0)
		return false;
	c->is_moved = true;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) == 0)
		to->known = files_clock_ahead(proc, &to->ahead_ns);
	*ret = to->ahead_ns;
	return to->known;
}

void tasks_clocks_end(struct tasks_clocks *c)
{
	/* It had this set before. */
	if (c->is_moved)
		(void)sched_setaffinity(0, sizeof(c->before), &c->before);
	c->is_moved = false;
}
