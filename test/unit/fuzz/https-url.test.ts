import fc from 'fast-check';
import t from 'tap';
import { z } from 'zod';
import { HttpsUrl } from '../../../platform/http/https-url.ts';
import { tries } from '../../support/sequences.ts';

const accepts = (text: string) => HttpsUrl.safeParse(text).success;
const { HttpsUrl: { pattern = '.' } = {} } = z.toJSONSchema(HttpsUrl).$defs ?? {};

t.test('accepts https URLs of RFC 3986 unchanged', async (t) => {
  for (const url of [
    'https://example.org',
    'HTTPS://Example.ORG/',
    'https://example.org./x',
    'https://a_b.example.org?q=%C3%A9#y',
    'https://example.org:/',
    'https://example.org:00443/',
    'https://example.org:65000/',
    'https://example.org:65535/',
    'https://192.0.2.1/',
    'https://255.249.199.0:8443',
    'https://[::]/',
    'https://[::1]:8443/x',
    'https://[2001:db8::8a2e:0:1]/',
    'https://[1:2:3:4:5:6:7:8]',
    'https://[1:2:3:4:5:6:7::]',
    'https://[::2:3:4:5:6:7:8]',
    'https://[::ffff:192.0.2.1]/',
  ]) {
    t.equal(HttpsUrl.safeParse(url).data, url, url);
    t.ok(URL.canParse(url), url);
  }
});

t.test('refuses URLs that are not absolute https or have user information', async (t) => {
  for (const text of [
    'http://example.org/',
    'https:example.org',
    'https:///example.org',
    'https://',
    '//example.org/',
    'https://me@example.org/',
    'https://me:secret@example.org/',
    'https://@example.org/',
    'https://example.org:65536/',
    'https://example.org:99999/',
    'https://example.org:x/',
    'https://192.0.2.256/',
    'https://192.0.2/',
    'https://[1:2:3:4:5:6:7:8:9]/',
    'https://[1::2::3]/',
    'https://[fe80::1%25eth0]/',
    'https://[::1',
    'https://a..b/',
    'https://exämple.org/',
    'https://example.org/ä',
    'https://example.org/a b',
    'https://example.org/%zz',
    'https://example.org/\n',
    'https://example.org\\x',
    ' https://example.org/',
  ])
    t.notOk(accepts(text), JSON.stringify(text));
});

t.test('documents a pattern that matches only accepted URLs', async () => {
  const texts = fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length <= 2000);
  const named = fc.webUrl({
    validSchemes: ['https'],
    withQueryParameters: true,
    withFragments: true,
  });
  const host = fc.oneof(
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
  );
  const numbered = fc
    .tuple(host, fc.nat(65_535))
    .map(([address, port]) => `https://${address}:${port}/`);
  fc.assert(fc.property(fc.oneof(texts, named, numbered), accepts), tries(1000));
});
