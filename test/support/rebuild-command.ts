import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type pg from 'pg';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';

/** Runs `npm run rebuild -- …` as a separate process. */
export function startRebuild(env: Record<string, string>, args: string[] = []) {
  const child = spawn(process.execPath, ['cli/rebuild.ts', ...args], {
    env: { ...INHERITED_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const end = async () => ({ code: (await closed)[0], stdout, stderr });
  /** Waits until the rebuild has filled its tables and waits for a lock. */
  const untilWaits = async () => {
    while (!stderr.includes('Waits for a lock'))
      await Promise.race([
        once(child.stderr, 'data'),
        closed.then(() => {
          throw new Error(`it ended: ${stderr}`);
        }),
      ]);
  };
  return { child, end, untilWaits };
}

/** The tables of a rebuild that is in progress or was interrupted. */
export async function rebuildTables(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'rebuild' ORDER BY 1`,
  );
  return rows.map(({ tablename }) => tablename);
}
