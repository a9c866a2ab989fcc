import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Account } from './account.ts';

/** What initdb says where the account has no name, as in containers that run as any number. */
const NO_ACCOUNT = 'could not look up effective user ID';
const ACCOUNT_HINT = '\nAdd this account to /etc/passwd, or set DATABASE_URL to another PostgreSQL';

export const SUPERUSER = 'service_owner';

/**
 * Creates the database cluster in `home` unless it exists. It has a password, readable only by this
 * account, because other users of the machine can reach the port. Throws if initdb fails.
 */
export async function createCluster(
  home: string,
  binaries: string,
  account: Account | undefined,
): Promise<void> {
  const data = join(home, 'data');
  if (existsSync(data)) return;
  const password = randomBytes(24).toString('hex');
  const [draft, passwordForServer] = [join(home, 'data.new'), join(home, 'password.new')];
  rmSync(draft, { recursive: true, force: true });
  rmSync(passwordForServer, { force: true });
  rmSync(join(home, 'password'), { force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(join(home, 'password'), password, { mode: 0o600 });
  writeFileSync(passwordForServer, password, { mode: 0o600 });
  if (account) for (const path of [draft, passwordForServer]) own(path, account);
  try {
    await promisify(execFile)(
      join(binaries, 'initdb'),
      [
        ...['-D', draft, '-U', SUPERUSER, `--pwfile=${passwordForServer}`],
        ...['--auth=scram-sha-256', '--no-instructions', '-E', 'UTF8', '--locale=C'],
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ],
      { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, ...account },
    );
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    const reason = stderr?.trim() || String(error);
    throw new Error(`initdb failed: ${reason}${reason.includes(NO_ACCOUNT) ? ACCOUNT_HINT : ''}`);
  } finally {
    rmSync(passwordForServer, { force: true });
  }
  // Only a complete cluster gets the name that later starts rely on.
  renameSync(draft, data);
}

const own = (path: string, account: Account) => chownSync(path, account.uid, account.gid);
