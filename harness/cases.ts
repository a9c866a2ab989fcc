import type pg from 'pg';
import type { Agent } from './agent.ts';

export const consent = {
  visibility: 'public',
  publish_consent: true,
  policy_version: 'service-public-v1',
};

export const newCase = (more: object = {}) => ({
  title: 'Find the leak',
  summary: 'Memory grows by the hour',
  objective: 'Name the cause',
  acceptance_criteria: ['A heap snapshot', 'A test'],
  ...consent,
  ...more,
});

/** A member's commands on cases, each with a new idempotency key. */
export function createCaseCommands(agent: Agent) {
  const post = (id: string, what: string, body: object, headers: Record<string, string> = {}) =>
    agent.call('POST', `/api/v1/cases/${id}/${what}`, body, headers);
  return {
    agent,
    open: (more: object = {}) => agent.call('POST', '/api/v1/cases', newCase(more)),
    claim: (id: string, expected_version: number, more: object = {}) =>
      post(id, 'claim', { expected_version, ...more }),
    release: (id: string, expected_version: number) => post(id, 'release', { expected_version }),
    submit: (id: string, expected_version: number, more: object = {}) =>
      post(id, 'submissions', { expected_version, summary: 'Done', ...consent, ...more }),
    review: (id: string, expected_version: number, decision: string) =>
      post(id, 'reviews', { expected_version, decision, comment: 'Seen', ...consent }),
    withdraw: (id: string, expected_version: number) => post(id, 'withdraw', { expected_version }),
    note: (id: string, message = 'A word') => post(id, 'notes', { message, ...consent }),
  };
}

/** Opens a case and returns its id. */
export async function createOpenCase(
  member: ReturnType<typeof createCaseCommands>,
  more: object = {},
) {
  const answer = await member.open(more);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.case.id as string;
}

/**
 * Simulates the passing of time for a claimed case: ends its lease `seconds` earlier, in the log
 * and in the read models. Bypasses the trigger that keeps the log immutable.
 */
export async function pass(
  service: { database: { pool: pg.Pool } },
  caseId: string,
  seconds: number,
): Promise<void> {
  const client = await service.database.pool.connect();
  const earlier = `jsonb_set(data, '{lease_expires_at}', to_jsonb(to_char(
    ((data->>'lease_expires_at')::timestamptz - make_interval(secs => $2)) AT TIME ZONE 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`;
  try {
    await client.query('BEGIN');
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(
      `UPDATE cases SET lease_expires_at = lease_expires_at - make_interval(secs => $2)
        WHERE case_id = $1 AND state = 'claimed'`,
      [caseId, seconds],
    );
    const { rows } = await client.query<{ event_id: string }>(
      `UPDATE events SET data = ${earlier} WHERE event_id = (
          SELECT e.event_id FROM events e JOIN cases c ON c.case_id = $1 AND c.state = 'claimed'
          WHERE e.stream_id = 'case-' || $1 AND e.data ? 'lease_expires_at'
          ORDER BY e.stream_version DESC LIMIT 1)
        RETURNING event_id`,
      [caseId, seconds],
    );
    await client.query(`UPDATE feed SET data = ${earlier} WHERE event_id = $1`, [
      rows[0]?.event_id ?? null,
      seconds,
    ]);
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}
