// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of locks of PostgreSQL 13 to 18, by the numbers that these versions give them. Lightweight
 * locks are numbered: first those that exist once, at fixed numbers, then kinds of which there are
 * many, one after the other.
 */
#include "internal.h"

enum { FIRST = 13, LAST = 18, ONCE_MOST = 54 };

/* Versions that have it: all from @from to @to. */
struct lock_name {
	const char *name;
	uint8_t from, to;
};

#define ALL FIRST, LAST

static const struct lock_name once[ONCE_MOST] = {
	[1] = {"ShmemIndex", ALL},
	[2] = {"OidGen", ALL},
	[3] = {"XidGen", ALL},
	[4] = {"ProcArray", ALL},
	[5] = {"SInvalRead", ALL},
	[6] = {"SInvalWrite", ALL},
	[7] = {"WALBufMapping", ALL},
	[8] = {"WALWrite", ALL},
	[9] = {"ControlFile", ALL},
	[10] = {"Checkpoint", 13, 13},
	[11] = {"XactSLRU", 13, 16},
	[12] = {"SubtransSLRU", 13, 16},
	[13] = {"MultiXactGen", ALL},
	[14] = {"MultiXactOffsetSLRU", 13, 16},
	[15] = {"MultiXactMemberSLRU", 13, 16},
	[16] = {"RelCacheInit", ALL},
	[17] = {"CheckpointerComm", ALL},
	[18] = {"TwoPhaseState", ALL},
	[19] = {"TablespaceCreate", ALL},
	[20] = {"BtreeVacuum", ALL},
	[21] = {"AddinShmemInit", ALL},
	[22] = {"Autovacuum", ALL},
	[23] = {"AutovacuumSchedule", ALL},
	[24] = {"SyncScan", ALL},
	[25] = {"RelationMapping", ALL},
	[26] = {"NotifySLRU", 13, 16},
	[27] = {"NotifyQueue", ALL},
	[28] = {"SerializableXactHash", ALL},
	[29] = {"SerializableFinishedList", ALL},
	[30] = {"SerializablePredicateList", ALL},
	[31] = {"SerialSLRU", 13, 16},
	[32] = {"SyncRep", ALL},
	[33] = {"BackgroundWorker", ALL},
	[34] = {"DynamicSharedMemoryControl", ALL},
	[35] = {"AutoFile", ALL},
	[36] = {"ReplicationSlotAllocation", ALL},
	[37] = {"ReplicationSlotControl", ALL},
	[38] = {"CommitTsSLRU", 13, 16},
	[39] = {"CommitTs", ALL},
	[40] = {"ReplicationOrigin", ALL},
	[41] = {"MultiXactTruncation", ALL},
	[42] = {"OldSnapshotTimeMap", 13, 16},
	[43] = {"LogicalRepWorker", ALL},
	[44] = {"XactTruncation", ALL},
	[46] = {"WrapLimitsVacuum", ALL},
	[47] = {"NotifyQueueTail", ALL},
	[48] = {"WaitEventCustom", 17, 18},
	[49] = {"WALSummarizer", 17, 18},
	[50] = {"DSMRegistry", 17, 18},
	[51] = {"InjectionPoint", 17, 18},
	[52] = {"SerialControl", 17, 18},
	[53] = {"AioWorkerSubmissionQueue", 18, 18},
};

/* In the order of all versions. */
static const struct lock_name many[] = {
	{"XactBuffer", ALL},
	{"CommitTsBuffer", ALL},
	{"SubtransBuffer", ALL},
	{"MultiXactOffsetBuffer", ALL},
	{"MultiXactMemberBuffer", ALL},
	{"NotifyBuffer", ALL},
	{"SerialBuffer", ALL},
	{"WALInsert", ALL},
	{"BufferContent", ALL},
	{"BufferIO", 13, 13},
	{"ReplicationOriginState", ALL},
	{"ReplicationSlotIO", ALL},
	{"LockFastPath", ALL},
	{"BufferMapping", ALL},
	{"LockManager", ALL},
	{"PredicateLockManager", ALL},
	{"ParallelHashJoin", ALL},
	{"ParallelBtreeScan", 18, 18},
	{"ParallelQueryDSA", ALL},
	{"PerSessionDSA", ALL},
	{"PerSessionRecordType", ALL},
	{"PerSessionRecordTypmod", ALL},
	{"SharedTupleStore", ALL},
	{"SharedTidBitmap", ALL},
	{"ParallelAppend", ALL},
	{"PerXactPredicateList", ALL},
	{"PgStatsDSA", 15, 18},
	{"PgStatsHash", 15, 18},
	{"PgStatsData", 15, 18},
	{"LogicalRepLauncherDSA", 16, 18},
	{"LogicalRepLauncherHash", 16, 18},
	{"DSMRegistryDSA", 17, 18},
	{"DSMRegistryHash", 17, 18},
	{"CommitTsSLRU", 17, 18},
	{"MultiXactMemberSLRU", 17, 18},
	{"MultiXactOffsetSLRU", 17, 18},
	{"NotifySLRU", 17, 18},
	{"SerialSLRU", 17, 18},
	{"SubtransSLRU", 17, 18},
	{"XactSLRU", 17, 18},
	{"ParallelVacuumDSA", 17, 18},
	{"AioUringCompletion", 18, 18},
};

static bool has(const struct lock_name *n, uint32_t version)
{
	return n->name && version >= n->from && version <= n->to;
}

const char *postgres_lwlock(uint32_t version, uint32_t id)
{
	uint32_t number = version >= 18 ? 54 : version >= 17 ? 53 : 48;

	if (version < FIRST || version > LAST)
		return NULL;
	if (id < number)
		return has(&once[id], version) ? once[id].name : NULL;
	for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
		if (has(&many[i], version) && number++ == id)
			return many[i].name;
	return NULL;
}

/* The numbers of these are the same in all versions. */
const char *postgres_lock(uint32_t type)
{
	static const char *const names[] = {
		"relation",   "extend",	   "frozenid", "page",	   "tuple",    "transactionid",
		"virtualxid", "spectoken", "object",   "userlock", "advisory", "applytransaction",
	};

	return type < sizeof(names) / sizeof(*names) ? names[type] : NULL;
}
