import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { conflictReasons } from '../../domain/conflict.ts';
import { UPDATE_TYPES } from '../../domain/updates/update-type.ts';
import { addExamples } from '../../platform/http/examples.ts';
import type { OpenApiDocument } from '../../platform/http/openapi.ts';
import {
  operationsOf,
  toReferenceDocument,
} from '../../services/documents/reference/document-shape.ts';
import { referencePages } from '../../services/documents/reference/pages.ts';

const GOLDEN = join(import.meta.dirname, '../contract/openapi.golden.json');
const ADDRESS = 'https://service.test';
const PLACE = { baseUrl: ADDRESS, siteName: 'Guestbook', notice: '' };

/** The golden document, with the examples that it leaves out. */
function golden(): OpenApiDocument {
  const document = JSON.parse(readFileSync(GOLDEN, 'utf8'));
  addExamples(document, ADDRESS);
  return document;
}

const document = toReferenceDocument(golden());
const operations = operationsOf(document);
const { overview, pages } = referencePages(golden(), PLACE);
const htmlOf = (page: string) => pages.get(page) ?? '';
const all: [path: string, html: string][] = [
  ['/docs', overview],
  ...[...pages].map(([name, html]): [string, string] => [`/docs/${name}`, html]),
];
/** More make a page slow to lay out on a phone. */
const MAX_ELEMENTS = 3000;
const MAX_OVERVIEW_ELEMENTS = 1400;
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id ?? '');
const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** The HTML of one operation, from the page of its tag. */
function sectionOf(operationId: string): string {
  const tag = operations.find((operation) => operation.operationId === operationId)?.tags[0];
  const page = htmlOf(tag ?? '');
  const start = page.indexOf(`<section class="operation" id="operation-${operationId}">`);
  return start < 0 ? '' : page.slice(start, page.indexOf('</section>', start));
}

/** The name of the first element that is closed out of order; undefined if there is none. */
function firstUnbalanced(html: string): string | undefined {
  const open: string[] = [];
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (['meta', 'link'].includes(name)) continue;
    if (!end) open.push(name);
    else if (open.pop() !== name) return name;
  }
  return open.pop();
}

t.test('shows every operation on the page of its tag, in the order of the document', async (t) => {
  const byTag = Map.groupBy(operations, ({ tags: [tag = ''] }) => tag);
  t.same([...pages.keys()], [...byTag.keys(), 'schemas', 'events', 'errors']);
  for (const [tag, tagged] of byTag)
    t.same(
      idsOf(htmlOf(tag)).filter((id) => id.startsWith('operation-')),
      tagged.map(({ operationId }) => `operation-${operationId}`),
    );
  for (const { operationId, method, path, summary, tags, parameters = [] } of operations) {
    const section = sectionOf(operationId);
    t.match(section, `>${escaped(summary)}</a></h2>`, operationId);
    t.match(section, new RegExp(`<b class="method [a-z]+">${method}</b> <code>`), operationId);
    t.match(section, `<code>${path}</code>`, operationId);
    t.match(section, 'curl -sS ', operationId);
    t.match(section, 'Who may call:', operationId);
    const link = `#operation-${operationId}"><b>${method}</b> ${path}</a>`;
    t.match(htmlOf(`${tags[0]}`), `<a href="${link}`, operationId);
    t.match(overview, `<a href="/docs/${tags[0]}${link}`, operationId);
    for (const { name } of parameters)
      t.match(section, `<code class="name">${name}</code>`, `${operationId} ${name}`);
  }
  for (const [path, html] of all) t.notMatch(html, /<b[^>]*>HEAD</, path);
});

t.test('has few elements on each page, and fewest on the first', async (t) => {
  for (const [path, html] of all) {
    const count = html.match(/<[a-z]/g)?.length ?? 0;
    const most = path === '/docs' ? MAX_OVERVIEW_ELEMENTS : MAX_ELEMENTS;
    t.ok(count < most, `${path}: ${count} elements`);
  }
});

t.test('links from each anchor of the former single page to the same anchor', async (t) => {
  const entries = new Map(
    [...overview.matchAll(/<(?:li|h[23]) id="([^"]+)"><a href="([^"]+)"/g)].map(
      ([, id = '', href = '']) => [id, href],
    ),
  );
  const anchors = [
    ...operations.map(({ operationId }) => `operation-${operationId}`),
    ...Object.keys(document.components.schemas).map((name) => `schema-${name}`),
    ...(document.components.schemas.ErrorCode?.enum ?? []).map((code) => `error-${code}`),
  ];
  for (const anchor of anchors) {
    const [path, fragment] = entries.get(anchor)?.split('#') ?? [];
    t.equal(fragment, anchor);
    t.ok(idsOf(new Map(all).get(path ?? '') ?? '').includes(anchor), anchor);
  }
  const tags = operations.map(({ tags: [tag] }) => tag);
  for (const tag of tags) t.equal(entries.get(`tag-${tag}`), `/docs/${tag}`);
  t.equal(entries.get('schemas'), '/docs/schemas');
  t.equal(entries.get('errors'), '/docs/errors');
});

t.test('says who may call an operation, with its scope or roles', async (t) => {
  const access = (id: string) =>
    /Who may call:<\/b> ([^\n]*)<\/p>/
      .exec(sectionOf(id))?.[1]
      ?.replace(/<[^>]+>/g, '`')
      .trim();
  t.equal(access('status.get'), 'anyone, without a credential.');
  t.equal(access('guestbook.submit'), "anyone; a member's browser session is used if it is sent.");
  t.equal(access('guestbook.withdraw'), 'a member, with a browser session.');
  t.equal(
    access('case.claim'),
    'a member, with a scoped credential. Needs the scope `case:claim`.',
  );
  t.equal(
    access('moderation.claim'),
    'a moderator, with a token or a browser session. For the roles triage, moderator, lead.',
  );
});

