import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { fileText } from '../../cli/import/file-text.ts';
import { READERS, type SourceComment } from '../../cli/import/source.ts';
import type { ImportSource } from '../../domain/guestbook/words.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { remark42, remarkComment } from '../support/import-command.ts';

const folder = temporaryFolder('import-readers');
t.teardown(folder.remove);
let files = 0;

function file(content: string | Uint8Array): string {
  files += 1;
  const path = join(folder.path, `export-${files}`);
  writeFileSync(path, content);
  return path;
}

async function read(source: ImportSource, content: string | Uint8Array): Promise<SourceComment[]> {
  const found: SourceComment[] = [];
  for await (const comment of (await READERS[source]())(file(content))) found.push(comment);
  return found;
}

const disqus = (posts: string, head = '') => `<?xml version="1.0" encoding="utf-8"?>${head}
<disqus xmlns="http://disqus.com" xmlns:dsq="http://disqus.com/disqus-internals"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <category dsq:id="11"><forum>blog</forum><title>General</title><isDefault>true</isDefault></category>
  <thread dsq:id="21"><id>post-1</id><forum>blog</forum><category dsq:id="11"/>
    <link>https://blog.example/guestbook/</link><title>Guestbook</title>
    <createdAt>2013-02-01T00:00:00Z</createdAt><isClosed>false</isClosed><isDeleted>false</isDeleted>
    <author><name>Owner</name><isAnonymous>false</isAnonymous><username>owner</username></author>
  </thread>
  ${posts}
</disqus>`;

const post = (
  id: string,
  { name = 'Ann', message = '<p>Hi</p>', parent = '', deleted = false } = {},
) =>
  `<post dsq:id="${id}"><id>wp_id=${id}</id><message><![CDATA[${message}]]></message>
    <createdAt>2013-02-11T14:47:34Z</createdAt><isDeleted>${deleted}</isDeleted><isSpam>false</isSpam>
    <author><email>ann@mail.example</email><name>${name}</name><isAnonymous>true</isAnonymous></author>
    <ipAddress>192.0.2.1</ipAddress><thread dsq:id="21"/>
    ${parent ? `<parent dsq:id="${parent}"/>` : ''}</post>`;

t.test('reads posts of Disqus', async (t) => {
  const posts = await read(
    'disqus',
    disqus(post('1', { name: 'A &amp; B' }) + post('2', { parent: '1', deleted: true })),
  );
  t.match(posts, [
    {
      ...{ ref: '1', parent: null, name: 'A & B', text: '<p>Hi</p>', html: true },
      ...{ thread: 'https://blog.example/guestbook/', state: 'published' },
      writtenAt: Date.parse('2013-02-11T14:47:34Z'),
    },
    { ref: '2', parent: '1', state: 'deleted' },
  ]);
  t.notMatch(JSON.stringify(posts), /mail\.example|192\.0\.2/);
});

t.test('reads comments of WordPress', async (t) => {
  const comment = (id: number, { approved = '1', type = 'comment', parent = 0 } = {}) =>
    `<wp:comment><wp:comment_id>${id}</wp:comment_id>
      <wp:comment_author><![CDATA[Ann]]></wp:comment_author>
      <wp:comment_author_email>ann@mail.example</wp:comment_author_email>
      <wp:comment_author_IP>192.0.2.1</wp:comment_author_IP>
      <wp:comment_date>2013-02-11 16:47:34</wp:comment_date>
      <wp:comment_date_gmt>2013-02-11 14:47:34</wp:comment_date_gmt>
      <wp:comment_content><![CDATA[Line one
line <b>two</b> ]]]]><![CDATA[> end]]></wp:comment_content>
      <wp:comment_approved>${approved}</wp:comment_approved><wp:comment_type>${type}</wp:comment_type>
      <wp:comment_parent>${parent}</wp:comment_parent><wp:comment_user_id>0</wp:comment_user_id>
    </wp:comment>`;
  const comments = await read(
    'wordpress',
    `<?xml version="1.0" encoding="UTF-8" ?><rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/">
    <channel><title>Blog</title><link>https://blog.example</link>
    <wp:wxr_version>1.2</wp:wxr_version><wp:base_blog_url>https://blog.example</wp:base_blog_url>
    <item><title>Guestbook</title><link>https://blog.example/guestbook/</link>
      ${comment(1)}${comment(2, { parent: 1, approved: '0' })}${comment(3, { approved: 'spam' })}
      ${comment(4, { type: 'pingback' })}${comment(5, { approved: 'trash' })}</item>
    <item><link>https://blog.example/other/</link>${comment(6)}</item></channel></rss>`,
  );
  t.match(comments, [
    {
      ...{ ref: '1', parent: null, identity: ['https://blog.example', '1'], state: 'published' },
      ...{ name: 'Ann', text: 'Line one\nline <b>two</b> ]]> end' },
      thread: 'https://blog.example/guestbook/',
      writtenAt: Date.parse('2013-02-11T14:47:34Z'),
    },
    { ref: '2', parent: '1', state: 'pending' },
    { ref: '3', state: 'spam' },
    { ref: '4', state: 'no comment' },
    { ref: '5', state: 'deleted' },
    { ref: '6', thread: 'https://blog.example/other/' },
  ]);
  t.notMatch(JSON.stringify(comments), /mail\.example|192\.0\.2/);
});

