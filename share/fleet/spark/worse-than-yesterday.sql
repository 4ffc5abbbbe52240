-- What got worse since yesterday? Waiting per second of measuring, on the last day and on the one before.
WITH days AS (
  SELECT bucket_start_ns DIV 86400000000000 AS day, `table` AS kind, type, mode, caller, total_ns, bucket_ns
  FROM kontend_rows
  WHERE `table` IN ('callers', 'parts') AND bucket_start_ns IS NOT NULL
),
lengths AS (
  SELECT day, sum(bucket_ns) / 1e9 AS seconds FROM days WHERE kind = 'parts' GROUP BY day
),
sums AS (
  SELECT type, mode, caller,
         sum(CASE WHEN day = (SELECT max(day) FROM days) THEN total_ns ELSE 0 END)
           / (SELECT max(seconds) FROM lengths WHERE day = (SELECT max(day) FROM days)) AS now_ns_per_s,
         sum(CASE WHEN day = (SELECT max(day) - 1 FROM days) THEN total_ns ELSE 0 END)
           / (SELECT max(seconds) FROM lengths WHERE day = (SELECT max(day) - 1 FROM days)) AS before_ns_per_s
  FROM days
  WHERE kind = 'callers'
  GROUP BY type, mode, caller
)
SELECT type, mode, caller, before_ns_per_s, now_ns_per_s, now_ns_per_s - before_ns_per_s AS more_ns_per_s
FROM sums
WHERE now_ns_per_s > 1.2 * before_ns_per_s
ORDER BY more_ns_per_s DESC, type, mode, caller
LIMIT 20;
