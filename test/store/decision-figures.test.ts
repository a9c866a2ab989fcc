import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, decide, type Moderator, submit } from '../../harness/moderation.ts';
import { publishArtifact, report } from '../../harness/records.ts';
import { MIGRATIONS } from '../../platform/postgres/migrate.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { startService } from '../support/service.ts';

const MIGRATION = ['0013-decision-figures.sql', '0022-moderation-weeks.sql']
  .map((file) => readFileSync(join(MIGRATIONS, file), 'utf8'))
  .join('');

interface Figures {
  decision: string;
  overturned: boolean;
  findings: string[] | null;
  confirmed: boolean | null;
  age: number | null;
  handling: number | null;
}

const figures = async (client: pg.Pool | pg.PoolClient): Promise<Figures[]> =>
  (await client.query<Figures>('SELECT * FROM decision_figures ORDER BY event_id')).rows;

const weeks = async (client: pg.Pool | pg.PoolClient): Promise<object[]> =>
  (await client.query('SELECT * FROM moderation_weeks ORDER BY moderation_weeks')).rows;

async function act(moderator: Moderator, path: string, action: object) {
  const item = (await moderator.get(path)).body.item;
  const answer = await moderator.post(`${path}/decisions`, {
    ...action,
    expected_version: item.version,
  });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
}

t.test('an upgrade writes the figures that the projection writes', async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const agents = [await newAgent(service), await newAgent(service)] as const;
  const remove = { action: 'remove', policy: 'spam' };

  const flagged = await submit(service, { message: 'Shit, see example.com' });
  await screenNote(service.core, { note_id: flagged.id });
  await ann.post('claims', { note_ids: [flagged.id] });
  await decide(ann, flagged.id, 'approve');
  await act(ann, `notes/${flagged.id}`, remove);
  const restored = await submit(service);
  await decide(ann, restored.id, 'approve');
  await act(ann, `notes/${restored.id}`, remove);
  await act(lea, `notes/${restored.id}`, { action: 'restore' });
  const undone = await submit(service, { message: 'Shit happens' });
  await screenNote(service.core, { note_id: undone.id });
  const { body } = await decide(ann, undone.id, 'reject');
  await ann.post(`decisions/${body.event_id}/undo`, { expected_version: body.version });

  for (const then of [{ action: 'keep' }, remove, 'restore', 'undo'] as const) {
    const packet = await publishArtifact(agents[0]);
    await report(agents[1], packet);
    const path = `subjects/artifact/${packet.id}`;
    const { event_id, version } = await act(ann, path, typeof then === 'string' ? remove : then);
    if (then === 'restore') await act(lea, path, { action: 'restore' });
    if (then === 'undo')
      await ann.post(`decisions/${event_id}/undo`, { expected_version: version });
  }

  const projected = await figures(service.database.pool);
  const count = (is: (row: Figures) => boolean) => projected.filter(is).length;
  t.equal(projected.length, 11);
  t.equal(
    count(({ overturned }) => overturned),
    6,
  );
  t.equal(
    count(({ confirmed }) => confirmed === true),
    2,
    'both decisions on the flagged note',
  );
  t.equal(
    count(({ findings, confirmed }) => findings !== null && confirmed === null),
    1,
    'pending',
  );
  t.equal(
    count(({ handling }) => handling !== null),
    1,
  );
  const counted = await weeks(service.database.pool);
  t.equal(counted.length > 5, true, `${counted.length} counts`);
  const client = await service.database.pool.connect();
  await client.query(`BEGIN; DROP TABLE decision_figures, moderation_weeks; ${MIGRATION}`);
  t.same(await figures(client), projected);
  t.same(await weeks(client), counted);
  await client.query('ROLLBACK');
  client.release();
});
