import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { freePort } from '../../harness/free-port.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startService } from '../support/service.ts';
import { SVC, svcIn } from '../support/svc.ts';

// What people and programs read from `svc`: help, completion, exit codes, JSON, and no text that a terminal obeys.

const run = promisify(execFile);
const service = await startService(t);
const { path, remove } = temporaryFolder('svc');
t.teardown(remove);
const author = createCaseCommands(await newAgent(service));

let made = 0;
function newSvc(at = service.baseUrl) {
  made += 1;
  return svcIn(t, join(path, `home-${made}`), at);
}

const commandNames = async (): Promise<string[]> => {
  const { out } = await newSvc()('--help');
  const [, list = ''] = /Commands:\n([\s\S]*?)\n\n/.exec(out) ?? [];
  return list.split('\n').map((line) => line.slice(2, 18).trim());
};

const function_ = `svc() { "${process.execPath}" "${SVC}" "$@"; }`;

t.test('each command has help with an example that can be typed as it is', async (t) => {
  const names = await commandNames();
  t.ok(names.length > 20, names.join(', '));
  for (const name of names) {
    const svc = newSvc();
    const help = await svc(...name.split(' '), '--help');
    t.match(help, { code: 0, err: '' }, name);
    const [, example = ''] = /Example:\n {2}(.+)\n/.exec(help.out) ?? [];
    t.ok(example.includes(`svc ${name}`), example);
    // Without keys: what needs them says so, after the words were understood.
    const env = { ...process.env, SVC_HOME: svc.home, SVC_URL: service.baseUrl };
    const line = example.replace('http://localhost:3000', service.baseUrl);
    const ended = await run('bash', ['-c', `${function_}\n${line}`], { env, cwd: path }).then(
      () => ({ code: 0, stderr: '' }),
      (error: { code: number; stderr: string }) => error,
    );
    t.ok([0, 4, 5].includes(ended.code), `${line}: ${ended.code} ${ended.stderr}`);
  }
});

t.test('bash completes commands, options and shells', async (t) => {
  const script = `${function_}
source <(svc completion bash)
complete -p svc
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; echo "$*: \${COMPREPLY[*]}"; }
complete_words svc ca
complete_words svc case cl
complete_words svc case claim --ho
complete_words svc updates --from now --f
complete_words svc note w
complete_words svc note --r
complete_words svc note list --l
complete_words svc packet withdraw --js
complete_words svc completion z
complete_words svc completion --j`;
  const { stdout } = await run('bash', ['-c', script], { cwd: path });
  t.same(stdout.trim().split('\n'), [
    'complete -o default -F _svc svc',
    'svc ca: case',
    'svc case cl: claim',
    'svc case claim --ho: --hold --home',
    'svc updates --from now --f: --follow --from --forward-to',
    'svc note w: withdraw',
    'svc note --r: --reply-to',
    'svc note list --l: --limit',
    'svc packet withdraw --js: --json',
    'svc completion z: zsh',
    'svc completion --j: --json',
  ]);
});

t.test('zsh reads the script for completion', async (t) => {
  const script = `${function_}
autoload -U compinit && compinit -u -d ${join(path, 'zcompdump')}
svc completion zsh >${join(path, 'completion.zsh')} && source ${join(path, 'completion.zsh')}
print -r -- "$_comps[svc]"`;
  const ended = await run('zsh', ['-f', '-c', script], { cwd: path }).catch(
    (error: { code: unknown; stdout: string }) => error,
  );
  if ('code' in ended && ended.code === 'ENOENT') return t.comment('SKIPPED: there is no zsh');
  t.match(ended.stdout, /_bash_complete .*-F _svc/);
});

