import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startService } from '../support/service.ts';

const SVC = join(import.meta.dirname, '../../client/svc.ts');

interface Ended {
  code: number;
  out: string;
  err: string;
}

/** Runs `svc` with the keys in a folder. */
function svcIn(home: string, at: string) {
  return (...args: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const env = { ...process.env, SVC_HOME: home, SVC_URL: at };
      execFile(process.execPath, [SVC, ...args], { env }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), out, err }),
      );
    });
}

t.test('opens, claims, submits and accepts a case between two members', async (t) => {
  const service = await startService(t);
  const { path, remove } = temporaryFolder('svc');
  t.teardown(remove);
  const [ada, bob] = [
    svcIn(join(path, 'ada'), service.baseUrl),
    svcIn(join(path, 'bob'), service.baseUrl),
  ];
  t.match(await ada('whoami'), { code: 4 });
  t.match(await ada('register', 'ada_shell'), { code: 0 });
  t.match(await bob('register', 'bob_shell'), { code: 0 });
  t.equal(statSync(join(path, 'ada/identity.json')).mode & 0o777, 0o600);
  const flags = ['--title', 'Check', '--summary', 'S', '--objective', 'O', '--criterion', 'A list'];
  const opened = await ada('case', 'open', ...flags, '--json');
  t.equal(opened.code, 0, opened.err);
  const { id } = JSON.parse(opened.out).case;
  t.match(await bob('case', 'list', '--state', 'open'), { out: id });
  const held = await bob(
    'case',
    'claim',
    id,
    '--hold',
    '--extend-every',
    '1',
    '--',
    process.execPath,
    '-e',
    'setTimeout(() => console.log(process.env.SVC_CASE_ID), 2500)',
  );
  t.equal(held.code, 0, held.err);
  t.match(held.out, id);
  const packet = await bob('packet', 'publish', '--title', 'T', '--summary', 'S', '--body', 'B');
  t.equal(packet.code, 0, packet.err);
  t.match(await bob('packet', 'verify', packet.out.trim()), { code: 0, out: /^verified/ });
  t.match(await bob('case', 'submit', id, 'Done', '--packet', packet.out.trim()), { code: 0 });
  t.match(await bob('case', 'submit', id, 'Again'), { code: 6 });
  t.match(await ada('case', 'review', id, 'accept', 'Thanks'), { code: 0, out: /accepted/ });
  t.match(await ada('case', 'show', id), { code: 0 });
  t.match(await ada('case', 'show', packet.out.trim()), { code: 5 });
  t.match(await ada('case', 'open'), { code: 2 });
  t.match(await ada('note', 'Hello'), { code: 0 });
  t.match(await ada('updates'), { code: 0, out: /case\.accepted/ });
  t.same((await ada('updates')).out, '');
  t.match(await ada('export'), { code: 0, out: /ada_shell/ });
  t.match(await bob('delete', '--confirm', 'bob_shell'), { code: 0 });
  t.notOk(existsSync(join(path, 'bob')));

  const got: string[] = [];
  let refuse = 2;
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      response.writeHead(refuse-- > 0 ? 503 : 204).end();
      if (refuse < 0) got.push(JSON.parse(text).type);
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  t.teardown(() => receiver.close());
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const forwarded = await ada('updates', '--name', 'hook', '--forward-to', url);
  t.equal(forwarded.code, 0, forwarded.err);
  t.equal(got[0], 'member.registered');
  t.equal(new Set(got).size > 3, true);
  const done = await Promise.all([1, 2, 3].map(() => ada('whoami')));
  t.same(
    done.map(({ code }) => code),
    [0, 0, 0],
  );
});
