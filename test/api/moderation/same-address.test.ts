import { randomUUID } from 'node:crypto';
import t from 'tap';
import { addModerator } from '../../../harness/moderation.ts';
import { signedIn } from '../../../harness/registration.ts';
import { readConfig } from '../../../platform/config.ts';
import { sweepRateCounters } from '../../../workers/limits/sweep-rate-counters.ts';
import { type Service, startService } from '../../support/service.ts';

interface Item {
  id: string;
  same_address: number;
}

async function send(service: Service, address: string, more: object = {}, cookie?: string) {
  const body = { id: randomUUID() as string, message: 'Hello', ...more };
  const headers = { 'x-forwarded-for': address };
  const answer = await service.call('POST', '/api/guestbook', { body, headers, cookie });
  if (answer.status !== 202) throw new Error(answer.text);
  return body.id;
}

t.test('lists what one address sent, to reject it together', async (t) => {
  const service = await startService(t, { TRUSTED_PROXIES: '1' });
  const ann = await addModerator(service, 'Ann');
  const other = await send(service, '192.0.2.1');
  const flood: string[] = [];
  for (let at = 1; at <= 5; at++) flood.push(await send(service, `2001:db8:7:${at}::1`));
  await send(service, '2001:db8:8:1::1');
  const member = await signedIn(service);
  const own = await send(
    service,
    '2001:db8:7:9::1',
    { attribution: 'member', member_handle: member.handle },
    member.cookie,
  );

  const items: Item[] = (await ann.get('queue')).body.items;
  const counts = new Map(items.map(({ id, same_address }) => [id, same_address]));
  t.same(
    flood.map((id) => counts.get(id)),
    [4, 4, 4, 4, 4],
  );
  t.same([counts.get(other), counts.get(own)], [0, 0], 'members are found by their names');
  const listed = async (query: string) =>
    (await ann.get(`queue?${query}`)).body.items.map(({ id }: Item) => id);
  t.same(await listed(`same_address_as=${flood[2]}`), flood, 'an IPv6 /48 is one address');
  t.same(await listed(`same_address_as=${flood[2]}&limit=2`), flood.slice(0, 2));
  t.same(await listed(`same_address_as=${own}`), []);
  t.same(await listed(`same_address_as=${randomUUID()}`), []);
  t.same(await listed(`view=reported&same_address_as=${flood[0]}`), []);
  t.equal((await ann.get('queue?same_address_as=x')).status, 400);

  const batch = await ann.post('decisions/batch', {
    action: 'reject',
    policy: 'spam',
    items: flood.map((note_id) => ({ note_id, expected_version: 1 })),
  });
  t.equal(batch.status, 200);
  t.same(await listed(`same_address_as=${flood[0]}`), []);
  t.same((await listed(`view=decided&same_address_as=${flood[0]}`)).toSorted(), flood.toSorted());
  const { rows } = await service.database.pool.query('SELECT * FROM note_addresses');
  t.notMatch(JSON.stringify(rows), /2001|192\.0/, 'no address is stored as it is');
});

t.test('forgets the addresses of notes after 48 hours', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  await send(service, '');
  await service.tamper(
    `INSERT INTO note_addresses VALUES (gen_random_uuid(), 'old', now() - interval '49 hours')`,
  );
  await sweepRateCounters({ pool, config: readConfig({}) });
  const { rows } = await pool.query('SELECT bucket FROM note_addresses');
  t.equal(rows.length, 1);
  t.not(rows[0].bucket, 'old');
});
