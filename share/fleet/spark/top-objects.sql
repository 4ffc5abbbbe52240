-- Which things do the locks belong to that cost most over all machines? By what kontend calls them.
SELECT type, mode, object,
       sum(contended) AS waits,
       sum(total_ns) AS wait_ns,
       count(DISTINCT machine_id) AS machines
FROM kontend_rows
WHERE `table` = 'locks'
GROUP BY type, mode, object
ORDER BY wait_ns DESC, type, mode, object
LIMIT 20;
