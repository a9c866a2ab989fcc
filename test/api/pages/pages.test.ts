import { randomBytes } from 'node:crypto';
import t from 'tap';
import { decide, submit } from '../../../harness/moderation.ts';
import { builtPages } from '../../../services/pages/build.ts';
import { startService } from '../../support/service.ts';
import { furnishSite } from '../../support/site.ts';

t.test('loads only its own files on a page and caches them without revalidation', async (t) => {
  const service = await startService(t);
  for (const path of ['/', '/moderation']) {
    const page = await service.call('GET', path);
    t.equal(page.status, 200);
    t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    t.equal(page.headers.get('referrer-policy'), 'same-origin');
    t.match(page.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self';/);
    t.notMatch(
      page.text,
      /<script(?![^>]*(?:\ssrc=|application\/json))|<style|\sstyle=|\son\w+=|http:\/\/(?!www\.w3|127\.)/,
    );
    const again = { 'if-none-match': page.headers.get('etag') ?? '' };
    t.equal((await service.call('GET', path, { headers: again })).status, 304);
    const files = [...page.text.matchAll(/\/assets\/[^"]+/g)].map(([file]) => file);
    t.equal(files.length, 2, 'the page has a script and a style sheet');
    for (const file of files) {
      t.match(file, /-[\w-]{12}\.(js|css)$/, 'the file name contains a hash');
      const asset = await service.call('GET', file);
      t.equal(asset.status, 200);
      t.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      t.match(asset.headers.get('content-type'), /^text\/(javascript|css); charset=utf-8$/);
    }
  }
});

t.test('serves an asset in an encoding that the caller accepts', async (t) => {
  const service = await startService(t);
  const { scripts, pages } = await builtPages();
  const { script } = pages.moderation;
  const plain = Buffer.from(scripts.get(script)?.bytes as Uint8Array).toString();
  const encodingFor = async (accepted: string) => {
    const headers = { 'accept-encoding': accepted };
    const answer = await service.call('GET', `/assets/scripts/${script}`, { headers });
    t.equal(answer.text, plain, accepted);
    t.equal(answer.headers.get('vary'), 'accept-encoding');
    return answer.headers.get('content-encoding');
  };
  t.equal(await encodingFor('gzip, deflate, br'), 'br');
  t.equal(await encodingFor('gzip;q=0.5, br;q=0'), 'gzip');
  t.equal(await encodingFor('identity'), null);
  t.equal((await service.call('GET', '/assets/scripts/other.js')).status, 404);
  t.equal((await service.call('GET', `/assets/styles/${script}`)).status, 404);
});

t.test('answers a long list of encodings in bounded time', async (t) => {
  const service = await startService(t);
  const { script } = (await builtPages()).pages.moderation;
  const measure = async (encoding: string) => {
    const started = process.cpuUsage();
    for (let turn = 0; turn < 20; turn++)
      await service.call('GET', `/assets/scripts/${script}`, {
        headers: { 'accept-encoding': encoding },
      });
    const { user, system } = process.cpuUsage(started);
    return user + system;
  };
  const short = await measure('gzip');
  for (const long of [`gzip${' '.repeat(7500)}x`, `gzip;q=0.${'1'.repeat(7500)}x`])
    t.ok((await measure(long)) < 20 * short);
});

/** The most bytes of a first visit, with all that the page loads, as a browser transfers them. */
const MAX_FIRST_VISIT = 56_000;
/** The first page of the API reference, and the longest. */
const REFERENCE = ['/docs', '/docs/moderation', '/docs/pages', '/docs/schemas', '/docs/events'];

t.test(
  'transfers at most 56 KB on a first visit to any kind of page, with a full guestbook',
  async (t) => {
    const service = await startService(t);
    const { lead, note, caseId } = await furnishSite(service);
    for (let count = 0; count < 30; count++) {
      const message = `${count} ${randomBytes(240).toString('base64')}`;
      await decide(lead, (await submit(service, { message })).id, 'approve');
    }
    const headers = { 'accept-encoding': 'br' };
    const transferred = async (path: string) => {
      const answer = await service.call('GET', path, { headers });
      if (answer.text.length > 1000) t.equal(answer.headers.get('content-encoding'), 'br', path);
      return { bytes: Number(answer.headers.get('content-length')), text: answer.text };
    };
    const site = [
      '/',
      `/notes/${note.id}`,
      `/cases/${caseId}`,
      '/me',
      '/write',
      `/report?type=note&id=${note.id}`,
      '/transparency',
      '/moderation',
    ];
    for (const path of [...site, ...REFERENCE]) {
      const page = await transferred(path);
      const files =
        page.text.match(/(?<=(?:src|href)=")\/(?:assets|docs)\/[^"]+\.(?:js|css)/g) ?? [];
      let total = page.bytes;
      for (const file of files) total += (await transferred(file)).bytes;
      t.ok(total <= MAX_FIRST_VISIT, `${path}: ${total} bytes with ${files.length} files`);
      t.comment(`${path}: ${total} bytes`);
    }
  },
);

t.test('answers the address that browsers ask for an icon', async (t) => {
  const service = await startService(t);
  const icon = await service.call('GET', '/favicon.ico');
  t.equal(icon.status, 200);
  t.match(icon.headers.get('content-type'), /^image\/svg\+xml/);
  t.match(icon.text, /^<svg [^>]+>.*<\/svg>$/);
});
