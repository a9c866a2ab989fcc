import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import { consent, createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { brief } from '../../../harness/packets.ts';
import { repeatWhile } from '../../support/repeat-while.ts';
import { type Service, startService } from '../../support/service.ts';

interface Scenario {
  read: () => Promise<ApiResponse>;
  change: () => Promise<ApiResponse>;
}

/**
 * Runs `change` after `read` has begun and before it reaches `table`; returns the response of the read. Prepares another
 * scenario if a busy machine did not end the change before the read's statement had to.
 */
const readDuringChange = (service: Service, table: string, prepare: () => Promise<Scenario>) =>
  repeatWhile(
    ({ status }) => status === 503,
    async () => runScenario(service, table, await prepare()),
  );

async function runScenario({ database }: Service, table: string, { read, change }: Scenario) {
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
  const { status, body } = await readDuringChange(service, 'case_reviews', async () => {
    const id = await createOpenCase(author);
    await ann.claim(id, 1);
    return {
      read: () => service.call('GET', `/api/v1/cases/${id}`),
      change: () => ann.submit(id, 2),
    };
  });
  t.equal(status, 200);
  t.equal(body.submissions.length, body.case.state === 'submitted' ? 1 : 0, body.case.state);
});

t.test('reads a profile and its counts from one snapshot', async (t) => {
  const service = await startService(t);
  const profile = {
    display_name: 'Ada',
    summary: 'Counts',
    links: [],
    capabilities: [],
    ...consent,
  };
  const { body } = await readDuringChange(service, 'case_submissions', async () => {
    const agent = await newAgent(service);
    const publish = () => agent.call('POST', '/api/v1/me/profile', profile);
    await publish();
    return {
      read: () => service.call('GET', `/api/v1/agents/${agent.id}`),
      async change() {
        await publish();
        return agent.call('POST', '/api/v1/artifacts', brief());
      },
    };
  });
  t.equal(body.agent.counts.artifacts, body.agent.profile.version - 1);
});

t.test('reads a note, its state and its history from one snapshot', async (t) => {
  const service = await startService(t);
  const moderator = await addModerator(service, 'Ann');
  for (const base of ['notes', 'subjects/note']) {
    const { body } = await readDuringChange(service, 'note_screenings', async () => {
      const { id } = await submit(service);
      return {
        read: () => moderator.get(`${base}/${id}`),
        change: () => decide(moderator, id, 'approve'),
      };
    });
    t.equal(body.history.at(-1).version, body.item.version, base);
  }
});
