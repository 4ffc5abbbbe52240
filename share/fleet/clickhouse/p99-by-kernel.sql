-- How long do the slowest of 100 waits take, by version of the kernel and type of lock?
WITH bars AS (
  SELECT kernel, type, mode, from_ns, to_ns, n
  FROM kontend_rows
  ARRAY JOIN hist_from_ns AS from_ns, hist_to_ns AS to_ns, hist_n AS n
  WHERE `table` = 'types'
),
merged AS (
  SELECT kernel, type, mode, from_ns, to_ns, sum(n) AS n
  FROM bars
  GROUP BY kernel, type, mode, from_ns, to_ns
),
ranked AS (
  SELECT kernel, type, mode, from_ns, to_ns,
         sum(n) OVER (PARTITION BY kernel, type, mode ORDER BY from_ns
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS up_to,
         sum(n) OVER (PARTITION BY kernel, type, mode) AS all_waits
  FROM merged
)
SELECT kernel, type, mode, max(all_waits) AS waits,
       -- The middle of the first bucket with which 99 of 100 are reached, as in p99_ns of a row.
       min(from_ns + intDiv(to_ns - from_ns, 2)) AS p99_ns
FROM ranked
WHERE 100 * up_to >= 99 * all_waits
GROUP BY kernel, type, mode
ORDER BY p99_ns DESC, kernel, type, mode;
