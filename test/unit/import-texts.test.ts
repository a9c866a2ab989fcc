import t from 'tap';
import { toPlainText } from '../../cli/import/plain-text.ts';
import { type SourceComment, toTime } from '../../cli/import/source.ts';
import { sourceKey, toNote } from '../../cli/import/to-note.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');

const written = (more: Partial<SourceComment>): SourceComment => ({
  ref: '1',
  parent: null,
  identity: ['1'],
  thread: '',
  name: 'Ann',
  text: 'Hello',
  html: false,
  writtenAt: Date.parse('2019-05-01T10:00:00Z'),
  state: 'published',
  ...more,
});

t.test('writes HTML as plain text', async (t) => {
  const texts: [string, string][] = [
    ['<p>One</p>\n<p>Two<br>lines</p>', 'One\n\nTwo\nlines'],
    ['a &lt;b&gt; &amp; &#99; &eacute;', 'a <b> & c é'],
    ['<a href="https://a.example/x">here</a>', 'here (https://a.example/x)'],
    ['<a href="https://a.example">https://a.example</a>', 'https://a.example'],
    ['<a href="javascript:alert(1)">click</a>', 'click'],
    ['<ul><li>one<li>two</ul>', 'one\ntwo'],
    ['x<script>alert(1)</script><style>p{}</style>y', 'xy'],
    ['<img src=x onerror=alert(1)>seen', 'seen'],
    ['5 < 6 and unclosed <b>bold', '5 < 6 and unclosed bold'],
  ];
  for (const [html, text] of texts) {
    const converted = toNote(written({ html: true, text: html }), NOW);
    t.match(converted, { note: { message: text } }, html);
  }
});

t.test('reads hostile HTML in time in proportion to its length', async (t) => {
  for (const part of [
    '<p>',
    '<a href="https://a">',
    ' ',
    '</p>',
    '<b',
    '&',
    '\t\n',
    '<!--',
    '<script>',
  ])
    t.type(toPlainText(part.repeat(60_000 / part.length)), 'string', part);
  const spaces = toNote(written({ text: `a${' '.repeat(60_000)}b` }), NOW);
  t.match(spaces, { shortened: ['text'] });
});

t.test('applies the limits of a submitted note', async (t) => {
  t.same(toNote(written({ name: 'n'.repeat(41), text: '👍'.repeat(501) }), NOW), {
    note: { name: `${'n'.repeat(39)}…`, message: `${'👍'.repeat(499)}…` },
    shortened: ['name', 'text'],
  });
  t.same(toNote(written({ name: 'n'.repeat(40), text: '👍'.repeat(500) }), NOW), {
    note: { name: 'n'.repeat(40), message: '👍'.repeat(500) },
    shortened: [],
  });
  t.match(
    toNote(written({ name: '  a\n\tb\u0000\u001b[31m ', text: 'x\r\ny\u0000\ud800z' }), NOW),
    {
      note: { name: 'a b[31m', message: 'x\nyz' },
    },
  );
  t.match(toNote(written({ text: 'a\u202eb' }), NOW), { note: { message: 'a\u202eb' } });
  t.match(toNote(written({ name: 'n'.repeat(10_000_000) }), NOW), { shortened: ['name'] });
});

t.test('refuses what cannot be a note, and says why', async (t) => {
  const refusals: [Partial<SourceComment>, RegExp][] = [
    [{ text: '' }, /message: must have a visible character/],
    [{ text: ' \u200b\u0000 ' }, /message: must have a visible character/],
    [{ text: '<img src=x>', html: true }, /message: must have a visible character/],
    [{ writtenAt: Number.NaN }, /no valid time/],
    [{ writtenAt: 0 }, /no valid time/],
    [{ writtenAt: Number.POSITIVE_INFINITY }, /in the future/],
    [{ writtenAt: NOW + 1 }, /in the future/],
    [{ ref: '' }, /no id/],
    [{ state: 'spam' }, /spam/],
    [{ state: 'deleted' }, /deleted/],
    [{ state: 'no comment' }, /no comment of a person/],
  ];
  for (const [more, reason] of refusals)
    t.match(toNote(written(more), NOW), { refused: reason }, JSON.stringify(more));
});

t.test('reads times with and without a zone, and no others', async (t) => {
  const at = Date.parse('2020-02-29T12:00:00Z');
  for (const text of [
    '2020-02-29T12:00:00Z',
    '2020-02-29 12:00:00',
    '2020-02-29T14:00:00.000000000+02:00',
  ])
    t.equal(toTime(text), at, text);
  for (const text of ['', '0000-00-00 00:00:00', '2020-13-01 00:00:00', 'yesterday', '1e99'])
    t.ok(Number.isNaN(toTime(text)), text);
});

t.test('never gives two comments one key', async (t) => {
  const key = (source: 'isso' | 'disqus', site: string, identity: string[]) =>
    sourceKey(source, site, { identity });
  const keys = [
    key('isso', '', ['1']),
    key('disqus', '', ['1']),
    key('isso', 'blog', ['1']),
    key('isso', '', ['blog', '1']),
    key('isso', '["', ['1']),
    key('isso', '', ['1","']),
    key('isso', '', ['1', '']),
  ];
  t.equal(new Set(keys).size, keys.length);
  t.equal(key('isso', '', ['1']), keys[0]);
});
