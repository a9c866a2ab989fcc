import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newAgent } from '../harness/agent.ts';
import { decide, hire, submit } from '../harness/moderation.ts';
import { assertRebuilt } from '../harness/rebuilt.ts';
import { signedIn } from '../harness/registration.ts';
import { MIGRATIONS } from '../services/migrate.ts';
import { type Service, startService } from './harness/service.ts';

/** A migration once more, on rows as an earlier release left them; then they are as a rebuild has them. */
async function corrected({ database }: Service, name: string): Promise<void> {
  await database.pool.query(readFileSync(join(MIGRATIONS, `${name}.sql`), 'utf8'));
  await assertRebuilt(database);
}

t.test('0025: a note that an appeal made public gets its entry in the public record', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [ann, bob] = [await hire(service, 'Ann'), await hire(service, 'Bob')];
  const { handle, cookie } = await signedIn(service);
  const member = { name: '', attribution: 'member', member_handle: handle };
  const granted: string[] = [];
  for (const first of ['reject', 'approve'] as const) {
    const { id } = await submit(service, member, cookie);
    const post = (action: string, expected_version: number, more = {}) =>
      bob.post(`notes/${id}/decisions`, { action, expected_version, ...more });
    await decide(ann, id, first);
    let version = 2;
    if (first === 'approve')
      version = (await post('remove', version, { policy: 'spam' })).body.version;
    const body = { text: 'Please' };
    await service.call('POST', `/api/guestbook/${id}/appeal`, { body, cookie });
    const moderator = first === 'approve' ? ann : bob;
    const path = `notes/${id}/decisions`;
    const grant = { action: 'grant', expected_version: version + 1 };
    granted.push((await moderator.post(path, grant)).body.event_id);
  }
  await service.tamper('DELETE FROM activity WHERE entry_id = ANY($1)', [granted]);
  await corrected(service, '0025-first-publications-and-ends');
  const { rows } = await service.database.pool.query(
    'SELECT entry_id FROM activity WHERE entry_id = ANY($1)',
    [granted],
  );
  t.same(rows, [{ entry_id: granted[0] }], 'what was removed had one');
});

t.test('0025: the feed tells in Unix seconds when a session or credential ends', async (t) => {
  const service = await startService(t);
  await newAgent(service);
  await signedIn(service);
  const ends = async () =>
    (
      await service.database.pool.query(
        `SELECT member_id, sequence, data->'expires_at' AS expires_at FROM feed
         WHERE data ? 'expires_at' ORDER BY member_id, sequence`,
      )
    ).rows;
  const before = await ends();
  t.equal(before.length, 2);
  t.ok(before.every(({ expires_at }) => Number.isInteger(expires_at)));
  await service.tamper(
    `UPDATE feed SET data = jsonb_set(feed.data, '{expires_at}', e.data->'expires_at')
     FROM events e WHERE e.event_id = feed.event_id AND e.data ? 'expires_at'`,
  );
  t.ok((await ends()).every(({ expires_at }) => /Z$/.test(expires_at)));
  await corrected(service, '0025-first-publications-and-ends');
  t.same(await ends(), before);
});

t.test('0034: what was reported of a note that its author withdrew is withdrawn', async (t) => {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  const { handle, cookie } = await signedIn(service);
  const { id } = await submit(
    service,
    { name: '', attribution: 'member', member_handle: handle },
    cookie,
  );
  const { body } = await decide(ann, id, 'approve');
  await service.call('POST', `/api/guestbook/${id}/report`, { body: { reason: 'spam' } });
  await ann.post(`decisions/${body.event_id}/undo`, { expected_version: 3 });
  const reject = { action: 'reject', expected_version: 4, policy: 'spam' };
  const rejected = await ann.post(`notes/${id}/decisions`, reject);
  const withdrawn = await service.call('POST', `/api/guestbook/${id}/withdraw`, {
    body: {},
    cookie,
  });
  t.equal(withdrawn.status, 200, withdrawn.text);
  await service.tamper(`UPDATE note_reports SET state = 'removed', settled_by_event = $1`, [
    rejected.body.event_id,
  ]);
  await corrected(service, '0034-reports-of-withdrawn-notes');
});

t.test('0036: deferrals and escalations are listed among the decisions', async (t) => {
  const service = await startService(t);
  const ann = await hire(service, 'Ann');
  const notes = [await submit(service), await submit(service)];
  const act = (id = '', more: object = {}) =>
    ann.post(`notes/${id}/decisions`, { expected_version: 1, ...more });
  await act(notes[0]?.id, { action: 'defer' });
  await act(notes[1]?.id, { action: 'escalate', message: 'Please look' });
  await service.tamper('DELETE FROM note_decisions');
  await service.tamper('DROP INDEX notes_deferred, notes_appealed_by_decider');
  await corrected(service, '0036-deferrals-and-escalations');
  const { item } = (await ann.get(`notes/${notes[1]?.id}`)).body;
  t.match(item.decision, { decision: 'escalated', message: 'Please look', undo_allowed: true });
});
