import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startService } from '../support/service.ts';

t.test('keeps serving while another process migrates a table that it reads', async (t) => {
  const service = await startService(t);
  const submitAndRead = async (message: string) => {
    const id = randomUUID();
    const body = { id, name: 'Ada', message };
    const posted = await service.call('POST', '/api/guestbook', { body });
    t.equal(posted.status, 202, posted.text);
    const outcome = await service.call('GET', `/api/guestbook/${id}/outcome`);
    t.ok([401, 404].includes(outcome.status), outcome.text);
    const read = await service.call('GET', '/api/guestbook');
    t.equal(read.status, 200, read.text);
  };
  const submitInTurnAndTogether = async () => {
    for (const turn of [1, 2, 3]) await submitAndRead(`Note ${turn}`);
    await Promise.all(
      Array.from({ length: 20 }, (_, turn) => submitAndRead(`Note ${turn} of many`)),
    );
  };
  await submitInTurnAndTogether();
  await service.database.pool.query('ALTER TABLE notes ADD COLUMN added int');
  await submitInTurnAndTogether();
});
