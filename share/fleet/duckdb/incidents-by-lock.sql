-- Because of which locks did triggers fire, how often, on how many machines?
SELECT name, expr, count(*) AS incidents,
       count(DISTINCT machine_id) AS machines,
       max(worst_ns) AS worst_ns
FROM kontend_rows
WHERE "table" = 'incidents'
GROUP BY name, expr
ORDER BY incidents DESC, name, expr;
