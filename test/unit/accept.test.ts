import t from 'tap';
import { prefersMarkdown, readQualities, wantsPage } from '../../platform/http/accept.ts';
import type { Request } from '../../platform/http/admission.ts';
import { preferredEncoding } from '../../platform/http/compression.ts';

t.test('prefers Markdown only where Accept names it, and HTML does not rank above it', (t) => {
  for (const accept of [
    'text/markdown',
    'text/markdown, text/html, */*',
    'TEXT/Markdown;variant=GFM',
    'text/html;q=0.5, text/markdown;q=0.9',
    'text/markdown, */*;q=0.1',
    '*/*;q=0.2,text/markdown;q=0.2',
  ])
    t.ok(prefersMarkdown(accept), accept);
  for (const accept of [
    undefined,
    '',
    '*/*',
    'text/*',
    'text/html,application/xhtml+xml,*/*;q=0.8',
    'text/markdown;q=0, text/html',
    'text/markdown;q=0',
    'text/markdown;q=0.5, text/html',
    'text/markdown;q=0.5, */*',
    'text/markdown;q=x',
    'text/markdown-x',
  ])
    t.notOk(prefersMarkdown(accept), String(accept));
  t.end();
});

t.test('reads the weight of each entry, and ignores entries whose weight cannot be read', (t) => {
  for (const [header, qualities] of [
    ['text/html', { 'text/html': 1 }],
    ['TEXT/HTML ; q=0.8 ,*/*;Q=0.123', { 'text/html': 0.8, '*/*': 0.123 }],
    ['text/html;level=1;q=0.4', { 'text/html': 0.4 }],
    ['*;q=.2, gzip;q=1.000, br;q=0', { '*': 0.2, gzip: 1, br: 0 }],
    ['text/html;level=1;q=0.4, text/html;level=2;q=0.7, text/html;q=0', { 'text/html': 0.7 }],
    ['a;q=x, b;q=, c;q=., d;q=2, e;q=-1, f;q=1.1, g;q=0x1, h;q=1e0, i;q=0.5 0.6', {}],
  ] as const)
    t.same(Object.fromEntries(readQualities(header)), qualities, header);
  t.end();
});

t.test('sends an error as a page only where Accept names HTML and does not exclude it', (t) => {
  const asks = (accept?: string) =>
    wantsPage({ method: 'GET', url: '/nowhere', headers: { accept } } as Request, undefined);
  for (const accept of [
    'text/html',
    'application/json, text/html;q=0.1',
    'text/html;q=0.5;v=b3',
    'text/html;q=.1',
  ])
    t.ok(asks(accept), accept);
  for (const accept of [
    undefined,
    '*/*',
    'text/*',
    'text/html;q=0',
    'text/html;q=0.000;v=b3',
    'text/html;q=high',
    'text/html;q=2',
    'application/xhtml+xml',
  ])
    t.notOk(asks(accept), String(accept));
  t.end();
});

t.test('compresses only with encodings whose weight can be read', (t) => {
  for (const [header, encoding] of [
    ['gzip;q=x', undefined],
    ['gzip;q=2, br;q=0.1', 'br'],
    ['br;q=x, *;q=0.1', 'br'],
    ['gzip;q=0.5, identity;q=x', 'gzip'],
  ] as const)
    t.equal(preferredEncoding(header), encoding, header);
  t.end();
});
