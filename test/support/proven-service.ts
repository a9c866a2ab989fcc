import { setImmediate as turn } from 'node:timers/promises';
import { newAgent } from '../../harness/agent.ts';
import { writeHistory } from '../../harness/history.ts';
import { patient } from '../../harness/patient.ts';
import { publishArtifact, publishProfile } from '../../harness/records.ts';
import { writeRecords } from '../../harness/records-of-member.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import type { Service } from './service.ts';

const PLENTY = '100000';
export const PLENTY_LIMITS = {
  LIMIT_WRITES_PER_DAY: PLENTY,
  LIMIT_BOOTSTRAP_ATTEMPTS: PLENTY,
  LIMIT_REGISTRATIONS_PER_DAY: PLENTY,
  LIMIT_MEMBERS: PLENTY,
};

/** Runs `work` again and again until `stop` is called, which throws what `work` threw. */
export function keepDoing(work: () => Promise<unknown>) {
  let stopped = false;
  let failed = false;
  let rounds = 0;
  const running = (async () => {
    while (!stopped) {
      await work();
      rounds++;
      await turn();
    }
  })();
  running.catch(() => {
    failed = true;
  });
  return {
    hasFailed: () => failed,
    async stop(): Promise<number> {
      stopped = true;
      await running;
      return rounds;
    },
  };
}

/** A member with records who leaves, and whose erasure takes many transactions. */
export async function joinAndLeave(service: Service): Promise<void> {
  const agent = await newAgent(patient(service));
  await publishProfile(agent);
  await publishArtifact(agent);
  await writeRecords(service.core.store, agent.id, 10, 'leaving');
  const deletion = { confirm_handle: agent.handle, erase_notes: Math.random() < 0.5 };
  const { status, text } = await agent.call('POST', '/api/v1/me/delete', deletion);
  // The deletion ends the credential with which it is repeated after an answer that was lost.
  if (status !== 200 && status !== 401) throw new Error(text);
  await eraseMembers(service.core);
}

export async function fillHistory(service: Service, members: number): Promise<void> {
  const { url } = service.database;
  await withConnection(url, (client) => writeHistory(client, { members, notes: 5 }));
  await rebuild(url, catalogue, projections);
}

/** Members join, write and leave; no row of the history is touched. */
export async function startLoad(service: Service) {
  const agent = await newAgent(patient(service));
  const loads = [keepDoing(() => publishArtifact(agent)), keepDoing(() => joinAndLeave(service))];
  return () => Promise.all(loads.map((load) => load.stop()));
}
