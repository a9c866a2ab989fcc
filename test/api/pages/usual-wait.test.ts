import pg from 'pg';
import t from 'tap';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { createUsualWait } from '../../../services/pages/site/usual-wait.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { startService } from '../../support/service.ts';
import { recordStatements } from '../../support/statements.ts';

t.test('says how long a review usually takes, by the decisions of the last weeks', async (t) => {
  const statements = recordStatements(t);
  const service = await startService(t, { LIMIT_NOTES_PER_TEN_MINUTES: '1000' });
  const ann = await addModerator(service, 'Ann');
  const { config, readPool } = service.core;
  const usualWait = createUsualWait({ config, readPool, keptMs: 0 });
  const send = async (count: number) => {
    const notes = Array.from({ length: count }, (_, n) =>
      submit(service, { message: `Note ${n}` }),
    );
    return (await Promise.all(notes)).map(({ id }) => id);
  };
  const decideAll = async (ids: readonly string[]) => {
    for (const [n, id] of ids.entries()) await decide(ann, id, n % 2 === 0 ? 'approve' : 'reject');
  };

  const slowest = await send(3);
  await advanceTime(service, '10 hours');
  const slow = await send(5);
  await advanceTime(service, '140 minutes');
  await decideAll([...slowest, ...slow, ...(await send(11))]);
  t.equal(await usualWait(), undefined, 'decisions of this week are not published');
  await advanceTime(service, '8 days');
  t.equal(await usualWait(), undefined, '19 decisions are too few');
  await decideAll(await send(1));
  await advanceTime(service, '8 days');
  t.equal(await usualWait(), 'within 3 hours', 'three of four took no longer');

  const [waiting] = await send(1);
  const read = async (path: string) => (await service.call('GET', path)).text;
  statements.clear();
  for (const path of ['/', '/', '/guestbook/two-clerks', `/notes/${waiting}/sent`])
    t.match(await read(path), /usually (read a note )?within 3 hours\./, path);
  const reads = [...statements].filter(([text]) => /moderation_weeks/.test(text));
  t.same(
    reads.map(([, { times }]) => times),
    [1],
    'all views share one read',
  );
  t.notMatch(await read(`/notes/${slow[0]}/sent`), /within/, 'a decided note waits no longer');

  const pool = new pg.Pool({ connectionString: service.database.url });
  const failing = createUsualWait({ config, readPool: pool, keptMs: 0 });
  t.equal(await failing(), 'within 3 hours');
  await pool.end();
  t.equal(await failing(), 'within 3 hours', 'what was read last outlasts a failure');

  await advanceTime(service, '28 days');
  t.equal(await usualWait(), undefined, 'older decisions do not count');
});

t.test('says nothing about the wait before anything was decided', async (t) => {
  const service = await startService(t);
  t.match(
    (await service.call('GET', '/')).text,
    'Leave a note. A moderator reads it first. Names are not verified.',
  );
  const { id } = await submit(service);
  t.notMatch((await service.call('GET', `/notes/${id}/sent`)).text, /usually/);
});
