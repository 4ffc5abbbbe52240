// SPDX-License-Identifier: GPL-2.0-only
/*
 * The differences between synthetic recordings of a fleet: name, id, boot, kernel and day; the
 * functions of its chains have names, the same on all machines.
 */
#include "synthetic-machine.h"
#include "kontend/incident.h"
#include "kontend/machineid.h"
#include "kontend/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_NS 86400000000000ull
/* 23 Nov 2026 12:00:00 UTC */
#define FIRST_NS 1795435200000000000ull

/* So it keeps the name that it has. */
#define NOT_WAITED_FOR 0xffff88b000000000ull

static const char *const kernels[] = {"6.1.0-27-amd64", "6.12.41", "6.18.44"};

static uint64_t wall_ns(const struct synthetic_machine *m)
{
	return FIRST_NS + m->day * DAY_NS + m->ahead_s * 1000000000ull;
}

static const char *kernel_of(const struct synthetic_machine *m)
{
	return kernels[m->kernel % (sizeof(kernels) / sizeof(*kernels))];
}

static void name_machine(const struct synthetic_machine *m, struct record_machine *ret)
{
	char raw[40];

	*ret = (struct record_machine){.kontend = "0.1.0"};
	snprintf(raw, sizeof(raw), "%032" PRIx32, m->number);
	snprintf(ret->host, sizeof(ret->host), "m%04" PRIu32, m->number);
	if (m->nameless)
		return;
	machineid_of(raw, ret->id);
	snprintf(ret->boot, sizeof(ret->boot), "%08" PRIx32 "-0000-4000-8000-%012" PRIx32,
		 m->number, m->day);
}

static char *symbols_of(const struct synthetic_machine *m)
{
	enum { LINE = 64 };
	char *text = malloc((m->chains + 1) * (size_t)LINE);
	size_t at = 0;

	if (!text)
		abort();
	at = (size_t)snprintf(text, LINE, "%llx T outer\n", SYNTHETIC_OUTER);
	for (uint32_t i = 0; i < m->chains; i++)
		at += (size_t)snprintf(text + at, LINE, "%llx T call_%" PRIu32 "\n",
				       SYNTHETIC_CHAINS + i * SYNTHETIC_FUNCTION, i);
	return text;
}

static void put_snapshot(struct synth *s, uint16_t kind, uint16_t version, const void *payload,
			 size_t len)
{
	struct {
		struct record_snapshot head;
		char payload[2048];
	} body = {.head = {.kind = kind, .version = version}};

	if (len > sizeof(body.payload))
		abort();
	memcpy(body.payload, payload, len);
	synth_record(s, RECORD_SNAPSHOT, 0, &body, sizeof(body.head) + len);
}

static void put_incident(struct synth *s, const struct synthetic_machine *m)
{
	const uint64_t t = m->from_ns;
	struct incident in = {.fired_ns = t + 3000000,
			      .begin_ns = t + 1000000,
			      .end_ns = t + 4000000,
			      .from_ns = t,
			      .to_ns = t + 5000000,
			      .worst_ns = 2000000,
			      .lock = NOT_WAITED_FOR + m->incident_lock * 64ull,
			      .pid = 1000,
			      .tid = 1000,
			      .expr = "wait>1ms",
			      .fired = "wait 2ms",
			      .task = "t0.0"};

	snprintf(in.lock_name, sizeof(in.lock_name), "i_rwsem /data/%" PRIu32,
		 m->incident_lock - 1);
	put_snapshot(s, SNAPSHOT_INCIDENT, INCIDENT_VERSION, &in, sizeof(in));
}

void synthetic_machine_put(struct synth *s, const struct synthetic_machine *m)
{
	char *symbols = symbols_of(m);
	struct record_machine machine;
	struct record_host *host;

	synth_prologue(s, symbols);
	free(symbols);
	host = synth_at(s, 0)->owner;
	host->wall_ns = wall_ns(m);
	snprintf(host->release, sizeof(host->release), "%s", kernel_of(m));
	name_machine(m, &machine);
	put_snapshot(s, SNAPSHOT_MACHINE, RECORD_MACHINE_VERSION, &machine, sizeof(machine));
	if (m->incident_lock)
		put_incident(s, m);
	if (m->foreign)
		put_snapshot(s, SNAPSHOT_COST, RECORD_COST_VERSION + 1, "", 1);
}

void synthetic_machine_print(const struct synthetic_machine *m)
{
	struct record_machine machine;

	name_machine(m, &machine);
	printf("\"host\":\"%s\",\"machine_id\":\"%s\",\"boot_id\":\"%s\",\"kernel\":\"%s\","
	       "\"wall_ns\":%" PRIu64 ",\"incident_lock\":%" PRIi64 ",\n",
	       machine.host, machine.id, machine.boot, kernel_of(m), wall_ns(m),
	       (int64_t)m->incident_lock - 1);
}
