import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startService } from '../support/service.ts';

t.test('a process goes on while another migrates what its statements read', async (t) => {
  const service = await startService(t);
  const ask = async (message: string) => {
    const id = randomUUID();
    const body = { id, name: 'Ada', message };
    const posted = await service.call('POST', '/api/guestbook', { body });
    t.equal(posted.status, 202, posted.text);
    const outcome = await service.call('GET', `/api/guestbook/${id}/outcome`);
    t.ok([401, 404].includes(outcome.status), outcome.text);
    const read = await service.call('GET', '/api/guestbook');
    t.equal(read.status, 200, read.text);
  };
  const both = async () => {
    for (const turn of [1, 2, 3]) await ask(`Note ${turn}`);
    await Promise.all(Array.from({ length: 20 }, (_, turn) => ask(`Note ${turn} of many`)));
  };
  await both();
  await service.database.pool.query('ALTER TABLE notes ADD COLUMN added int');
  await both();
});
