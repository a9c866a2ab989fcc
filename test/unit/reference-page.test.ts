import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { conflictReasons } from '../../platform/conflict-reasons.ts';
import type { OpenApiDocument } from '../../platform/http/openapi.ts';
import {
  operationsOf,
  toReferenceDocument,
} from '../../services/documents/reference/document-shape.ts';
import { referencePage } from '../../services/documents/reference/page.ts';
import { UPDATE_TYPES } from '../../services/updates/update-type.ts';

const GOLDEN = join(import.meta.dirname, '../contract/openapi.golden.json');
const ADDRESS = 'https://service.test';
const golden = (): OpenApiDocument => JSON.parse(readFileSync(GOLDEN, 'utf8'));

const document = toReferenceDocument(golden());
const operations = operationsOf(document);
const page = referencePage(golden(), ADDRESS);
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id ?? '');
const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** The HTML of one operation. */
function sectionOf(operationId: string): string {
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

t.test('shows every operation once, by tag and in the order of the document', async (t) => {
  const byTag = Map.groupBy(operations, ({ tags: [tag] }) => tag);
  const anchors = idsOf(page).filter((id) => /^(tag|operation)-/.test(id));
  t.same(
    anchors,
    [...byTag].flatMap(([tag, tagged]) => [
      `tag-${tag}`,
      ...tagged.map(({ operationId }) => `operation-${operationId}`),
    ]),
  );
  for (const { operationId, method, path, summary, parameters = [] } of operations) {
    const section = sectionOf(operationId);
    t.match(section, `>${escaped(summary)}</a></h3>`, operationId);
    t.match(section, new RegExp(`<b class="method [a-z]+">${method}</b> <code>`), operationId);
    t.match(section, `<code>${path}</code>`, operationId);
    t.match(section, 'curl -sS ', operationId);
    t.match(section, 'Who may call:', operationId);
    t.match(page, `<a href="#operation-${operationId}"><b>${method}</b> ${path}</a>`);
    for (const { name } of parameters)
      t.match(section, `<code class="name">${name}</code>`, `${operationId} ${name}`);
  }
  t.notMatch(page, /<b[^>]*>HEAD</);
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
            new RegExp(`<li>${status} <a href="#error-${code}"><code>${code}</code></a> [A-Z]`),
            `${operationId} ${status} ${code}`,
          );
        }
      const example = content?.['application/json']?.example;
      if (!isRefusal && example !== undefined)
        t.match(section, escaped(JSON.stringify(example, null, 2)));
    }
  const codes = (document.components.schemas.ErrorCode?.enum ?? []) as string[];
  t.same([...seen].sort(), codes, 'every code belongs to an operation');
  for (const code of codes) t.match(page, `<li id="error-${code}">`);
  for (const [reason, message] of Object.entries(conflictReasons))
    t.match(page, `<li><code>${reason}</code> ${message}</li>`);
});

t.test('describes each schema once, and each type of update in one list', async (t) => {
  const ids = idsOf(page);
  t.same(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
    'no id is repeated',
  );
  for (const name of Object.keys(document.components.schemas))
    t.ok(ids.includes(`schema-${name}`), name);
  const start = page.indexOf('<section class="schema" id="schema-UpdateEvent">');
  const list = page.slice(start, page.indexOf('</section>', start));
  const types = [...list.matchAll(/<summary><code>([^<]+)<\/code> <span class="type"><span/g)];
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
  t.ok(fields('case.claim').includes('case_id: UUID, version 4 required'));
  t.ok(
    fields('case.claim').includes('lease_seconds: integer, 300 to 86400 optionalDefault: 3600.'),
  );
  t.match(
    fields('credential.bootstrap'),
    ['Idempotency-Key: UUID, version 4 required', 'member_id: UUID, version 4 required'],
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

t.test('is well-formed, and every link within the page leads somewhere', async (t) => {
  t.equal(firstUnbalanced(page), undefined);
  const ids = new Set(idsOf(page));
  const links = [...page.matchAll(/ href="([^"]*)"/g)].map(([, link]) => link ?? '');
  t.ok(links.length > 1000);
  for (const link of links)
    if (link.startsWith('#')) {
      if (!ids.has(link.slice(1))) t.fail(link);
    } else t.match(link, /^(\/[\w./-]*|data:,)$/);
  t.notMatch(page, /<script|<style|\sstyle=|\son\w+="|undefined|\[object/);
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
  const html = referencePage(marked(golden()) as OpenApiDocument, `${ADDRESS}${hostile}`);
  t.notMatch(html, /<img/);
  t.equal(firstUnbalanced(html), undefined);
  const shown = html.split('&lt;img src=x onerror=').length;
  t.ok(shown > 500, `${shown} texts`);
});
