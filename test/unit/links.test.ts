import t from 'tap';
import { findLinks } from '../../web/shared/links.ts';

/** What is linked in a text: the part of the text, and where it leads. */
const links = (text: string) =>
  findLinks(text).map(({ start, end, href }) => [text.slice(start, end), href]);

/** The parts of a text that are linked. */
const shown = (text: string) => links(text).map(([part]) => part);

t.test('links web addresses, without the sentence around them', async (t) => {
  const cases: [text: string, ...parts: string[]][] = [
    ['See https://example.org.', 'https://example.org'],
    ['(https://example.org/a_(b))', 'https://example.org/a_(b)'],
    ['“https://example.org/a”, and more', 'https://example.org/a'],
    ["It's at https://example.org/it’s’", 'https://example.org/it’s'],
    ['a\u00a0https://example.org/b\u00a0c', 'https://example.org/b'],
    ['https://example.org/a?b=1&c=2#d!', 'https://example.org/a?b=1&c=2#d'],
    ['HTTPS://EXAMPLE.ORG/Path', 'HTTPS://EXAMPLE.ORG/Path'],
    [
      'http://127.0.0.1:8080/x and http://example.org:80',
      'http://127.0.0.1:8080/x',
      'http://example.org:80',
    ],
    ['看 https://example.org/路径。好', 'https://example.org/路径'],
    ['<https://example.org>', 'https://example.org'],
    ['https://example.org…', 'https://example.org'],
    ['مرحبا https://example.org/b مرحبا', 'https://example.org/b'],
    ['https://example.org/\u200bhidden', 'https://example.org/'],
  ];
  for (const [text, ...parts] of cases) t.strictSame(shown(text), parts, text);
});

t.test('links nothing that could lead elsewhere than it says', async (t) => {
  for (const text of [
    'javascript:alert(1)',
    'javascript:https://example.org/%0aalert(1)',
    'data:text/html,https://example.org',
    'xhttps://example.org',
    'ftp://example.org file:///etc/passwd mailto:a@example.org',
    'https://user:secret@example.org/',
    'https://example.org@evil.test/',
    'https://example.org:pass@evil.test',
    'https://example.org\\@evil.test',
    'https://аррӏе.com/ https://exаmple.org/',
    'https://xn--80ak6aa92e.com/ https://www.xn--80ak6aa92e.com/',
    'https://example.org\u202egro.live/',
    'https://localhost/ https://example https:// http:///example.org',
    'https://example.org:99999999/',
    '//example.org www.example.org example.org',
    'https://ex\u200bample.org',
  ])
    for (const [part, href] of links(text)) {
      t.equal(part, 'https://example.org', `${text}: ${part}`);
      t.equal(href, 'https://example.org/', text);
    }
  t.strictSame(shown('https://example.org@evil.test/'), []);
  t.strictSame(shown('https://user:secret@example.org/'), []);
  t.strictSame(shown('https://exаmple.org/'), []);
  t.strictSame(shown('javascript:https://example.org/'), []);
});

t.test('finds links in a long hostile text in bounded time', async (t) => {
  for (const part of [
    'https://',
    'https://a',
    'https://a.b)',
    'https://a.b/(',
    "https://a.b/'’.",
    ')))',
  ])
    t.type(findLinks(part.repeat(100_000 / part.length)), Array);
});
