import t from 'tap';
import { prefersMarkdown } from '../../platform/http/accept.ts';

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
