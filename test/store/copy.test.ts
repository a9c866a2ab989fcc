import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { clientConfigOf, copyIn, copyOut } from '../../cli/backup/copy.ts';
import { testDatabase } from '../support/database.ts';

const ROWS = 2000;

async function connect(t: Test): Promise<pg.Client> {
  const { url } = await testDatabase(t);
  const client = new pg.Client(clientConfigOf(url, 'test copy'));
  await client.connect();
  t.teardown(() => client.end());
  await client.query(`CREATE TABLE rows AS
    SELECT n, repeat('x', 2000) AS pad FROM generate_series(1, ${ROWS}) n`);
  await client.query('CREATE TABLE copied (LIKE rows)');
  return client;
}

t.test('copies rows out and in, however slow the reader is', async (t) => {
  const client = await connect(t);
  for (let round = 0; round < 12; round++) {
    const chunks: Buffer[] = [];
    const reader = async (rows: AsyncIterable<Buffer>) => {
      for await (const chunk of rows) {
        chunks.push(chunk);
        if (round % 3 > 0) await sleep(round % 3 === 1 ? 0 : Math.random() * 2);
      }
    };
    await pipeline(copyOut(client, 'COPY rows TO STDOUT'), reader);
    await client.query('TRUNCATE copied');
    await copyIn(client, 'COPY copied FROM STDIN', Readable.from(chunks));
    const { rows } = await client.query(
      'SELECT count(*)::int AS same FROM copied JOIN rows USING (n, pad)',
    );
    t.equal(rows[0].same, ROWS);
  }
});

t.test(
  'leaves the connection usable after a reader, a source or a statement has failed',
  async (t) => {
    const client = await connect(t);
    const full = () =>
      new Writable({ write: (_chunk, _encoding, done) => done(new Error('disk full')) });
    await t.rejects(pipeline(copyOut(client, 'COPY rows TO STDOUT'), full()), {
      message: 'disk full',
    });
    t.equal((await client.query('SELECT 1 AS one')).rows[0].one, 1);

    const broken = async function* () {
      yield Buffer.from('1\tx\n');
      throw new Error('broken file');
    };
    await t.rejects(copyIn(client, 'COPY copied FROM STDIN', broken()), { message: 'broken file' });
    t.equal((await client.query('SELECT FROM copied')).rowCount, 0);

    const wrong = Readable.from([Buffer.from('no number\tx\n')]);
    await t.rejects(copyIn(client, 'COPY copied FROM STDIN', wrong), { code: '22P02' });
    await t.rejects(pipeline(copyOut(client, 'COPY none TO STDOUT'), full()), { code: '42P01' });
    t.equal((await client.query('SELECT 1 AS one')).rows[0].one, 1);
  },
);
