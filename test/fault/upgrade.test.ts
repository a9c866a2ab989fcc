import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Api } from '../../harness/api.ts';
import { patient } from '../../harness/patient.ts';
import { startService } from '../support/service.ts';

t.test('keeps serving while another process migrates a table that it reads', async (t) => {
  const service = await startService(t);
  const submitAndRead = async (api: Api, message: string) => {
    const id = randomUUID();
    const body = { id, name: 'Ada', message };
    const posted = await api.call('POST', '/api/guestbook', { body });
    t.equal(posted.status, 202, posted.text);
    const outcome = await api.call('GET', `/api/guestbook/${id}/outcome`);
    t.ok([401, 404].includes(outcome.status), outcome.text);
    const read = await api.call('GET', '/api/guestbook');
    t.equal(read.status, 200, read.text);
  };
  const submitInTurnAndTogether = async () => {
    for (const turn of [1, 2, 3]) await submitAndRead(service, `Note ${turn}`);
    await Promise.all(
      Array.from({ length: 20 }, (_, turn) =>
        submitAndRead(patient(service), `Note ${turn} of many`),
      ),
    );
  };
  await submitInTurnAndTogether();
  await service.database.pool.query('ALTER TABLE notes ADD COLUMN added int');
  await submitInTurnAndTogether();
});
