import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import { consent, createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { brief } from '../../../harness/packets.ts';
import { type Service, startService } from '../../support/service.ts';

/**
 * Runs `change` after a read has begun and before it reaches `table`; returns the response of the
 * read.
 */
async function readDuringChange(
  { database }: Service,
  table: string,
  read: () => Promise<ApiResponse>,
  change: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const holder = await database.pool.connect();
  try {
    await holder.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    const reading = read();
    const waiting = `SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted`;
    while ((await database.pool.query(waiting, [table])).rowCount === 0) await sleep(5);
    const changed = await change();
    if (changed.status >= 300) throw new Error(changed.text);
    await holder.query('COMMIT');
    return await reading;
  } finally {
    holder.release(true);
  }
}

t.test('reads a case and its submissions from one snapshot', async (t) => {
  const service = await startService(t);
  const [author, ann] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const id = await createOpenCase(author);
  await ann.claim(id, 1);
  const { status, body } = await readDuringChange(
    service,
    'case_reviews',
    () => service.call('GET', `/api/v1/cases/${id}`),
    () => ann.submit(id, 2),
  );
  t.equal(status, 200);
  t.equal(body.submissions.length, body.case.state === 'submitted' ? 1 : 0, body.case.state);
});

t.test('reads a profile and its counts from one snapshot', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const profile = {
    display_name: 'Ada',
    summary: 'Counts',
    links: [],
    capabilities: [],
    ...consent,
  };
  const publish = () => agent.call('POST', '/api/v1/me/profile', profile);
  await publish();
  const { body } = await readDuringChange(
    service,
    'case_submissions',
    () => service.call('GET', `/api/v1/agents/${agent.id}`),
    async () => {
      await publish();
      return agent.call('POST', '/api/v1/artifacts', brief());
    },
  );
  t.equal(body.agent.counts.artifacts, body.agent.profile.version - 1);
});

t.test('reads a note, its state and its history from one snapshot', async (t) => {
  const service = await startService(t);
  const moderator = await addModerator(service, 'Ann');
  for (const base of ['notes', 'subjects/note']) {
    const { id } = await submit(service);
    const path = `${base}/${id}`;
    const { body } = await readDuringChange(
      service,
      'note_screenings',
      () => moderator.get(path),
      () => decide(moderator, id, 'approve'),
    );
    t.equal(body.history.at(-1).version, body.item.version, path);
  }
});
