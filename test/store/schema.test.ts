import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { migrate } from '../../platform/postgres/migrate.ts';
import { testDatabase } from '../support/database.ts';
import { dumpSchema } from '../support/schema-dump.ts';

const GOLDEN = join(import.meta.dirname, 'schema.golden.txt');

t.test('matches the golden schema after all migrations', async (t) => {
  // Not from the template, which may have another layout.
  const { pool, url } = await testDatabase(t, { empty: true });
  await migrate(url);
  const schema = await dumpSchema(pool);
  if (process.env.UPDATE_GOLDEN) writeFileSync(GOLDEN, schema);
  const golden = readFileSync(GOLDEN, 'utf8');
  t.equal(schema, golden, 'run `npm run schema` and review the difference');
});