t.test('shows each response, and each error with its meaning', async (t) => {
  const codesOf = (text = '') => [...text.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code ?? '');
  const seen = new Set<string>();
  for (const { operationId, responses } of operations)
    for (const [status, { $ref, description, content }] of Object.entries(responses)) {
      const section = sectionOf(operationId);
      const shared = document.components.responses[$ref?.split('/').at(-1) ?? ''];
      const isRefusal =
        shared ?? /\/(Bare)?Problem$/.test(content?.['application/json']?.schema?.$ref ?? '');
      if (!isRefusal) t.match(section, `<b>${status}</b>`, `${operationId} ${status}`);
      else
        for (const code of codesOf(description ?? shared?.description)) {
          seen.add(code);
          t.match(
            section,
            new RegExp(`<li>${status} <a href="/docs/errors#error-${code}">${code}</a> [A-Z]`),
            `${operationId} ${status} ${code}`,
          );
        }
      const example = content?.['application/json']?.example;
      if (!isRefusal && example !== undefined)
        t.match(section, escaped(JSON.stringify(example, null, 2)));
    }
  const codes = (document.components.schemas.ErrorCode?.enum ?? []) as string[];
  t.same([...seen].sort(), codes, 'every code belongs to an operation');
  for (const code of codes) t.match(htmlOf('errors'), `<li id="error-${code}">`);
  for (const [reason, message] of Object.entries(conflictReasons))
    t.match(htmlOf('errors'), `<li><code>${reason}</code> ${message}</li>`);
});

t.test('describes each schema once, and each type of update in one list', async (t) => {
  const ids = [...pages.values()].flatMap(idsOf).filter((id) => id !== 'content');
  t.same(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
    'no id is repeated',
  );
  for (const name of Object.keys(document.components.schemas))
    t.ok(ids.includes(`schema-${name}`), name);
  const page = htmlOf('events');
  const start = page.indexOf('<section class="schema" id="schema-UpdateEvent">');
  const list = page.slice(start, page.indexOf('</section>', start));
  const types = [
    ...list.matchAll(/<summary><code>([^<]+)<\/code> <span class="type schema-name"/g),
  ];
  t.same(
    types.map(([, type]) => type),
    Object.keys(UPDATE_TYPES),
  );
});

t.test('explains types and limits in words', async (t) => {
  const fields = (id: string) =>
    [...sectionOf(id).matchAll(/<code class="name">([^<]+)<\/code> (.*?)(?=<\/li>|<ul|$)/gm)].map(
      ([, name, text = '']) => `${name}: ${text.replace(/<[^>]+>/g, '')}`,
    );
  t.ok(fields('case.claim').includes('case_id: UUID, version 4 · required'));
  t.ok(
    fields('case.claim').includes('lease_seconds: integer, 300 to 86400 · optional Default: 3600.'),
  );
  t.match(
    fields('credential.bootstrap'),
    ['Idempotency-Key: UUID, version 4 · required', 'member_id: UUID, version 4 · required'],
    'in this order',
  );
  t.match(
    fields('credential.bootstrap').join('\n'),
    /scopes: list of 1 to 12 different items, each/,
  );
  t.match(
    fields('case.create').join('\n'),
    /title: string, 1 to 160 characters, at least one visible character, no control/,
  );
  t.match(fields('case.create').join('\n'), /artifact_id: UUID, version 4 or null/);
});

t.test('is well-formed, and every link within the reference leads somewhere', async (t) => {
  const ids = new Map(all.map(([path, html]) => [path, new Set(idsOf(html))]));
  let count = 0;
  for (const [path, html] of all) {
    t.equal(firstUnbalanced(html), undefined, path);
    for (const [, link = ''] of html.matchAll(/ href="([^"]*)"/g)) {
      const [page = '', fragment] = link.split('#');
      const isDocument = page === '' || (/^\/docs\b/.test(page) && !page.endsWith('.css'));
      count++;
      if (!isDocument) t.match(link, /^(\/[\w./-]*|data:,)$/);
      else if (!ids.has(page || path)) t.fail(`${path}: ${link}`);
      else if (fragment && !ids.get(page || path)?.has(fragment)) t.fail(`${path}: ${link}`);
    }
    t.notMatch(html, /<script|<style|\sstyle=|\son\w+="|undefined|\[object/, path);
  }
  t.ok(count > 1000);
});

t.test('escapes every text of the document', async (t) => {
  const hostile = '<img src=x onerror="a()">&\'';
  const marked = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(marked);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [
        key,
        ['description', 'summary', 'title', 'bearerFormat', 'message'].includes(key) &&
        typeof part === 'string'
          ? `${part}${hostile}`
          : key === 'enum' || key === 'examples'
            ? part
            : key === 'example'
              ? [part, hostile]
              : marked(part),
      ]),
    );
  };
  const hostilePages = referencePages(marked(golden()) as OpenApiDocument, {
    baseUrl: `${ADDRESS}${hostile}`,
    siteName: hostile,
    notice: hostile,
  });
  const html = [hostilePages.overview, ...hostilePages.pages.values()].join('');
  t.notMatch(html, /<img/);
  t.equal(firstUnbalanced(html), undefined);
  const shown = html.split('&lt;img src=x onerror=').length;
  t.ok(shown > 500, `${shown} texts`);
});
