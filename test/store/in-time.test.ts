import { randomUUID } from 'node:crypto';
import t from 'tap';
import { capturedCommand } from '../../harness/captured-command.ts';
import { MIN_ASKING_MS } from '../../platform/eventstore/commit-status.ts';
import { commit, MIN_WRITE_MS, writingMs } from '../../platform/eventstore/transaction.ts';
import { StorageUnavailable } from '../../platform/postgres/errors.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { deadline } from '../../platform/postgres/request-deadline.ts';
import { NoteSubmission } from '../../services/guestbook/contract.ts';
import { submitNote } from '../../services/guestbook/submit.ts';
import { testDatabase } from '../support/database.ts';
import { isUnconfirmedError, repeatWhile } from '../support/repeat-while.ts';
import { keepRequestTime } from '../support/request-time.ts';
import { startService } from '../support/service.ts';

keepRequestTime(t);

t.test('leaves time to write and to query the outcome within 3 seconds', async (t) => {
  const patience = deadline() - performance.now();
  for (let left = Math.ceil(MIN_WRITE_MS); left <= patience; left++) {
    const askingMs = left - writingMs(left);
    const took = patience - left + writingMs(left) + Math.max(askingMs, MIN_ASKING_MS);
    if (took > 2950 || writingMs(left) < 100) t.fail(`${left} ms left: ${took} ms`);
  }
  t.ok(MIN_WRITE_MS < patience);
});

t.test('writes nothing if the outcome could not be queried in time', async (t) => {
  const { url } = await testDatabase(t);
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  const client = await pool.connect();
  await client.query('BEGIN');
  const never = () => t.fail('the outcome was queried');
  const late = performance.now() + MIN_WRITE_MS - 1;
  await t.rejects(commit(client, [], late, never), {
    message: 'too late to write',
  });
  t.equal(client.getTransactionStatus(), 'I', 'no transaction is left open');
  client.release();
});

t.test('attempts a write that waits for the log once when its time is up', async (t) => {
  const { core, database } = await startService(t);
  const attempt = async () => {
    const body = NoteSubmission.parse({ id: randomUUID(), name: 'Ada', message: 'Hello' });
    const command = capturedCommand((store) => submitNote({ ...core, store }, body, null));
    const started = performance.now();
    const begun: number[] = [];
    const decide = (loaded: never) => {
      begun.push(Math.round(performance.now() - started));
      return command.decide(loaded);
    };
    const locker = await database.pool.connect();
    await locker.query('BEGIN; LOCK TABLE events IN SHARE MODE');
    const failed = await core.store.execute({ ...command, decide }).catch((error) => error);
    t.comment(`${Math.round(performance.now() - started)} ms, begun at ${begun} ms`);
    await locker.query('ROLLBACK');
    locker.release();
    t.equal(begun.length, 1);
    return { id: body.id, failed };
  };
  const { id, failed } = await repeatWhile(({ failed }) => isUnconfirmedError(failed), attempt);
  t.ok(failed instanceof StorageUnavailable, String(failed));
  const written = 'SELECT FROM events WHERE stream_id = $1';
  t.equal((await database.pool.query(written, [`note-${id}`])).rowCount, 0);
});
