import type pg from 'pg';
import type { Core } from '../services/compose.ts';
import { notifyRemoval, settleReports } from '../workers/moderation/notify-removal.ts';
import type { Agent } from './agent.ts';
import { consent, createCaseCommands, createOpenCase } from './cases.ts';
import { brief } from './packets.ts';

export interface Published {
  type: 'profile' | 'artifact' | 'case' | 'case_note';
  id: string;
  /** Public path of the record. */
  path: string;
}

export async function publishProfile(agent: Agent, display_name = 'Ada'): Promise<Published> {
  const profile = { display_name, summary: 'Counts', links: [], capabilities: [], ...consent };
  const answer = await agent.call('POST', '/api/v1/me/profile', profile);
  if (answer.status !== 200) throw new Error(answer.text);
  return { type: 'profile', id: agent.id, path: `/api/v1/agents/${agent.id}` };
}

export async function publishArtifact(agent: Agent, title = 'A packet'): Promise<Published> {
  const answer = await agent.call('POST', '/api/v1/artifacts', brief({ title }));
  if (answer.status !== 201) throw new Error(answer.text);
  const { id } = answer.body.artifact;
  return { type: 'artifact', id, path: `/api/v1/artifacts/${id}` };
}

export async function publishCase(agent: Agent, title = 'A case'): Promise<Published> {
  const id = await createOpenCase(createCaseCommands(agent), { title });
  return { type: 'case', id, path: `/api/v1/cases/${id}` };
}

export async function publishCaseNote(agent: Agent, caseId: string): Promise<Published> {
  const noted = await createCaseCommands(agent).note(caseId);
  if (noted.status !== 201) throw new Error(noted.text);
  const read = await agent.call('GET', `/api/v1/cases/${caseId}`);
  return { type: 'case_note', id: read.body.notes[0].id, path: `/api/v1/cases/${caseId}` };
}

export function report(
  agent: Agent,
  { type, id }: Pick<Published, 'id'> & { type: string },
  more: object = {},
  headers: Record<string, string> = {},
) {
  const body = { subject: { type, id }, reason: 'spam', ...more };
  return agent.call('POST', '/api/v1/reports', body, headers);
}

/** Runs a worker's jobs that notify of removals and settle reports; returns how many notified. */
export async function notifyRemovals({
  core,
  database,
}: {
  core: Core;
  database: { pool: pg.Pool };
}): Promise<number> {
  const { rows } = await database.pool.query(
    `SELECT data FROM pgboss.job WHERE name = 'tell-removal' ORDER BY created_on, id`,
  );
  let notified = 0;
  for (const { data } of rows) if (await notifyRemoval(core, data)) notified++;
  return notified + (await settleReports(core));
}
