import { join } from 'node:path';
import { type Server, startStandby } from '../../harness/standby.ts';
import { inMemory, temporaryFolder } from '../../harness/temporary-folder.ts';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { migrate } from '../../platform/postgres/migrate.ts';

export const FAST = { fsync: 'off', full_page_writes: 'off', wal_keep_size: '512MB' };

type Ending = { teardown(end: () => Promise<void>): unknown };

/** A migrated primary, and a standby that streams from it. */
export async function startServers(t: Ending) {
  const folder = temporaryFolder('failover', inMemory());
  const dataDir = join(folder.path, 'primary');
  const primary: Server = { ...(await embeddedPostgres({ dataDir, settings: FAST })), dataDir };
  await migrate(primary.url);
  const standby = await startStandby(primary, join(folder.path, 'standby'), 'standby', FAST);
  let stopping: Promise<void> | undefined;
  const stopPrimary = () => (stopping ??= primary.stop());
  t.teardown(async () => {
    await standby.stop();
    await stopPrimary();
    folder.remove();
  });
  return { primary, standby, stopPrimary };
}
