import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { publishArtifact, report } from '../../../harness/records.ts';
import { expireReviewLeases } from '../../../workers/moderation/expire-review-leases.ts';
import { whileWaitingForLock } from '../../support/meanwhile.ts';
import { type Service, startService } from '../../support/service.ts';

const addTeam = async (service: Service) => ({
  tri: await addModerator(service, 'Tri', 'triage'),
  ann: await addModerator(service, 'Ann'),
  lea: await addModerator(service, 'Lea', 'lead'),
});

const act = (by: Moderator, path: string, action: string, version: number, more: object = {}) =>
  by.post(`${path}/decisions`, { action, expected_version: version, ...more });

const approvedNote = async (service: Service, by: Moderator): Promise<string> => {
  const { id } = await submit(service);
  await decide(by, id, 'approve');
  return id;
};

t.test('lets only those claim a public item who can decide on it', async (t) => {
  const service = await startService(t);
  const { tri, ann } = await addTeam(service);
  const id = await approvedNote(service, ann);
  const author = await newAgent(service);
  const record = await publishArtifact(author);
  await report(await newAgent(service), record);
  const bodies = [
    { note_ids: [id] },
    { subjects: [{ type: 'artifact', id: record.id }] },
    { count: 1, view: 'reported' },
  ];
  for (const body of bodies) {
    const refused = await tri.post('claims', body);
    t.equal(refused.status, 403, refused.text);
    t.match(refused.body.error, { code: 'role_required', roles: ['moderator', 'lead'] });
  }
  const { id: pending } = await submit(service);
  t.equal((await tri.post('claims', { note_ids: [pending] })).status, 200);
});

t.test(
  "a lead's removal of what is public ignores claims; other decisions take over",
  async (t) => {
    const service = await startService(t);
    const { ann, lea } = await addTeam(service);
    const bob = await addModerator(service, 'Bob');
    const author = await newAgent(service);
    const record = await publishArtifact(author);
    await report(await newAgent(service), record);
    const [one, two] = [await approvedNote(service, ann), await approvedNote(service, ann)];
    const paths = [`notes/${one}`, `subjects/artifact/${record.id}`];
    const claimed = await ann.post('claims', {
      subjects: [
        { type: 'note', id: one },
        { type: 'note', id: two },
        { type: 'artifact', id: record.id },
      ],
    });
    t.equal(claimed.status, 200, claimed.text);
    for (const path of paths) {
      const { version, allowed_actions } = (await lea.get(path)).body.item;
      t.same(allowed_actions, ['remove'], path);
      t.same((await bob.get(path)).body.item.allowed_actions, []);
      const spam = { policy: 'spam', take_over: true };
      const refused = await act(bob, path, 'remove', version, spam);
      t.equal(refused.body.error.reason, 'claimed_by_other', 'only leads take over');
      const removed = await act(lea, path, 'remove', version, { policy: 'spam' });
      t.match(removed.body, { state: 'removed' }, removed.text);
    }
    const { version } = (await lea.get(`notes/${two}`)).body.item;
    await service.call('POST', `/api/guestbook/${two}/report`, { body: { reason: 'spam' } });
    const keep = await act(lea, `notes/${two}`, 'keep', version + 1);
    t.equal(keep.body.error.reason, 'claimed_by_other');
    const kept = await act(lea, `notes/${two}`, 'keep', version + 1, { take_over: true });
    t.equal(kept.status, 201, kept.text);
    t.equal((await ann.get('me')).body.leases.length, 0);
    const { entries } = (await lea.get(`audit?subject=${two}&order=newest`)).body;
    const taken = entries.find(({ type }: { type: string }) => type === 'ClaimTakenOver');
    t.match(taken, {
      subject: { type: 'note', id: two },
      actor: { id: lea.id },
      data: { from: ann.id },
    });
    const { history } = (await lea.get(`notes/${two}`)).body;
    t.ok(history.some(({ type }: { type: string }) => type === 'ClaimTakenOver'));
  },
);

