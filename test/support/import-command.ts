import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { runCli } from './doctor.ts';
import { operatorEnv } from './moderator-command.ts';
import type { Service } from './service.ts';

/** Runs `npm run import` on the database of a service, and reads what it printed. */
export function importer(t: Pick<Test, 'teardown'>, service: Service) {
  const folder = temporaryFolder('import');
  t.teardown(folder.remove);
  let files = 0;
  return {
    folder: folder.path,
    env: operatorEnv(service),
    /** Writes a file to import. */
    file(content: string | Uint8Array): string {
      files += 1;
      const path = join(folder.path, `export-${files}`);
      writeFileSync(path, content);
      return path;
    },
    async run(...args: string[]) {
      const said = await runCli(['cli/import.ts', ...args], operatorEnv(service));
      const lines = said.stdout.trimEnd().split('\n');
      return {
        ...said,
        id: /Import ([0-9a-f-]{36})/.exec(said.stdout)?.[1] ?? '',
        /** The number behind each line of the summary. */
        counts: Object.fromEntries(
          lines.flatMap((line) => {
            const [, name, count] = /^ {2}([a-z ]+): (\d+)$/.exec(line) ?? [];
            return name ? [[name, Number(count)]] : [];
          }),
        ) as Record<string, number>,
        /** What was shortened, moved and refused. */
        changes: lines.filter((line) => line.includes('\t')).map((line) => line.split('\t')),
      };
    },
    /** Starts an import without waiting for its end. */
    start(...args: string[]) {
      const child = spawn(process.execPath, ['cli/import.ts', ...args], {
        env: { ...INHERITED_ENV, ...operatorEnv(service) },
        stdio: 'ignore',
      });
      return { child, ended: once(child, 'exit') as Promise<[number | null, string | null]> };
    },
  };
}

/** A backup of remark42 with these comments. */
export const remark42 = (comments: readonly object[]): string =>
  [{ version: 1, users: [], posts: [] }, ...comments]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');

/** A comment as remark42 exports it. */
export const remarkComment = (id: string, more: object = {}) => ({
  id,
  pid: '',
  text: `<p>Comment ${id}</p>\n`,
  orig: `Comment ${id}`,
  user: {
    name: `Author ${id}`,
    id: 'github_0123456789abcdef',
    picture: '',
    ip: 'ffffffffffffffff',
    admin: false,
    site_id: 'site',
  },
  locator: { site: 'site', url: 'https://blog.example/guestbook' },
  score: 0,
  votes: {},
  vote: 0,
  time: '2020-03-01T12:00:00.123456789Z',
  title: 'Guestbook',
  ...more,
});
