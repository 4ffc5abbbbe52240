-- Which recordings of a machine are of the same time, so that their waits count twice?
WITH recordings AS (
  SELECT host, machine_id, boot_id, recording_start_ns,
         min(bucket_start_ns) AS from_ns, max(bucket_start_ns + bucket_ns) AS to_ns
  FROM kontend_rows
  WHERE `table` = 'parts' AND machine_id IS NOT NULL
  GROUP BY host, machine_id, boot_id, recording_start_ns
)
SELECT a.host AS host, a.machine_id AS machine_id, a.recording_start_ns AS one_start_ns,
       b.recording_start_ns AS other_start_ns, least(a.to_ns, b.to_ns) - b.from_ns AS both_ns
FROM recordings AS a
JOIN recordings AS b ON a.machine_id = b.machine_id AND a.boot_id = b.boot_id
WHERE a.recording_start_ns < b.recording_start_ns AND b.from_ns < a.to_ns
ORDER BY both_ns DESC, host, one_start_ns, other_start_ns;
