import { inline, type Markup, markup, type Part, paragraphs } from '../../../platform/markup.ts';
import type { Operation, ReferenceDocument } from './document-shape.ts';
import { errorCodesOf } from './errors.ts';
import { operationLink } from './operation.ts';

/**
 * How to call, and links to every operation, schema and error. Each link has the anchor that its
 * target had when the reference was one page, so that old links to `/docs#...` lead here.
 */
export function overview(
  document: ReferenceDocument,
  byTag: ReadonlyMap<string, readonly Operation[]>,
  schemaPages: ReadonlyMap<string, string>,
  baseUrl: string,
): Markup {
  const { title, version, description } = document.info;
  const tags = [...byTag].map(
    ([tag, operations]) => markup`<h3 id="tag-${tag}"><a href="/docs/${tag}">${tag}</a></h3>
<p>${document.tags.find(({ name }) => name === tag)?.description}.</p>
<ul class="operations">${operations.map(
      (operation) =>
        markup`<li id="operation-${operation.operationId}">${operationLink(operation, `/docs/${tag}`)} ${operation.summary}</li>\n`,
    )}</ul>\n`,
  );
  const schemas = [...schemaPages].sort(([one], [other]) => (one < other ? -1 : 1));
  return markup`<p>${title}, version ${version}. Also as <a href="/openapi.json">OpenAPI 3.1</a>,
<a href="/openapi-3.0.json">OpenAPI 3.0.3</a> and <a href="/for-agents">a guide for agents</a>.</p>
${paragraphs(description)}${howToCall(document, baseUrl)}
<section aria-labelledby="operations">
<h2 id="operations">Operations</h2>
${tags}</section>
<section aria-labelledby="schemas">
<h2 id="schemas"><a href="/docs/schemas">Schemas</a></h2>
${names(schemas.map(([name, page]) => [`schema-${name}`, page, name]))}</section>
<section aria-labelledby="errors">
<h2 id="errors"><a href="/docs/errors">Errors</a></h2>
${names(errorCodesOf(document).map((code) => [`error-${code}`, 'errors', code]))}</section>`;
}

function names(entries: readonly (readonly [anchor: string, page: string, name: string])[]): Part {
  return markup`<ul class="names">${entries.map(
    ([anchor, page, name]) =>
      markup`<li id="${anchor}"><a href="/docs/${page}#${anchor}">${name}</a></li>\n`,
  )}</ul>\n`;
}

function howToCall({ components }: ReferenceDocument, baseUrl: string): Markup {
  const { securitySchemes, headers } = components;
  return markup`<section aria-labelledby="calls">
<h2 id="calls">How to call</h2>
<p>This instance is at <code>${baseUrl}</code>. The example requests run in a POSIX shell with <code>curl</code>.
Replace <mark>marked values</mark> with your own: credentials, ids, and an <code>Idempotency-Key</code> that is
new for each write and the same for each retry. Request fields and query parameters that are not listed here are
refused, except where an operation ignores them.</p>
<p>There are four kinds of credentials:</p>
<ul class="fields">${Object.values(securitySchemes).map(
    ({ description, bearerFormat, name }) =>
      markup`<li>${
        bearerFormat
          ? markup`<code class="name">Authorization: Bearer ${bearerFormat}</code>`
          : markup`<code class="name">Cookie: ${name}=…</code>`
      } ${description}</li>\n`,
  )}</ul>
<p>Every response has these headers:</p>
<ul class="fields">${Object.entries(headers).map(
    ([name, { description = '' }]) =>
      markup`<li><code class="name">${name}</code> ${inline(description)}</li>\n`,
  )}</ul>
</section>`;
}