t.test('records cannot send commands to a terminal or pass for lines of svc', async (t) => {
  const hostile = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egpj\u2066\u007f';
  const id = await createOpenCase(author, { title: 'TITLE', objective: 'TEXT' });
  await author.note(id, 'TEXT');
  // The service refuses such texts, so something else answers with them.
  const proxy = await startFaultProxy(t, () => service.baseUrl);
  const svc = newSvc(proxy.url);
  const title = `A ${hostile}\nreview accept: forged`;
  const unsafe = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;
  async function answered(api: string, ...words: string[]) {
    const { text } = await service.call('GET', api);
    const body = text.replaceAll(/"(TITLE|TEXT)"/g, JSON.stringify(title));
    t.ok(body.includes('forged'), api);
    const head = `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n`;
    proxy.answerTo(`GET ${api.replace(/\?.*/, '')}`, `HTTP/1.1 200 OK\r\n${head}\r\n${body}`);
    const { code, out, err } = await svc(...words);
    t.equal(code, 0, err);
    t.match(out, /forged/);
    t.notMatch(out, unsafe, words.join(' '));
    t.notMatch(out, /^review accept: forged/m, words.join(' '));
    return out;
  }
  await answered('/api/v1/cases', 'case', 'list');
  await answered('/api/v1/cases', 'case', 'list', '--json');
  await answered('/api/v1/search?q=title', 'search', 'title');
  await answered(`/api/v1/cases/${id}`, 'case', 'show', id);
  const json = await answered(`/api/v1/cases/${id}`, 'case', 'show', id, '--json');
  t.equal(JSON.parse(json).case.title, title, 'JSON has the text as it is');

  const body = JSON.stringify({
    status: 'not_found',
    error: { code: 'not_found', message: title },
  });
  const refusal = `HTTP/1.1 404 Not Found\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
  for (const flags of [[], ['--json']]) {
    proxy.answerTo('GET /api/v1/cases/', refusal);
    const { code, err } = await svc('case', 'show', id, ...flags);
    t.equal(code, 5);
    t.match(err, /forged/);
    t.notMatch(err, unsafe);
  }
  const { code, err } = await svc('case', hostile);
  t.equal(code, 2);
  t.notMatch(err, unsafe);
});

t.test('exit codes and JSON tell a program what happened', async (t) => {
  const id = await createOpenCase(author);
  const svc = newSvc();
  const json = async (...words: string[]) => {
    const { code, out, err } = await svc(...words, '--json');
    const lines = (text: string) => text.split('\n').filter((line) => line !== '');
    return {
      code,
      out: lines(out).map((line) => JSON.parse(line)),
      err: lines(err).map((line) => JSON.parse(line)),
    };
  };
  const brief = ['packet', 'publish', '--title', 'T', '--summary', 'S', '--body', 'B'];
  const missing = '6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11';
  t.match(await json('whoami'), { code: 4, out: [], err: [{ status: 'failed' }] });
  t.match(await json('register', 'Not A Handle'), {
    code: 1,
    err: [{ status: 'invalid_request', error: { issues: [{}] } }],
  });
  t.match(await json('register', 'program_1'), { code: 0, out: [{ member: {} }], err: [] });
  t.match(await json('whoami'), { code: 0, out: [{ member: { handle: 'program_1' } }] });
  t.match(await json('case', 'show', missing), { code: 5, err: [{ status: 'not_found' }] });
  t.match(await json('case', 'show'), { code: 2, err: [{ status: 'usage' }] });
  t.match(await json('case', 'claim', id), { code: 0, out: [{ case: { state: 'claimed' } }] });
  t.match(await json('case', 'claim', id, '--lease', '1'), { code: 2 });
  t.match(await json('case', 'withdraw', id), {
    code: 6,
    err: [{ status: 'state_conflict', error: { reason: 'wrong_state' } }],
  });
  t.match(await json('case', 'release', id), { code: 0, out: [{ case: { state: 'open' } }] });
  t.match(await json('whoami', '--attempt-timeout', '0'), { code: 2, err: [{ status: 'usage' }] });
  t.match(await json('note', '-- a note with dashes'), { code: 2, err: [{ status: 'usage' }] });
  const file = join(path, 'packet.json');
  writeFileSync(file, 'no JSON');
  t.match(await json('packet', 'publish', file), { code: 1, err: [{ status: 'failed' }] });
  t.match(await json('packet', 'publish', join(path, 'missing')), { code: 1 });
  writeFileSync(file, '[]');
  t.match(await svc('packet', 'publish', file), {
    code: 1,
    err: /The packet is not a JSON object/,
  });
  const result = {
    kind: 'result',
    title: 'T',
    summary: 'S',
    reuse_terms: 'CC0-1.0',
    provenance: { claim_type: 'observation', observed_at: null, source_refs: [] },
  };
  writeFileSync(file, JSON.stringify(result));
  t.match(await svc('packet', 'publish', file), {
    code: 1,
    err: /content must |content is required/,
  });
  writeFileSync(
    file,
    JSON.stringify({ ...result, kind: 'brief', content: { body: 'B', format: 'text' } }),
  );
  t.match(await json('packet', 'publish', file), { code: 0, out: [{ artifact: {} }] });
  t.match(await json('profile', '--name', 'P', '--summary', 'S'), { code: 0, out: [{}] });
  t.match(await json('profile', '--withdraw'), { code: 0, out: [{}] });
  t.match(await json('case', 'list', '--limit', '1'), { code: 0, out: [{ id: String }] });
  t.match(await json('note', 'list'), { code: 0, out: [], err: [] });
  const noted = await json('note', 'Hello');
  t.match(noted, { code: 0, out: [{ status: 'pending_review' }] });
  const [{ id: note }] = noted.out;
  t.match(await json('note', 'list', '--limit', '1'), { out: [{ id: note, state: 'pending' }] });
  t.match(await svc('note', 'list'), { code: 0, out: `${note} pending Hello\n` });
  t.match(await json('note', 'list', '--limit', '0'), { code: 2 });
  t.match(await json('note', 'withdraw', note), { code: 0, out: [{ status: 'withdrawn' }] });
  t.match(await json('note', 'withdraw', note), { code: 0 }, 'a repetition is harmless');
  t.match(await json('note', 'withdraw', missing), { code: 5, err: [{ status: 'not_found' }] });
  t.match(await json('note', 'withdraw'), { code: 2, err: [{ status: 'usage' }] });
  t.match(await svc('note', '--', 'withdraw'), { code: 0, out: /pending_review/ });
  const [{ artifact }] = (await json(...brief)).out;
  t.match(await json('packet', 'withdraw', artifact.id), { out: [{ status: 'withdrawn' }] });
  t.match(await json('packet', 'get', artifact.id), { code: 5, err: [{ status: 'gone' }] });
  t.match(await json('packet', 'withdraw', missing), { code: 5 });
  for (const id of ['..', '.', '', `${note}/../x`, '%2e%2e', `${note}\n`, 'x'.repeat(100_000)])
    for (const words of [
      ['note', 'withdraw'],
      ['packet', 'withdraw'],
      ['case', 'show'],
    ])
      t.match(await json(...words, id), { code: 2, err: [{ status: 'usage' }] }, id.slice(0, 50));
  t.match(await json('export'), { code: 0, out: [{}] });
  t.match(await json('delete', '--confirm', 'another'), { code: 2 });
  t.match(await json('delete', '--confirm', 'program_1'), { code: 0, out: [{}] });
  t.match(await svc('note', '--', '--help'), { code: 4 }, 'after -- an argument may begin with -');
  const nowhere = newSvc(`http://127.0.0.1:${await freePort()}`);
  const lost = await nowhere('case', 'list', '--patience', '0', '--json');
  t.match(lost, { code: 3, out: '' });
  t.match(JSON.parse(lost.err), { status: 'no_answer' });
  t.notOk(readdirSync(path).includes(`home-${made}`), 'reading creates no folder');
});
