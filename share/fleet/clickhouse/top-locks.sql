-- Which locks cost most over all machines? By the function that waits, type and mode.
SELECT type, mode, caller,
       sum(contended) AS waits,
       sum(total_ns) AS wait_ns,
       max(max_ns) AS longest_ns,
       count(DISTINCT machine_id) AS machines
FROM kontend_rows
WHERE `table` = 'callers'
GROUP BY type, mode, caller
ORDER BY wait_ns DESC, type, mode, caller
LIMIT 20;
