import {
  appliedMigrations,
  JOBS_SCHEMA,
  notApplied,
  RESTORE_MARK,
  readMigrations,
  UNFINISHED_RESTORE,
} from '../../platform/postgres/migrate.ts';
import { named } from '../../platform/sql.ts';
import { bad, type Context, type Finding, orOk } from './check.ts';

/** Checks that the database has the schema of this release. */
export async function checkMigrations({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const applied = await appliedMigrations(async (text) => ({ rows: await ask(named(text)) }));
  let waiting: string[];
  try {
    waiting = notApplied(readMigrations(), applied).map(({ name }) => name);
  } catch (error) {
    return [
      bad((error as Error).message, 'install the release that made the database, with npm ci'),
    ];
  }
  const [restore] = await ask(
    named<{ unfinished: boolean }>(
      `SELECT to_regclass('${RESTORE_MARK}') IS NOT NULL AS unfinished`,
    ),
  );
  if (restore?.unfinished)
    return [
      bad(UNFINISHED_RESTORE, 'drop the database, create it again, and npm run restore -- FOLDER'),
    ];
  const [jobs] = await ask(
    named<{ made: boolean }>(`SELECT to_regclass('${JOBS_SCHEMA}.job') IS NOT NULL AS made`),
  );
  return orOk(
    [
      waiting.length > 0 && bad(`The database lacks ${waiting.join(', ')}`, 'npm run release'),
      !jobs?.made && bad('The database lacks the tables of the job queue', 'npm run release'),
    ],
    `The database has the schema of this release, ${applied.at(-1)?.name}`,
  );
}
