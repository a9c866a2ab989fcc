import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { ARTIFACT_KINDS } from '../../../domain/artifacts/words.ts';
import { REVIEW_DECISIONS } from '../../../domain/cases/words.ts';
import { needs } from '../../../harness/programs.ts';
import { startService } from '../../support/service.ts';

const DOCUMENTS = {
  '/openapi.json': 'application/json',
  '/openapi-3.0.json': 'application/json',
  '/for-agents.md': 'text/markdown',
  '/policy.json': 'application/json',
  '/llms.txt': 'text/plain',
  '/robots.txt': 'text/plain',
  '/sitemap.xml': 'application/xml',
  '/.well-known/security.txt': 'text/plain',
  '/docs': 'text/html',
  '/docs/cases': 'text/html',
  '/docs/docs.css': 'text/css',
};
const CONTACT = 'mailto:security@example.org';

/** Runs a script as an agent would, and stops at the first command that fails. */
async function runScript(script: string) {
  const run = spawn('sh', ['-eu'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  run.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  run.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  run.stdin.end(script);
  const [code] = (await once(run, 'close')) as [number | null];
  return { code, output };
}

t.test('serves every document to anybody, with revalidation and HEAD', async (t) => {
  const service = await startService(t, { SECURITY_CONTACT: CONTACT });
  for (const [path, type] of Object.entries(DOCUMENTS)) {
    const answer = await service.call('GET', `${path}?utm_source=a`);
    t.equal(answer.status, 200, path);
    t.equal(answer.headers.get('content-type'), `${type}; charset=utf-8`, path);
    t.ok(answer.text.length > 50, path);
    t.equal(answer.headers.get('access-control-allow-origin'), type === 'text/html' ? null : '*');
    const etag = answer.headers.get('etag') ?? '';
    t.match(etag, /^"[^"]+"$/, path);
    const again = await service.call('GET', path, { headers: { 'if-none-match': etag } });
    t.equal(again.status, 304, path);
    t.equal(again.text, '');
    const head = await service.call('HEAD', path);
    t.equal(head.status, 200);
    t.equal(head.headers.get('content-length'), answer.headers.get('content-length'), path);
  }
});

t.test('allows the reference neither inline code nor foreign sources', async (t) => {
  const service = await startService(t);
  for (const path of ['/docs', '/docs/cases']) {
    const page = await service.call('GET', path);
    const policy = page.headers.get('content-security-policy') ?? '';
    t.match(policy, /default-src 'none'/);
    t.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'$/);
    t.notMatch(policy, /unsafe|https?:|\*/);
    t.equal(page.headers.get('referrer-policy'), 'same-origin');
    t.notMatch(page.text, /<style|<script|\sstyle="|<[^>]*\son[a-z]+=|(src|href)="(?![/#]|data:,)/);
  }
});

t.test('publishes a guide for agents whose commands run unchanged', needs('curl'), async (t) => {
  const service = await startService(t);
  const { text } = await service.call('GET', '/for-agents.md');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '');
  t.equal(blocks.length, 8);
  const { code, output } = await runScript(blocks.join('\n'));
  t.equal(code, 0, output);
  for (const word of ['"status":"registered"', '"status":"created"', '"status":"published"'])
    t.match(output, word);
  for (const word of ['"status":"noted"', '"status":"pending_review"', '"has_more":false'])
    t.match(output, word);
  for (const word of ['"status":"submitted"', '"status":"reviewed"', '"state":"accepted"'])
    t.match(output, word, 'a second member works on the case');
});

t.test('names only documented paths and methods in the guide for agents', async (t) => {
  const service = await startService(t);
  const { text } = await service.call('GET', '/for-agents.md');
  const { paths } = (await service.call('GET', '/openapi.json')).body;
  const named = [...text.matchAll(/`(GET|POST) (\/[^\s`]+)/g)];
  t.ok(named.length > 12);
  for (const [, method = '', path = ''] of named)
    t.ok(paths[path]?.[method.toLowerCase()], `${method} ${path}`);
  t.notMatch(text, /\{base_url\}|\{writes_per_day\}/);
  for (const word of [...REVIEW_DECISIONS, ...ARTIFACT_KINDS, 'confirm_handle', 'erase_notes'])
    t.match(text, word);
});

t.test('shows the configuration and the active policies in policy.json', async (t) => {
  const service = await startService(t, {
    LIMIT_WRITES_PER_DAY: '77',
    RETENTION_REJECTED_DAYS: '31',
    UNDO_WINDOW_SECONDS: '60',
  });
  const { body } = await service.call('GET', '/policy.json');
  t.equal(body.policy_version, 'service-public-v1');
  t.equal(body.limits.writes_per_day, 77);
  t.equal(body.retention.rejected_or_removed_text_days, 31);
  t.equal(body.moderation.undo_window_seconds, 60);
  const codes = body.moderation.policies.map(({ code }: { code: string }) => code);
  t.ok(codes.includes('spam') && codes.includes('personal_data'));
});

t.test('names a contact in security.txt, if one is known', async (t) => {
  const local = await startService(t);
  const localText = await local.call('GET', '/.well-known/security.txt');
  t.match(
    localText.text,
    /^Contact: mailto:security@localhost$/m,
    'a local service has a local contact',
  );
  const withoutContact = await startService(t, { BASE_URL: 'https://example.org' });
  t.equal((await withoutContact.call('GET', '/.well-known/security.txt')).body.status, 'not_found');
  const service = await startService(t, { SECURITY_CONTACT: CONTACT });
  const { text } = await service.call('GET', '/.well-known/security.txt');
  t.match(text, new RegExp(`^Contact: ${CONTACT}$`, 'm'));
  const expires = new Date(/^Expires: (.+)$/m.exec(text)?.[1] ?? '').getTime();
  t.ok(expires > Date.now() && expires < Date.now() + 366 * 86_400_000);
  t.equal(text.match(/^Expires:/gm)?.length, 1);
});

t.test('links only to existing pages in robots.txt, the sitemap and llms.txt', async (t) => {
  const service = await startService(t);
  const robots = (await service.call('GET', '/robots.txt')).text;
  t.match(robots, `Sitemap: ${service.baseUrl}/sitemap.xml`);
  const map = (await service.call('GET', '/sitemap.xml')).text;
  const llms = (await service.call('GET', '/llms.txt')).text;
  const urls = [
    ...[...map.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => url ?? ''),
    ...[...llms.matchAll(/\]\(([^)]+)\)/g)].map(([, url]) => url ?? ''),
  ];
  t.ok(urls.length >= 9);
  for (const url of urls)
    t.equal((await service.call('GET', url.replace(service.baseUrl, ''))).status, 200, url);
});
