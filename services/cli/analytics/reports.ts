/** What an operator asks first, to tune ceilings, limits and policies. */
export type Report = { readonly name: string; readonly title: string; readonly sql: string };

/** A held call gets a second row once it is decided, so only terminal decisions are counted. */
const DECIDED = "kind IN ('allowed', 'refused')";
const HELD_TOO = "kind IN ('allowed', 'refused', 'held')";

export const REPORTS: readonly Report[] = [
  {
    name: "tools",
    title: "Refusals by tool",
    sql: `
      SELECT tool,
        count(*) FILTER (${DECIDED}) AS decisions,
        count(*) FILTER (kind = 'refused') AS refused,
        count(*) FILTER (kind = 'held') AS held,
        round(100.0 * count(*) FILTER (kind = 'refused')
          / nullif(count(*) FILTER (${DECIDED}), 0), 1) AS refused_percent,
        mode(reason) FILTER (kind = 'refused') AS most_often
      FROM decisions WHERE ${HELD_TOO}
      GROUP BY tool ORDER BY refused DESC, decisions DESC, tool LIMIT 20`,
  },
  {
    // A tier with a grant holds a call only if the grant does not cover it.
    name: "grants",
    title: "Grants: calls of a conversation, and how often the ceiling was hit",
    sql: `
      WITH uses AS (
        SELECT coalesce(grant_tier, tier) AS tier, tenant_id, conversation_id,
          count(*) FILTER (grant_tier IS NOT NULL) AS calls,
          bool_or(reason = 'grant_exceeded' OR kind = 'held') AS exhausted
        FROM decisions
        WHERE ${HELD_TOO} AND (grant_tier IS NOT NULL OR reason = 'grant_exceeded'
          OR (kind = 'held' AND tier IN (SELECT grant_tier FROM decisions)))
        GROUP BY ALL)
      SELECT tier,
        count(*) AS conversations,
        quantile_disc(calls, 0.5) AS calls_p50,
        quantile_disc(calls, 0.95) AS calls_p95,
        max(calls) AS calls_most,
        round(100.0 * count(*) FILTER (exhausted) / count(*), 1) AS exhausted_percent
      FROM uses GROUP BY tier ORDER BY exhausted_percent DESC, tier`,
  },
  {
    name: "conversations",
    title: "Conversations with the most tool calls, a row for each currency",
    sql: `
      WITH largest AS (
        SELECT tenant_id, conversation_id,
          count(*) FILTER (kind = 'allowed') AS calls,
          count(*) FILTER (kind = 'refused') AS refused,
          round((max(at_ms) - min(at_ms)) / 1000, 0)::BIGINT AS seconds
        FROM decisions WHERE conversation_id IS NOT NULL
        GROUP BY tenant_id, conversation_id
        ORDER BY calls DESC, refused DESC, conversation_id, tenant_id LIMIT 10),
      spent AS (
        SELECT tenant_id, conversation_id, currency, round(sum(cost_micro_units) / 1e6, 2) AS spend
        FROM decisions WHERE cost_micro_units IS NOT NULL GROUP BY ALL)
      SELECT tenant_id, conversation_id, calls, refused, spend, currency, seconds
      FROM largest LEFT JOIN spent USING (tenant_id, conversation_id)
      ORDER BY calls DESC, refused DESC, conversation_id, tenant_id, currency`,
  },
  {
    name: "latency",
    title: "Time from a proposal to its decision, ms",
    sql: `
      SELECT kind AS outcome, count(*) AS decisions,
        quantile_disc(latency_ms, 0.5) AS p50,
        quantile_disc(latency_ms, 0.99) AS p99,
        max(latency_ms) AS most
      FROM decisions WHERE latency_ms IS NOT NULL GROUP BY kind ORDER BY kind`,
  },
];