t.test('a lead takes over the claims of others', async (t) => {
  const service = await startService(t);
  const { ann, lea } = await addTeam(service);
  const author = await newAgent(service);
  const record = await publishArtifact(author);
  await report(await newAgent(service), record);
  const { id } = await submit(service);
  const subjects = [
    { type: 'note', id },
    { type: 'artifact', id: record.id },
  ];
  const before = await ann.post('claims', { subjects });
  t.equal((await lea.post('claims', { subjects })).body.error.reason, 'claimed_by_other');
  const bob = await addModerator(service, 'Bob');
  const refused = await bob.post('claims', { subjects, take_over: true });
  t.equal(refused.body.error.reason, 'claimed_by_other', 'only leads take over');
  const taken = await lea.post('claims', { subjects, take_over: true });
  t.equal(taken.body.claims.length, 2, taken.text);
  const lease_ids = before.body.claims.map((claim: { lease_id: string }) => claim.lease_id);
  t.match((await ann.post('claims/renew', { lease_ids })).body, { renewed: [], lost: lease_ids });
  const back = await addModerator(service, 'Max', 'lead');
  t.equal((await back.post('claims', { subjects, take_over: true })).status, 200);
  for (const subject of subjects) {
    const { entries } = (await lea.get(`audit?subject=${subject.id}`)).body;
    const types = entries.map(({ type }: { type: string }) => type);
    t.equal(types.filter((type: string) => type === 'ClaimTakenOver').length, 2, subject.type);
  }
});

t.test('gives back the time of a claim that a lead takes over', async (t) => {
  const service = await startService(t);
  const { ann, lea } = await addTeam(service);
  const { id } = await submit(service);
  for (let count = 0; count < 8; count++) {
    const claimed = await ann.post('claims', { note_ids: [id] });
    t.equal(claimed.status, 200, claimed.text);
    const taken = await lea.post('claims', { note_ids: [id], take_over: true });
    t.equal(taken.status, 200, taken.text);
    await lea.post('claims/release', { lease_ids: [taken.body.claims[0].lease_id] });
  }
});

t.test('counts the time of all claims of one moderator on one item', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const { ann, lea } = await addTeam(service);
  const [one, two] = [await submit(service), await submit(service)];
  const claim = async () => {
    const answer = await ann.post('claims', { note_ids: [one.id] });
    if (answer.status !== 200) return answer.body.error;
    const [{ lease_id }] = answer.body.claims;
    return lease_id as string;
  };
  /** Lets five minutes of the claim pass, and ends it. */
  const hold = async () => {
    const lease_id = await claim();
    await pool.query(`UPDATE note_leases SET claimed_at = claimed_at - interval '5 minutes',
      expires_at = expires_at - interval '5 minutes'`);
    await ann.post('claims/release', { lease_ids: [lease_id] });
  };
  for (let count = 0; count < 20; count++)
    await ann.post('claims/release', { lease_ids: [await claim()] });
  t.type(await claim(), 'string', 'released time is given back');
  await pool.query('DELETE FROM note_leases');
  await pool.query(`UPDATE claim_times SET used = '0'`);
  for (let count = 0; count < 6; count++) await hold();
  t.match(await claim(), { reason: 'claim_time_used', note_id: one.id, claimable_at: /Z$/ });
  const next = await ann.post('claims', { count: 1 });
  t.match(next.body.claims, [{ note_id: two.id }], 'claim-next passes the item by');
  t.equal((await lea.post('claims', { note_ids: [one.id] })).status, 200);
  await pool.query('DELETE FROM note_leases');
  await pool.query(`UPDATE claim_times SET ended_at = ended_at - interval '70 minutes'`);
  t.type(await claim(), 'string', 'an hour later the time counts anew');
  await expireReviewLeases(service.core);
  const { rows } = await pool.query('SELECT note_id FROM claim_times WHERE moderator_id = $1', [
    ann.id,
  ]);
  t.same(rows, [{ note_id: one.id }], 'times that no longer count are deleted');
});

t.test('records no take-over of a claim that its holder releases meanwhile', async (t) => {
  const service = await startService(t);
  const { ann, lea } = await addTeam(service);
  const { id } = await submit(service);
  const claimed = await ann.post('claims', { note_ids: [id] });
  const lease: string = claimed.body.claims[0].lease_id;
  const { pool } = service.database;

  const taken = await whileWaitingForLock(
    pool,
    `DELETE FROM note_leases WHERE lease_id = '${lease}'`,
    () => lea.post('claims', { note_ids: [id], take_over: true }),
    async () => undefined,
  );

  t.equal(taken.status, 200, taken.text);
  const { rows } = await pool.query('SELECT moderator_id FROM note_leases');
  t.same(rows, [{ moderator_id: lea.id }]);
  const events = await pool.query(`SELECT FROM events WHERE type = 'ClaimTakenOver'`);
  t.equal(events.rowCount, 0);
});
