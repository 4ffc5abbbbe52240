-- Which machines are unlike the others? Waiting per second of measuring, far from the median of all.
WITH rates AS (
  SELECT host, machine_id, sum(total_ns) / (sum(bucket_ns) / 1e9) AS ns_per_s
  FROM kontend_rows
  WHERE "table" = 'parts'
  GROUP BY host, machine_id
),
middle AS (
  SELECT median(ns_per_s) AS median_ns_per_s FROM rates
),
spread AS (
  SELECT median(abs(ns_per_s - median_ns_per_s)) AS usual FROM rates CROSS JOIN middle
)
-- The modified z-score of Iglewicz and Hoaglin, who call those above 3.5 outliers.
SELECT host, machine_id, ns_per_s, median_ns_per_s, 0.6745 * (ns_per_s - median_ns_per_s) / usual AS score
FROM rates CROSS JOIN middle CROSS JOIN spread
WHERE abs(0.6745 * (ns_per_s - median_ns_per_s)) > 3.5 * usual
ORDER BY abs(ns_per_s - median_ns_per_s) DESC, host;
