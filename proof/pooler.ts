import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../harness/free-port.ts';
import { findProgram, startProgram } from '../harness/programs.ts';

/**
 * Starts PgBouncer in front of the database of `target`, with its log in `logFile`. It pools
 * sessions, since versions before 1.21 lose prepared statements otherwise. Undefined if it is not
 * installed.
 */
export async function startPooler(folder: string, target: string, logFile: string) {
  if (!findProgram('pgbouncer')) return undefined;
  const { hostname, port: targetPort, pathname, username, password } = new URL(target);
  const name = pathname.slice(1);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${targetPort} dbname=${name} user=${username} password=${password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = session
default_pool_size = 100
server_login_retry = 0.2
server_connect_timeout = 2
`,
    { mode: 0o644 },
  );
  const start = async () => {
    const log = openSync(logFile, 'a');
    try {
      return await startProgram('pgbouncer', [file], port, log);
    } finally {
      closeSync(log);
    }
  };

  let running = await start();
  return {
    url: `postgres://${username}@127.0.0.1:${port}/${name}`,
    /** Kills it with SIGKILL and starts it again. */
    async restart(): Promise<void> {
      await running.kill();
      running = await start();
    },
    stop: () => running.kill(),
  };
}
