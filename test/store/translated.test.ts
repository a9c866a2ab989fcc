import { randomUUID } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { moderatorOwner } from '../../domain/owners.ts';
import { handle, type Policy } from '../../platform/eventstore/handle.ts';
import { requestIn } from '../../platform/eventstore/idempotency.ts';
import { isServerError } from '../../platform/postgres/errors.ts';
import { createPool } from '../../platform/postgres/pool.ts';
import { sql } from '../../platform/sql.ts';
import { RECEIPT_SPACES } from '../../services/receipt-spaces.ts';
import { createBareStore } from '../support/bare-store.ts';
import { testDatabase } from '../support/database.ts';

function databaseError(severity: string, code: string) {
  return Object.assign(new pg.DatabaseError('', 0, 'error'), { severity, code });
}

t.test('tells an error of a statement from a lost server in any language', async (t) => {
  const refused = ['23505', '40P01', '40001', '57014', '55P03', '22012', '25P02', '25006'];
  for (const code of refused)
    for (const severity of ['ERROR', 'FEHLER', 'ERREUR'])
      t.equal(isServerError(databaseError(severity, code)), true, `${severity} ${code}`);
  for (const code of ['57P01', '57P02', '57P05', '25P03', '25P04', '08P01', '53200', 'XX000'])
    for (const severity of ['FATAL', 'PANIC', 'PANIK', 'ФАТАЛЬНО'])
      t.equal(isServerError(databaseError(severity, code)), false, `${severity} ${code}`);
  t.equal(isServerError(databaseError('ERROR', '53100')), true, 'an English severity decides');
  t.equal(isServerError(databaseError('FATAL', '40001')), false, 'an English severity decides');
  t.equal(isServerError(new Error('Connection terminated')), false);
});

t.test('undoes the work when its receipt fails on a server of another language', async (t) => {
  const { url, pool: other } = await testDatabase(t);
  await other.query(`CREATE TABLE worked (at int);
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = TG_ARGV[0]; END $$`);
  const pool = createPool(url, 'test', 1);
  t.teardown(() => pool.end());
  pool.on('connect', (client) => {
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
    connection.prependListener('errorMessage', (error: { severity: string }) => {
      error.severity = 'FEHLER';
    });
  });
  const store = createBareStore(pool, url);
  const id = randomUUID();
  const policy: Policy<'idempotency_conflict', { status: number; body: string }> = {
    actor: { type: 'moderator', id },
    request: requestIn(RECEIPT_SPACES.moderation, {
      owner: moderatorOwner(id),
      key: randomUUID(),
      operation: 'moderation.claim',
      route: 'POST /api/moderation/claims',
      sent: {},
      keys: null,
    }),
  };
  const claim = () =>
    handle(store, policy, {
      load: { work: sql`INSERT INTO worked VALUES (1)` },
      decide: () => ({
        appends: [],
        changesRows: true,
        reply: () => ({ status: 200, body: 'done' }),
      }),
    });
  for (const code of ['23514', '53100']) {
    await other.query(`CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON receipts
      FOR EACH ROW EXECUTE FUNCTION fail('${code}')`);
    await t.rejects(claim(), /no room|command failed/, code);
    t.equal((await other.query('SELECT FROM worked')).rowCount, 0);
  }
  await other.query('DROP TRIGGER fail ON receipts');
  t.same(await claim(), { status: 200, body: 'done' });
  t.equal((await other.query('SELECT FROM worked')).rowCount, 1);
});