t.test('reads an export of Commento, and a backup of remark42', async (t) => {
  const comment = {
    ...{ commentHex: 'aa', domain: 'blog.example', url: '/guestbook', commenterHex: 'cc' },
    ...{ markdown: '**Hi**', html: '', parentHex: 'root', score: 0, state: 'approved' },
    ...{ creationDate: '2018-06-01T10:00:00.123456Z', direction: 0, deleted: false },
  };
  const commento = await read(
    'commento',
    gzipSync(
      JSON.stringify({
        version: 1,
        comments: [
          comment,
          { ...comment, commentHex: 'bb', parentHex: 'aa', commenterHex: 'anonymous' },
          { ...comment, commentHex: 'dd', state: 'unapproved' },
          { ...comment, commentHex: 'ee', deleted: true },
        ],
        commenters: [{ commenterHex: 'cc', email: 'a@mail.example', name: 'Ann', link: '' }],
      }),
    ),
  );
  t.match(commento, [
    { ref: 'aa', parent: null, name: 'Ann', text: '**Hi**', thread: '/guestbook' },
    { ref: 'bb', parent: 'aa', name: '', state: 'published' },
    { ref: 'dd', state: 'pending' },
    { ref: 'ee', state: 'deleted' },
  ]);
  t.equal(commento[0]?.writtenAt, Date.parse('2018-06-01T10:00:00.123Z'));
  const remark = await read(
    'remark42',
    remark42([remarkComment('a'), remarkComment('b', { pid: 'a' })]),
  );
  t.match(remark, [
    { ref: 'a', parent: null, identity: ['site', 'a'], name: 'Author a', html: true },
    { ref: 'b', parent: 'a', thread: 'https://blog.example/guestbook' },
  ]);
});

t.test('reads the generic format of isso', async (t) => {
  const comment = {
    ...{ id: 1, author: 'Ann', email: 'a@mail.example', website: '', remote_addr: '192.0.2.1' },
    ...{ created: '2018-06-01 10:00:00', text: 'Hi' },
  };
  const comments = await read(
    'isso',
    JSON.stringify([
      { id: '/one/', title: 'One', comments: [comment, { ...comment, id: 2 }] },
      { id: '/two/', title: 'Two', comments: [comment] },
    ]),
  );
  t.match(comments, [
    { thread: '/one/', name: 'Ann', text: 'Hi', parent: null },
    { thread: '/one/' },
    { thread: '/two/' },
  ]);
  t.equal(new Set(comments.map(({ ref }) => ref)).size, 3);
  await t.rejects(read('isso', JSON.stringify([{ comments: [comment] }])), /needs its "id"/);
});

t.test('expands no entity that a file declares', async (t) => {
  const entities = Array.from(
    { length: 9 },
    (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`,
  );
  const head = `<!DOCTYPE x [<!ENTITY l0 "lol"><!ENTITY f SYSTEM "file:///etc/passwd">${entities.join('')}]>`;
  const [bomb] = await read('disqus', disqus(post('1', { name: '&l9;&f;' }), head));
  t.equal(bomb?.name, '&l9;&f;');
});

t.test('keeps the beginning of a name of 10 MB', async (t) => {
  const name = 'n'.repeat(10_000_000);
  const [inXml] = await read('disqus', disqus(post('1', { name })));
  t.equal(inXml?.name.length, 65_536);
  const [inJson] = await read('remark42', remark42([remarkComment('a', { user: { name } })]));
  t.equal(inJson?.name.length, 65_536);
});

t.test('refuses what is no export, is cut, or is nested or large beyond reason', async (t) => {
  const huge = 'x'.repeat(17_000_000);
  for (const [source, content, reason] of [
    ['disqus', '', /ends too early/],
    ['disqus', '<rss></rss>', /the root of the file is not disqus/],
    ['disqus', disqus(post('1')).slice(0, -20), /ends too early/],
    ['disqus', `${disqus('')}<disqus>`, /the root of the file is not disqus/],
    ['disqus', `<disqus>${'<a>'.repeat(1_000_000)}`, /nested too deeply/],
    ['disqus', `<disqus><post dsq:id="${huge}"`, /a tag has more than/],
    ['disqus', `<disqus><${huge}`, /a tag has more than/],
    ['wordpress', disqus(post('1')), /the root of the file is not rss/],
    ['commento', '{"version":2,"comments":[],"commenters":[]}', /in version 1/],
    ['commento', '{"version":1,"comments":[', /ends too early/],
    ['commento', '[1, 2', /ends too early/],
    ['commento', '{"version":1} x', /not valid JSON/],
    ['commento', '['.repeat(1_000_000), /nested too deeply/],
    ['commento', `{"version":1,"comments":["${huge}`, /one value of the JSON has more/],
    ['isso', 'SQLite format 3\0 and no more', /not a database of isso/],
    ['isso', '{"id"', /ends too early/],
    ['remark42', '', /the file is empty/],
    ['remark42', '{"a":1}\n', /first line is not that of a backup/],
    ['remark42', remark42([]).slice(0, 9), /not valid JSON/],
    ['remark42', `{"version":1}\n"${huge}`, /a line has more than/],
    ['remark42', gzipSync(remark42([])).subarray(0, 20), /gzip file is damaged/],
  ] as const)
    await t.rejects(
      read(source, content),
      { name: 'UnreadableExport', message: reason },
      `${reason}`,
    );
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  await t.rejects(async () => {
    for await (const _ of fileText(file(bomb), 10_000_000));
  }, /more than 10000000 bytes, unpacked/);
});
